// A dense network with tanh layers, mean cross-entropy over a batch, and weight decay.
// The first layer's input is constant: no variable is made of it.
template <class T, class Input> void dense(const T *layer, const Input *input, T *output, int inputs, int outputs, bool last)
{
    using std::tanh;
    for (int i = 0; i < outputs; i++) {
        T sum = layer[outputs * inputs + i];
        for (int j = 0; j < inputs; j++)
            sum += layer[i * inputs + j] * input[j];
        if (last)
            output[i] = sum;
        else
            output[i] = tanh(sum);
    }
}

template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::exp, std::log;
    const int *widths = in.integers("widths"), *labels = in.integers("labels"), layers = in.integer("layers");
    const double *samples = in.reals("samples");
    int classes = widths[layers], parameters = 0;
    std::vector<std::vector<T>> activations;
    for (int l = 0; l < layers; l++) {
        activations.emplace_back(widths[l + 1]);
        parameters += widths[l + 1] * (widths[l] + 1);
    }
    T loss = 0.0, squares = 0.0;
    for (int sample = 0; sample < in.size; sample++) {
        const T *layer = x;
        for (int l = 0; l < layers; l++) {
            T *output = activations[l].data();
            if (l == 0)
                dense(layer, samples + sample * widths[0], output, widths[0], widths[1], layers == 1);
            else
                dense(layer, activations[l - 1].data(), output, widths[l], widths[l + 1], l == layers - 1);
            layer += widths[l + 1] * (widths[l] + 1);
        }
        const T *logits = activations[layers - 1].data();
        T largest = logits[0], sum = 0.0;
        for (int i = 1; i < classes; i++)
            if (logits[i] > largest)
                largest = logits[i];
        for (int i = 0; i < classes; i++)
            sum += exp(logits[i] - largest);
        loss += largest + log(sum) - logits[labels[sample]];
    }
    for (int i = 0; i < parameters; i++)
        squares += x[i] * x[i];
    return loss / double(in.size) + 0.5 * in.real("decay") * squares;
}
