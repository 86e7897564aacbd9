// The log-posterior of a Gaussian mixture (ADBench).
template <class T> T log_sum_exp(const T *values, int count)
{
    using std::exp, std::log;
    T largest = values[0], sum = 0.0;
    for (int i = 1; i < count; i++)
        if (values[i] > largest)
            largest = values[i];
    for (int i = 0; i < count; i++)
        sum += exp(values[i] - largest);
    return log(sum) + largest;
}

inline double log_wishart_constant(int d, double gamma, int m)
{
    int freedom = d + m + 1;
    double log_gamma = 0.25 * d * (d - 1) * std::log(M_PI);
    for (int j = 1; j <= d; j++)
        log_gamma += std::lgamma(0.5 * freedom + 0.5 * (1 - j));
    return freedom * d * (std::log(gamma) - 0.5 * std::log(2.0)) - log_gamma;
}

template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::exp;
    int d = in.integer("d"), k = in.integer("k"), m = in.integer("m"), n = in.size, stride = d * (d + 1) / 2;
    double gamma = in.real("gamma");
    const double *points = in.reals("points");
    const T *alphas = x, *means = x + k, *factors = means + k * d;
    std::vector<T> diagonals(k * d), sums(k), terms(k), centred(d), scaled(d);
    for (int component = 0; component < k; component++) {
        sums[component] = 0.0;
        for (int i = 0; i < d; i++) {
            sums[component] += factors[component * stride + i];
            diagonals[component * d + i] = exp(factors[component * stride + i]);
        }
    }
    T total = 0.0;
    for (int point = 0; point < n; point++) {
        for (int component = 0; component < k; component++) {
            const T *lower = factors + component * stride + d;
            for (int i = 0; i < d; i++)
                centred[i] = points[point * d + i] - means[component * d + i];
            for (int i = 0; i < d; i++)
                scaled[i] = diagonals[component * d + i] * centred[i];
            for (int column = 0; column < d; column++)
                for (int row = column + 1; row < d; row++)
                    scaled[row] += *lower++ * centred[column];
            T squares = 0.0;
            for (int i = 0; i < d; i++)
                squares += scaled[i] * scaled[i];
            terms[component] = alphas[component] + sums[component] - 0.5 * squares;
        }
        total += log_sum_exp(terms.data(), k);
    }
    T prior = 0.0;
    for (int component = 0; component < k; component++) {
        T frobenius = 0.0;
        for (int i = 0; i < d; i++)
            frobenius += diagonals[component * d + i] * diagonals[component * d + i];
        for (int i = d; i < stride; i++)
            frobenius += factors[component * stride + i] * factors[component * stride + i];
        prior += 0.5 * gamma * gamma * frobenius - double(m) * sums[component];
    }
    double constant = -n * d * 0.5 * std::log(2.0 * M_PI) - k * log_wishart_constant(d, gamma, m);
    return total - double(n) * log_sum_exp(alphas, k) + prior + constant;
}
