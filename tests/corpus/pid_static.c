// A controller written for an embedded device: integral and last error are static locals, the plant's state is static
// at file scope, a lookup table is built at the first call. Active: the three gains and the plant's time constants.
// Loss = integral of the squared error of a step response with saturation.
// Source: Astrom, Hagglund, "PID Controllers", section 3.
#include "corpus.h"

static double plant_state[2];

static double set_point(int step)
{
    static double table[64];
    static int built;
    if (!built) {
        for (int i = 0; i < 64; i++)
            table[i] = i < 8 ? 0.0 : 1.0 + 0.2 * sin(0.2 * i);
        built = 1;
    }
    return table[step & 63];
}

static double controller(const double *gains, double error, double dt, int reset)
{
    static double integral, previous;
    static int calls;
    if (reset) {
        integral = previous = 0.0;
        calls = 0;
        return 0.0;
    }
    integral += error * dt;
    double rate = calls++ > 0 ? (error - previous) / dt : 0.0;
    previous = error;
    return gains[0] * error + gains[1] * integral + gains[2] * rate;
}

static double plant(const double *constants, double input, double dt)
{
    double *s = plant_state;
    if (input > 3.0)
        input = 3.0 + 0.1 * tanh(input - 3.0);
    s[0] += dt * (input - s[0]) / constants[0];
    s[1] += dt * (s[0] - s[1] * (1.0 + 0.1 * s[1] * s[1])) / constants[1];
    return s[1];
}

static double response_loss(const double *gains, const double *constants, int steps, double dt)
{
    double loss = 0.0, output = 0.0;
    plant_state[0] = plant_state[1] = 0.0;
    controller(gains, 0.0, dt, 1);
    for (int t = 0; t < steps; t++) {
        double error = set_point(t) - output;
        output = plant(constants, controller(gains, error, dt, 0), dt);
        loss += dt * error * error;
    }
    return loss;
}

enum { SIZE = 5, STEPS = CORPUS_SIZE(300, 20) };

static double point[SIZE] = {1.8, 1.1, 0.15, 0.4, 0.9};

static void setup(void)
{
}

static double value(const double *x)
{
    return response_loss(x, x + 3, STEPS, 0.05);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)response_loss, enzyme_dup, x, v, enzyme_dup, x + 3, v + 3, enzyme_const, STEPS,
                            enzyme_const, 0.05);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)response_loss, enzyme_dup, x, g, enzyme_dup, x + 3, g + 3, enzyme_const, STEPS,
                      enzyme_const, 0.05);
}

static const struct corpus_problem problem = {
    .name = "pid_static",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-10, // the input crosses 3 at the same steps
    .fd_tolerance = 1e-6, // likewise small
};

CORPUS_MAIN(&problem)
