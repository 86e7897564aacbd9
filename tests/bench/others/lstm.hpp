// The diagonal long short-term memory of ADBench.
template <class T> T logistic(const T &x)
{
    using std::exp;
    return 1.0 / (1.0 + exp(-x));
}

template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::exp, std::log, std::tanh;
    int layers = in.integer("layers"), b = in.integer("b"), steps = in.size;
    const T *extra = x + 8 * b * layers;
    const double *sequence = in.reals("sequence"), *start = in.reals("start");
    std::vector<T> state(start, start + 2 * b * layers), output(b);
    T total = 0.0;
    for (int t = 0; t + 1 < steps; t++) {
        for (int j = 0; j < b; j++)
            output[j] = sequence[t * b + j] * extra[j];
        const T *input = output.data();
        for (int layer = 0; layer < layers; layer++) {
            const T *w = x + 8 * b * layer, *bias = w + 4 * b;
            T *hidden = state.data() + 2 * b * layer, *cell = hidden + b;
            for (int j = 0; j < b; j++) {
                T forget = logistic<T>(input[j] * w[j] + bias[j]);
                T ingate = logistic<T>(hidden[j] * w[b + j] + bias[b + j]);
                T outgate = logistic<T>(input[j] * w[2 * b + j] + bias[2 * b + j]);
                T change = tanh(hidden[j] * w[3 * b + j] + bias[3 * b + j]);
                cell[j] = cell[j] * forget + ingate * change;
                hidden[j] = outgate * tanh(cell[j]);
            }
            input = hidden;
        }
        T sum = 2.0;
        for (int j = 0; j < b; j++) {
            output[j] = input[j] * extra[b + j] + extra[2 * b + j];
            sum += exp(output[j]);
        }
        T log_sum = log(sum);
        for (int j = 0; j < b; j++)
            total += sequence[(t + 1) * b + j] * (output[j] - log_sum);
    }
    return -total / double((steps - 1) * b);
}
