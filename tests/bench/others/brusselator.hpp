// The Brusselator on a periodic grid, explicit steps in place.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    int n = in.size, cells = n * n, steps = in.integer("steps");
    double step = in.real("step");
    const T &a = x[2 * cells], &b = x[2 * cells + 1], &d = x[2 * cells + 2];
    std::vector<T> fields(x, x + 2 * cells), rates(2 * cells);
    const T *u = fields.data(), *w = u + cells;
    T *du = rates.data(), *dw = du + cells;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int above = (i == 0 ? n - 1 : i - 1) * n + j, below = (i == n - 1 ? 0 : i + 1) * n + j;
                int k = i * n + j, left = i * n + (j == 0 ? n - 1 : j - 1), right = i * n + (j == n - 1 ? 0 : j + 1);
                T laplace_u = u[above] + u[below] + u[left] + u[right] - 4.0 * u[k];
                T laplace_w = w[above] + w[below] + w[left] + w[right] - 4.0 * w[k];
                T reaction = u[k] * u[k] * w[k];
                du[k] = a - (b + 1.0) * u[k] + reaction + d * laplace_u;
                dw[k] = b * u[k] - reaction + d * laplace_w;
            }
        for (int i = 0; i < 2 * cells; i++)
            fields[i] += step * rates[i];
    }
    T loss = 0.0;
    for (int i = 0; i < cells; i++)
        loss += (u[i] - a) * (u[i] - a) + (w[i] - b / a) * (w[i] - b / a);
    return loss / double(cells);
}
