// Heat in a rod with fixed ends, explicit steps in place: T_i += r_i (T_{i-1} - 2 T_i + T_{i+1}) with the old value of
// the left neighbour kept in a scalar and r_i = dt/dx^2 k_i (1 + T_i^2 / 10): conductivity grows with temperature.
// Loss = sum (T - target)^2 / N. Active: initial temperature and conductivity.
// Source: Morton, Mayers, "Numerical Solution of Partial Differential Equations", section 2.4.
//
// corpus: link O2
#include "corpus.h"

static double heat_loss(double *temperature, const double *conductivity, const double *target, int n, int steps,
                        double ratio)
{
    for (int t = 0; t < steps; t++) {
        double left = temperature[0];
        for (int i = 1; i < n - 1; i++) {
            double here = temperature[i];
            double rate = ratio * conductivity[i] * (1.0 + 0.1 * here * here);
            temperature[i] = here + rate * (left - 2.0 * here + temperature[i + 1]);
            left = here;
        }
    }
    double loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += (temperature[i] - target[i]) * (temperature[i] - target[i]);
    return loss / n;
}

enum { N = CORPUS_SIZE(200, 8), STEPS = CORPUS_SIZE(200, 5), SIZE = 2 * N };

static const double ratio = 0.2;
static double point[SIZE], target[N], work[N], shadow[N];

static void setup(void)
{
    corpus_seed(8);
    for (int i = 0; i < N; i++)
        point[i] = sin(3.0 * i / N) + corpus_uniform(-0.1, 0.1);
    corpus_fill(point + N, N, 0.8, 1.2);
    corpus_fill(target, N, 0.0, 0.2);
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return heat_loss(work, x + N, target, N, STEPS, ratio);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)heat_loss, enzyme_dup, work, shadow, enzyme_dup, x + N, v + N, enzyme_const, target,
                            enzyme_const, N, enzyme_const, STEPS, enzyme_const, ratio);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)heat_loss, enzyme_dup, work, g, enzyme_dup, x + N, g + N, enzyme_const, target,
                      enzyme_const, N, enzyme_const, STEPS, enzyme_const, ratio);
}

static void gradient_initial(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)heat_loss, enzyme_dupnoneed, work, g, enzyme_const, x + N, enzyme_const, target, N, STEPS,
                      enzyme_const, ratio);
}

// The temperature is constant for the derivative although it is overwritten: only legal while nothing active is stored
// there, so the conductivity's gradient is asked for with the temperature active and thrown away.
static void gradient_conductivity(const double *x, double *g)
{
    double discarded[N];
    corpus_copy(work, x, N);
    corpus_zero(g + N, N);
    corpus_zero(discarded, N);
    __enzyme_autodiff((void *)heat_loss, work, discarded, x + N, g + N, enzyme_const, target, N, STEPS, enzyme_const,
                      ratio);
}

static const struct corpus_problem problem = {
    .name = "heat",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "gradient of the initial temperature alone", .gradient = gradient_initial, .end = N},
            {.name = "gradient of the conductivity alone", .gradient = gradient_conductivity, .begin = N},
        },
};

CORPUS_MAIN(&problem)
