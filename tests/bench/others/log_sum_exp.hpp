// log sum_i exp(x_i), shifted by the largest value.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::exp, std::log;
    T largest = x[0], sum = 0.0;
    for (int i = 1; i < in.size; i++)
        if (x[i] > largest)
            largest = x[i];
    for (int i = 0; i < in.size; i++)
        sum += exp(x[i] - largest);
    return largest + log(sum);
}
