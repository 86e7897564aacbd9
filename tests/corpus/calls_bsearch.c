// A table that the C library searches: an interval is found with bsearch, whose comparison looks at two neighbours, then a
// cubic Hermite polynomial is evaluated there. Places, values and arguments are active.
// Fritsch, Carlson, Monotone piecewise cubic interpolation, SIAM J. Numer. Anal. 17 (1980).
#include "corpus.h"

enum { KNOTS = CORPUS_SIZE(12, 6), QUERIES = CORPUS_SIZE(9, 4), N = 2 * KNOTS + QUERIES };

struct knot {
    double place, value, slope;
};

static int compare(const void *key, const void *element)
{
    double x = *(const double *)key;
    const struct knot *k = element;
    return x < k[0].place ? -1 : x >= k[1].place ? 1 : 0;
}

static double interpolate(const struct knot *knots, double x)
{
    const struct knot *k = bsearch(&x, knots, KNOTS - 1, sizeof *knots, compare);
    if (!k)
        return x < knots[0].place ? knots[0].value : knots[KNOTS - 1].value;
    double h = k[1].place - k[0].place, t = (x - k[0].place) / h;
    return k[0].value * (1.0 + 2.0 * t) * (1.0 - t) * (1.0 - t) + k[1].value * t * t * (3.0 - 2.0 * t) +
           h * t * (1.0 - t) * (k[0].slope * (1.0 - t) - k[1].slope * t);
}

static double fit(const double *x)
{
    struct knot knots[KNOTS];
    double sum = 0.0;
    for (int i = 0; i < KNOTS; i++)
        knots[i] = (struct knot){x[i], x[KNOTS + i], 0.0};
    for (int i = 1; i + 1 < KNOTS; i++)
        knots[i].slope = (knots[i + 1].value - knots[i - 1].value) / (knots[i + 1].place - knots[i - 1].place);
    for (int i = 0; i < QUERIES; i++) {
        double y = interpolate(knots, x[2 * KNOTS + i]);
        sum += (i + 1) * y * y;
    }
    return sum;
}

static double point[N], shadow[N];

static void setup(void)
{
    corpus_seed(304);
    for (int i = 0; i < KNOTS; i++)
        point[i] = i + corpus_uniform(-0.2, 0.2);
    corpus_fill(point + KNOTS, KNOTS, -1.0, 1.0);
    for (int i = 0; i < QUERIES; i++) // one before the first, one behind the last
        point[2 * KNOTS + i] = i == 0 ? -1.0 : i == 1 ? KNOTS + 1.0 : corpus_uniform(0.3, 0.7) + (5 * i) % (KNOTS - 1);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)fit, enzyme_dup, x, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)fit, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "calls_bsearch",
    .size = N,
    .point = point,
    .setup = setup,
    .value = fit,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
