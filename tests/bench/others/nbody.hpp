// The energy of n bodies: kinetic, and softened potential of all pairs.
template <class T> T mathematics(const T *x, const Inputs &in)
{
    using std::sqrt;
    int n = in.size;
    const T *velocities = x + 3 * n, *masses = x + 6 * n, &softening = x[7 * n];
    T kinetic = 0.0, potential = 0.0;
    for (int i = 0; i < n; i++) {
        T speed = 0.0;
        for (int k = 0; k < 3; k++)
            speed += velocities[3 * i + k] * velocities[3 * i + k];
        kinetic += 0.5 * masses[i] * speed;
        for (int j = i + 1; j < n; j++) {
            T distance = softening * softening;
            for (int k = 0; k < 3; k++) {
                T apart = x[3 * i + k] - x[3 * j + k];
                distance += apart * apart;
            }
            potential -= masses[i] * masses[j] / sqrt(distance);
        }
    }
    return kinetic + potential;
}
