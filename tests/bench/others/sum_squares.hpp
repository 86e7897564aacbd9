// sum_i x_i^2
template <class T> T mathematics(const T *x, const Inputs &in)
{
    T sum = 0.0;
    for (int i = 0; i < in.size; i++)
        sum += x[i] * x[i];
    return sum;
}
