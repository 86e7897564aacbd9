// Newton's method for many scalar equations x^3 - a x - b + c sin x = 0: each loop ends where its own data says, by one
// of three exits: converged, slope too small, too many steps. Loss = sum of the roots' squares.
// The derivative through the last steps equals the implicit one, -F_p / F_x, since Newton's method converges quadratically.
// Source: Griewank, Walther, "Evaluating Derivatives", 2nd ed., section 15.1.
#include "corpus.h"

static double residual(double x, const double *p)
{
    return x * x * x - p[0] * x - p[1] + p[2] * sin(x);
}

static double slope(double x, const double *p)
{
    return 3.0 * x * x - p[0] + p[2] * cos(x);
}

static double newton(const double *p, double x, int *steps)
{
    for (*steps = 0; *steps < 60; ++*steps) {
        double incline = slope(x, p);
        if (fabs(incline) < 1e-8)
            return 0.0;
        double change = residual(x, p) / incline;
        x -= change;
        if (fabs(change) < 1e-13 * fabs(x))
            break;
    }
    return x;
}

static double newton_loss(const double *parameters, const double *guesses, int count, int *steps)
{
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        double root = newton(parameters + 3 * i, guesses[i], &steps[i]);
        loss += root * root;
    }
    return loss;
}

enum { COUNT = CORPUS_SIZE(60, 4), SIZE = 3 * COUNT };

static double point[SIZE], guesses[COUNT];
static int steps[COUNT];

static void setup(void)
{
    corpus_seed(15);
    for (int i = 0; i < COUNT; i++) {
        point[3 * i] = corpus_uniform(-2.0, 2.0);
        point[3 * i + 1] = corpus_uniform(3.0, 6.0);
        point[3 * i + 2] = corpus_uniform(-0.5, 0.5);
        guesses[i] = corpus_uniform(2.0, 12.0);
    }
    // One equation starts where the slope is exactly zero and leaves by that exit.
    point[0] = 12.0;
    point[2] = 0.0;
    guesses[0] = 2.0;
}

static double value(const double *x)
{
    return newton_loss(x, guesses, COUNT, steps);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)newton_loss, enzyme_dup, x, v, enzyme_const, guesses, enzyme_const, COUNT,
                            enzyme_const, steps);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)newton_loss, enzyme_dup, x, g, enzyme_const, guesses, enzyme_const, COUNT, enzyme_const,
                      steps);
}

static void gradient_implicit(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (int i = 1; i < COUNT; i++) {
        const double *p = x + 3 * i;
        double root = newton(p, guesses[i], &steps[i]), factor = 2.0 * root / slope(root, p);
        g[3 * i] = factor * root;
        g[3 * i + 1] = factor;
        g[3 * i + 2] = -factor * sin(root);
    }
}

// The integers that the primal writes are written once, with the primal's values.
static int extra(void)
{
    int expected[COUNT], wrong = 0;
    double g[SIZE];
    value(point);
    memcpy(expected, steps, sizeof(steps));
    memset(steps, 0xff, sizeof(steps));
    gradient(point, g);
    for (int i = 0; i < COUNT; i++)
        wrong += steps[i] != expected[i];
    return corpus_check("newton", "step counts after the gradient", wrong, 0.0) +
           corpus_check("newton", "gradient by the exit without slope is zero", fabs(g[0]) + fabs(g[1]) + fabs(g[2]), 0.0);
}

// Finite differences move the first equation off its exact start, so they look at the others only.
static double value_without_first(const double *x)
{
    return newton_loss(x + 3, guesses + 1, COUNT - 1, steps + 1);
}

static double tangent_without_first(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)newton_loss, x + 3, v + 3, enzyme_const, guesses + 1, COUNT - 1, enzyme_const,
                            steps + 1);
}

static const struct corpus_problem problem = {
    .name = "newton",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value_without_first,
    .tangent = tangent_without_first,
    .gradient = gradient,
    .variants =
        {
            {.name = "gradient against the implicit function theorem", .gradient = gradient_implicit},
            {.name = "tangent of all equations", .tangent = tangent},
        },
    .extra = extra,
};

CORPUS_MAIN(&problem)
