// A fast Fourier transform in place, and a loss on the spectrum.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::log;
    int n = in.size;
    const double *weights = in.reals("weights");
    std::vector<T> re(x, x + n), im(x + n, x + 2 * n);
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            T kept = re[i];
            re[i] = re[j];
            re[j] = kept;
            kept = im[i];
            im[i] = im[j];
            im[j] = kept;
        }
    }
    for (int length = 2; length <= n; length <<= 1) {
        double angle = -2.0 * M_PI / length, step_re = std::cos(angle), step_im = std::sin(angle);
        for (int start = 0; start < n; start += length) {
            double w_re = 1.0, w_im = 0.0;
            for (int k = start; k < start + length / 2; k++) {
                int other = k + length / 2;
                T t_re = re[other] * w_re - im[other] * w_im;
                T t_im = re[other] * w_im + im[other] * w_re;
                re[other] = re[k] - t_re;
                im[other] = im[k] - t_im;
                re[k] += t_re;
                im[k] += t_im;
                double next_re = w_re * step_re - w_im * step_im;
                w_im = w_re * step_im + w_im * step_re;
                w_re = next_re;
            }
        }
    }
    T loss = 0.0;
    for (int k = 0; k < n; k++) {
        T square = re[k] * re[k] + im[k] * im[k];
        loss += weights[k] * log(1.0 + square); // ADOL-C has no log1p
    }
    return loss;
}
