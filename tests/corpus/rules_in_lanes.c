// Rules of the program's own in several lanes at once (enzyme_width): the reverse rule runs once in each lane on one tape, which is a
// structure by value in two registers. Softplus layers with two outputs, of which the loss weighs the second twice.
//
// out_k = sum_i w_ki softplus(x_i, y) + out_k-1^2 / 2.
#include "corpus.h"

enum { INPUTS = 7, SIZE = INPUTS + 1 };

extern int enzyme_width, enzyme_dup, enzyme_const, enzyme_out;
CORPUS_MARKER(double, __enzyme_fwddiff_soft)
struct lanes {
    double y0, y1;
};
extern struct lanes __enzyme_autodiff_lanes(void *function, ...);

__attribute__((noinline)) static double soft(double x, double y)
{
    return log(1.0 + exp(x)) * y;
}

struct kept {
    double sigmoid, log;
};

struct augmented {
    struct kept tape;
    double value;
};

static struct augmented soft_augmented(double x, double y)
{
    return (struct augmented){{1.0 / (1.0 + exp(-x)), log(1.0 + exp(x))}, soft(x, y)};
}

struct adjoints {
    double x, y;
};

static struct adjoints soft_reverse(double x, double y, double seed, struct kept tape)
{
    (void)x;
    return (struct adjoints){seed * tape.sigmoid * y, seed * tape.log};
}

static double soft_forward(double x, double dx, double y, double dy)
{
    return dx * y / (1.0 + exp(-x)) + dy * log(1.0 + exp(x));
}

void *__enzyme_register_gradient_soft[] = {(void *)soft, (void *)soft_augmented, (void *)soft_reverse};
void *__enzyme_register_derivative_soft[] = {(void *)soft, (void *)soft_forward};

static void layers(const double *x, double y, double *out)
{
    for (int k = 0; k < 2; k++) {
        double sum = k ? 0.5 * out[0] * out[0] : 0.0;
        for (int i = 0; i < INPUTS; i++)
            sum += (0.3 + 0.1 * ((i * 5 + k * 3) % 7)) * soft(x[i], y);
        out[k] = sum;
    }
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(157);
    corpus_fill(point, SIZE, -0.9, 1.2);
}

static double value(const double *x)
{
    double out[2];
    layers(x, x[INPUTS], out);
    return out[0] + 2.0 * out[1];
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff_soft((void *)value, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    double out[2], g0[SIZE] = {0.0}, g1[SIZE] = {0.0}, seed0[2] = {1.0, 0.0}, seed1[2] = {0.0, 1.0};
    struct lanes y = __enzyme_autodiff_lanes((void *)layers, enzyme_width, 2, enzyme_dup, x, g0, g1, enzyme_out, x[INPUTS],
                                             enzyme_dup, out, seed0, seed1);
    for (int i = 0; i < INPUTS; i++)
        g[i] = g0[i] + 2.0 * g1[i];
    g[INPUTS] = y.y0 + 2.0 * y.y1;
}

static const struct corpus_problem problem = {
    .name = "rules_in_lanes",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
