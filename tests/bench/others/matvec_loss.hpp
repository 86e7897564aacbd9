// |A x - b|^2 / 2 for a constant matrix.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    const double *matrix = in.reals("matrix"), *target = in.reals("target");
    T loss = 0.0;
    for (int i = 0; i < in.size; i++) {
        T residual = -target[i];
        for (int j = 0; j < in.size; j++)
            residual += matrix[i * in.size + j] * x[j];
        loss += 0.5 * residual * residual;
    }
    return loss;
}
