// A long short-term memory layer with full matrices.
template <class T> T logistic(const T &x)
{
    using std::exp;
    return 1.0 / (1.0 + exp(-x));
}

template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::tanh;
    int inputs = in.integer("inputs"), units = in.integer("units"), row = inputs + units + 1;
    const double *sequence = in.reals("sequence"), *targets = in.reals("targets");
    std::vector<T> hidden(units), cell(units), gates(4 * units);
    T loss = 0.0;
    for (int j = 0; j < units; j++)
        hidden[j] = cell[j] = 0.0;
    for (int t = 0; t < in.size; t++) {
        for (int g = 0; g < 4 * units; g++) {
            const T *w = x + g * row;
            T sum = w[inputs + units];
            for (int j = 0; j < inputs; j++)
                sum += w[j] * sequence[t * inputs + j];
            for (int j = 0; j < units; j++)
                sum += w[inputs + j] * hidden[j];
            gates[g] = sum;
        }
        for (int j = 0; j < units; j++) {
            T ingate = logistic<T>(gates[j]), forget = logistic<T>(gates[units + j]);
            T outgate = logistic<T>(gates[2 * units + j]), change = tanh(gates[3 * units + j]);
            cell[j] = forget * cell[j] + ingate * change;
            hidden[j] = outgate * tanh(cell[j]);
            T error = hidden[j] - targets[t * units + j];
            loss += 0.5 * error * error;
        }
    }
    return loss;
}
