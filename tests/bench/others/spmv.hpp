// |A x - b|^2 / 2 for a sparse matrix in compressed rows; its entries are active, too.
template <class T> T mathematics(const T *entries, const Inputs &in)
{
    const int *starts = in.integers("starts"), *columns = in.integers("columns");
    const double *target = in.reals("target");
    const T *x = entries + starts[in.size];
    T loss = 0.0;
    for (int i = 0; i < in.size; i++) {
        T residual = -target[i];
        for (int k = starts[i]; k < starts[i + 1]; k++)
            residual += entries[k] * x[columns[k]];
        loss += 0.5 * residual * residual;
    }
    return loss;
}
