// The Jacobian of a robot arm's hand position and of a nonlinear system, several columns at a time: tangents in lanes, given one by one
// or at a distance in memory, returned beside the value; over recursion, allocation and a table that is written on the way.
// A batch of the same function for several configurations at once.
#include "corpus.h"

enum { N = 6, WIDTH = 6 };

struct lanes {
    double d[WIDTH];
};
struct value_and_lanes {
    double value, d[WIDTH];
};
CORPUS_MARKER(struct lanes, __enzyme_fwddiff_lanes)
CORPUS_MARKER(struct value_and_lanes, __enzyme_fwddiff_value_and_lanes)
CORPUS_MARKER(struct lanes, __enzyme_batch)
CORPUS_MARKER_VOID(__enzyme_batch_void)
extern int enzyme_width, enzyme_dupv, enzyme_vector, enzyme_scalar, enzyme_buffer;

static double point[N], table[3];
static double unit[WIDTH][N];

static double reach(const double *angles, int n)
{
    return n == 0 ? 1.0 : sin(angles[n - 1]) * reach(angles, n - 1) + angles[n - 1];
}

static double hand(const double *angles, int n)
{
    double *partial = malloc(n * sizeof *partial), at = 0.0, sum = 0.0;
    for (int i = 0; i < 3; i++)
        table[i] = 0.5 * i;
    for (int i = 0; i < n; i++) {
        at += angles[i];
        partial[i] = cos(at) * (1.0 + 0.1 * i);
        table[i % 3] += partial[i] * angles[i];
    }
    for (int i = 0; i < n; i++)
        sum += partial[i] * table[i % 3];
    free(partial);
    return sum + reach(angles, n);
}

static double of_two(double a, double b)
{
    return a * sin(b);
}

static void couple(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] * x[(i + 1) % n] + 0.2 * x[i];
}

static void setup(void)
{
    corpus_seed(64);
    corpus_fill(point, N, 0.1, 1.2);
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < N; j++)
            unit[i][j] = i == j;
}

static double value(const double *x)
{
    return hand(x, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)hand, enzyme_dup, x, v, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff_void((void *)hand, enzyme_dup, x, g, enzyme_const, N);
}

static void one_by_one(const double *x, double *g)
{
    struct lanes all = __enzyme_fwddiff_lanes((void *)hand, enzyme_width, WIDTH, enzyme_dup, x, unit[0], unit[1], unit[2],
                                              unit[3], unit[4], unit[5], enzyme_const, N);
    corpus_copy(g, all.d, N);
}

static void at_a_distance(const double *x, double *g)
{
    struct value_and_lanes all = __enzyme_fwddiff_value_and_lanes(
        (void *)hand, enzyme_width, WIDTH, enzyme_primal_return, enzyme_dupv, sizeof unit[0], x, unit, enzyme_const, N);
    corpus_copy(g, all.d, N);
    if (fabs(all.value - value(x)) > 1e-14 * fabs(all.value))
        g[0] = NAN;
}

static int extra(void)
{
    // Scalars: two lanes of each argument.
    struct lanes two = __enzyme_fwddiff_lanes((void *)of_two, enzyme_width, 2, enzyme_dup, 2.0, 1.0, 0.0, enzyme_dup, 0.5,
                                              0.0, 1.0);
    int failed = corpus_check("lanes", "scalars", fabs(two.d[0] - sin(0.5)) + fabs(two.d[1] - 2.0 * cos(0.5)), 1e-14);
    // In place: a lane is a column of the Jacobian afterwards.
    double x[N], columns[WIDTH][N], alone[N], y[N], worst = 0.0;
    corpus_copy(x, point, N);
    memcpy(columns, unit, sizeof columns);
    __enzyme_fwddiff_void((void *)couple, enzyme_width, WIDTH, enzyme_dupv, sizeof columns[0], x, columns, enzyme_const, N);
    for (int k = 0; k < WIDTH; k++) {
        corpus_copy(y, point, N);
        corpus_copy(alone, unit[k], N);
        __enzyme_fwddiff_void((void *)couple, enzyme_dup, y, alone, enzyme_const, N);
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(alone[i] - columns[k][i]) + fabs(x[i] - y[i]));
    }
    failed += corpus_check("lanes", "in place", worst, 1e-15);
    // Batches.
    struct lanes hands = __enzyme_batch((void *)of_two, enzyme_width, WIDTH, enzyme_vector, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0,
                                        enzyme_scalar, 0.5);
    memcpy(columns, unit, sizeof columns);
    __enzyme_batch_void((void *)couple, enzyme_width, 2, enzyme_buffer, sizeof columns[0], columns, enzyme_scalar, N);
    worst = 0.0;
    for (int k = 0; k < WIDTH; k++)
        worst = fmax(worst, fabs(hands.d[k] - of_two(1.0 + k, 0.5)));
    for (int k = 0; k < 2; k++) {
        corpus_copy(y, unit[k], N);
        couple(y, N);
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(columns[k][i] - y[i]));
    }
    return failed + corpus_check("lanes", "batches", worst, 1e-15);
}

static const struct corpus_problem problem = {
    .name = "tangents_side_by_side",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "tangents one by one", .gradient = one_by_one},
                 {.name = "tangents at a distance", .gradient = at_a_distance}},
    .extra = extra,
};

CORPUS_MAIN(&problem)
