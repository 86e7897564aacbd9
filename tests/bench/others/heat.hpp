// Heat in a rod, explicit steps in place.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    int n = in.size, steps = in.integer("steps");
    double ratio = in.real("ratio");
    const double *target = in.reals("target");
    const T *conductivity = x + n;
    std::vector<T> temperature(x, x + n);
    for (int t = 0; t < steps; t++) {
        T left = temperature[0];
        for (int i = 1; i < n - 1; i++) {
            T here = temperature[i];
            T rate = ratio * conductivity[i] * (1.0 + 0.1 * here * here);
            temperature[i] = here + rate * (left - 2.0 * here + temperature[i + 1]);
            left = here;
        }
    }
    T loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += (temperature[i] - target[i]) * (temperature[i] - target[i]);
    return loss / double(n);
}
