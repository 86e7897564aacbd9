// Bundle adjustment (ADBench): the sum of squares of all residuals.
template <class T> void cross(const T *a, const T *b, T *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

template <class T> void rotate(const T *rotation, const T *v, T *out)
{
    using std::cos, std::sin, std::sqrt;
    T squared = rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2], turned[3];
    if (squared == 0.0) {
        cross(rotation, v, turned);
        for (int i = 0; i < 3; i++)
            out[i] = v[i] + turned[i];
        return;
    }
    T angle = sqrt(squared), sine = sin(angle), cosine = cos(angle), axis[3], along = 0.0;
    for (int i = 0; i < 3; i++)
        axis[i] = rotation[i] / angle;
    cross(axis, v, turned);
    for (int i = 0; i < 3; i++)
        along += axis[i] * v[i];
    along *= 1.0 - cosine;
    for (int i = 0; i < 3; i++)
        out[i] = v[i] * cosine + turned[i] * sine + axis[i] * along;
}

template <class T> T mathematics(const T *x, const Inputs &in)
{
    enum { CAMERA = 11, ROTATION = 0, CENTRE = 3, FOCAL = 6, PRINCIPAL = 7, RADIAL = 9 };
    const int *observed = in.integers("observed");
    const double *measured = in.reals("measured");
    const T *positions = x + CAMERA * in.integer("cameras"), *weights = positions + 3 * in.integer("positions");
    T loss = 0.0, relative[3], seen[3], image[2];
    for (int i = 0; i < in.size; i++) {
        const T *camera = x + CAMERA * observed[2 * i], *position = positions + 3 * observed[2 * i + 1];
        for (int k = 0; k < 3; k++)
            relative[k] = position[k] - camera[CENTRE + k];
        rotate(camera + ROTATION, relative, seen);
        image[0] = seen[0] / seen[2];
        image[1] = seen[1] / seen[2];
        T squared = image[0] * image[0] + image[1] * image[1];
        T stretch = 1.0 + camera[RADIAL] * squared + camera[RADIAL + 1] * squared * squared;
        for (int k = 0; k < 2; k++) {
            image[k] *= stretch;
            image[k] = image[k] * camera[FOCAL] + camera[PRINCIPAL + k];
            image[k] = weights[i] * (image[k] - measured[2 * i + k]);
        }
        T excess = 1.0 - weights[i] * weights[i];
        loss += image[0] * image[0] + image[1] * image[1] + excess * excess;
    }
    return loss;
}
