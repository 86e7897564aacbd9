// Classical Runge-Kutta steps of the Lorenz-96 system.
template <class T> void rate(const T *x, const T *force, T *slope, int n)
{
    for (int i = 0; i < n; i++) {
        const T &next = x[i == n - 1 ? 0 : i + 1], &before = x[i == 0 ? n - 1 : i - 1], &last = x[i < 2 ? n + i - 2 : i - 2];
        slope[i] = (next - last) * before - x[i] + force[i];
    }
}

template <class T> T mathematics(const T *x, const Inputs &in)
{
    int n = in.size, steps = in.integer("steps");
    double step = in.real("step");
    const double *target = in.reals("target");
    const T *force = x + n;
    std::vector<T> state(x, x + n), stage(n), k1(n), k2(n), k3(n), k4(n);
    for (int t = 0; t < steps; t++) {
        rate(state.data(), force, k1.data(), n);
        for (int i = 0; i < n; i++)
            stage[i] = state[i] + 0.5 * step * k1[i];
        rate(stage.data(), force, k2.data(), n);
        for (int i = 0; i < n; i++)
            stage[i] = state[i] + 0.5 * step * k2[i];
        rate(stage.data(), force, k3.data(), n);
        for (int i = 0; i < n; i++)
            stage[i] = state[i] + step * k3[i];
        rate(stage.data(), force, k4.data(), n);
        for (int i = 0; i < n; i++)
            state[i] += step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
    T loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += 0.5 * (state[i] - target[i]) * (state[i] - target[i]);
    return loss;
}
