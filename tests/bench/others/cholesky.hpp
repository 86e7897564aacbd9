// Cholesky factors in place, and the log-likelihood of a Gaussian.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::log, std::sqrt;
    int n = in.size;
    const T *b = x + n * n;
    std::vector<T> a(x, x + n * n), half(n);
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            a[j * n + j] -= a[j * n + k] * a[j * n + k];
        a[j * n + j] = sqrt(a[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            T sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / a[j * n + j];
        }
    }
    T total = 0.0;
    for (int i = 0; i < n; i++) {
        half[i] = b[i];
        for (int j = 0; j < i; j++)
            half[i] -= a[i * n + j] * half[j];
        half[i] /= a[i * n + i];
        total += 2.0 * log(a[i * n + i]) + half[i] * half[i];
    }
    return total;
}
