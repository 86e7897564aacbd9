// Sweeps of a five-point stencil over a grid with a halo, between two arrays.
template <class T> void sweep(T *now, T *next, const double *coefficient, int n)
{
    int row = n + 2;
    for (int j = 1; j <= n; j++) {
        now[j] = now[n * row + j];
        now[(n + 1) * row + j] = now[row + j];
    }
    for (int i = 1; i <= n; i++) {
        now[i * row] = now[i * row + n];
        now[i * row + n + 1] = now[i * row + 1];
    }
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int k = i * row + j;
            next[k] = now[k] + coefficient[k] * (now[k - row] + now[k + row] + now[k - 1] + now[k + 1] - 4.0 * now[k]);
        }
}

template <class T> T mathematics(const T *x, const Inputs &in)
{
    int n = in.size, row = n + 2, sweeps = in.integer("sweeps");
    const double *coefficient = in.reals("coefficient");
    std::vector<T> now(x, x + row * row), next(row * row);
    for (int t = 0; t < sweeps; t += 2) {
        sweep(now.data(), next.data(), coefficient, n);
        sweep(next.data(), now.data(), coefficient, n);
    }
    T loss = 0.0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            loss += 0.5 * now[i * row + j] * now[i * row + j];
    return loss;
}
