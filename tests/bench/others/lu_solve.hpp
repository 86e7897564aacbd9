// Solves A x = b by elimination in place; loss = sum w_i x_i^2 / 2.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    int n = in.size;
    const double *weights = in.reals("weights");
    std::vector<T> a(x, x + n * n), b(x + n * n, x + n * n + n);
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            b[i] -= a[i * n + j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    T loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += 0.5 * weights[i] * b[i] * b[i];
    return loss;
}
