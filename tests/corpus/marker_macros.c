// Derivatives by the macros of <enzyme/markers.h>: a gradient through shadows, tangents, adjoints that are returned alone and in a
// structure, with the result, in lanes, under a limit of memory, and in two calls whose tape serves twice.
//
// loss = a logistic regression, with its weights, offset and the strength of a penalty active.
// Source: Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", section 4.4.
#include "corpus.h"

#include "../../include/enzyme/markers.h"

enum { FEATURES = 5, SAMPLES = CORPUS_SIZE(40, 6), SIZE = FEATURES + 2 };

struct two {
    double offset, strength;
};
ENZYME_RETURNS(struct two, two)

static double samples[SAMPLES * FEATURES], labels[SAMPLES], point[SIZE];

static double loss(const double *weights, double offset, double strength, const double *data, const double *truth, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double margin = offset;
        for (int k = 0; k < FEATURES; k++)
            margin += weights[k] * data[i * FEATURES + k];
        sum += log1p(exp(-truth[i] * margin));
    }
    for (int k = 0; k < FEATURES; k++)
        sum += strength * weights[k] * weights[k];
    return sum;
}

static void into(const double *weights, const double *data, const double *truth, int n, double *result)
{
    *result = loss(weights, 0.3, 0.1, data, truth, n);
}

static double softplus(double x)
{
    return log1p(exp(x));
}

static void setup(void)
{
    corpus_seed(167);
    corpus_fill(samples, SAMPLES * FEATURES, -1.0, 1.0);
    for (int i = 0; i < SAMPLES; i++)
        labels[i] = samples[i * FEATURES] > 0.1 ? 1.0 : -1.0;
    corpus_fill(point, SIZE, 0.1, 0.9);
}

static double value(const double *x)
{
    return loss(x, x[FEATURES], x[FEATURES + 1], samples, labels, SAMPLES);
}

static double tangent(const double *x, const double *v)
{
    return ENZYME_TANGENT(double, loss, ENZYME_DUP(x, v), ENZYME_DUP(x[FEATURES], v[FEATURES]),
                          ENZYME_DUP(x[FEATURES + 1], v[FEATURES + 1]), ENZYME_CONST(samples), ENZYME_CONST(labels),
                          ENZYME_CONST(SAMPLES));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    struct two rest = ENZYME_ADJOINT(two, loss, ENZYME_STRONG_ZERO, ENZYME_DUP(x, g), ENZYME_OUT(x[FEATURES]),
                                     ENZYME_OUT(x[FEATURES + 1]), ENZYME_CONST(samples), ENZYME_CONST(labels),
                                     ENZYME_CONST(SAMPLES));
    g[FEATURES] = rest.offset;
    g[FEATURES + 1] = rest.strength;
}

static int extra(void)
{
    double g[SIZE], h[2][FEATURES], result = 0.0, seeds[2] = {1.0, -2.0}, wrong = 0.0;
    const double *x = point;
    double expected[FEATURES];
    corpus_zero(expected, FEATURES);
    double one = 1.0;
    ENZYME_GRADIENT(into, ENZYME_MAX_TAPE((size_t)1 << 20), ENZYME_DUP(x, expected), ENZYME_CONST(samples),
                    ENZYME_CONST(labels), ENZYME_CONST(SAMPLES), ENZYME_DUPNONEED(&result, &one));
    memset(h, 0, sizeof h);
    ENZYME_GRADIENT(into, ENZYME_WIDTH(2), ENZYME_DUPV(sizeof h[0], x, h), ENZYME_CONST(samples), ENZYME_CONST(labels),
                    ENZYME_CONST(SAMPLES), ENZYME_DUPV(sizeof(double), &result, seeds));
    for (int k = 0; k < FEATURES; k++)
        wrong = fmax(wrong, fabs(h[0][k] - expected[k]) + fabs(h[1][k] + 2.0 * expected[k]));
    int failed = corpus_check("lanes", "of a gradient", wrong, 1e-13);

    double seed = 1.0;
    void *tape = ENZYME_AUGMENTED(into, ENZYME_DUP(x, g), ENZYME_CONST(samples), ENZYME_CONST(labels), ENZYME_CONST(SAMPLES),
                                  ENZYME_DUP(&result, &seed));
    for (int sweep = 0; sweep < 2; sweep++) {
        corpus_zero(g, SIZE);
        seed = 1.0;
        if (sweep == 0)
            ENZYME_REVERSE(void, into, ENZYME_KEEP_TAPE, ENZYME_DUP(x, g), ENZYME_CONST(samples), ENZYME_CONST(labels),
                           ENZYME_CONST(SAMPLES), ENZYME_DUP(&result, &seed), tape);
        else
            ENZYME_REVERSE(void, into, ENZYME_DUP(x, g), ENZYME_CONST(samples), ENZYME_CONST(labels), ENZYME_CONST(SAMPLES),
                           ENZYME_DUP(&result, &seed), tape);
        for (int k = 0; k < FEATURES; k++)
            wrong = fmax(wrong, fabs(g[k] - expected[k]));
    }
    failed += corpus_check("two calls", "twice", wrong, 1e-13);

    // softplus' is the logistic function.
    double slope = ENZYME_ADJOINT(double, softplus, ENZYME_OUT(0.7));
    struct two both = ENZYME_ADJOINT(two, softplus, ENZYME_WITH_RESULT, ENZYME_OUT(0.7));
    wrong = fabs(slope - 1.0 / (1.0 + exp(-0.7))) + fabs(both.offset - softplus(0.7)) + fabs(both.strength - slope);
    return failed + corpus_check("softplus", "returned", wrong, 1e-15);
}

static const struct corpus_problem problem = {
    .name = "marker_macros",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
