// Three recursions:
//
//   fibonacci  F(n) = x F(n-1) + y F(n-2), F(1) = x, F(0) = y, by the doubly recursive definition
//   halving    a tree over an array, in place: a node scales its two halves by what its own sum says, then visits them
//   ackermann  mutual recursion with a static counter in the caller's memory and a data-dependent depth
#include "corpus.h"

static double fibonacci(int n, double x, double y)
{
    if (n == 0)
        return y;
    if (n == 1)
        return x;
    return x * fibonacci(n - 1, x, y) + y * fibonacci(n - 2, x, y);
}

static double halve(double *values, int count, int *visits)
{
    ++*visits;
    if (count == 0)
        return 0.0;
    if (count == 1) {
        values[0] = values[0] * values[0];
        return values[0];
    }
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    int half = count / 2;
    for (int i = 0; i < half; i++)
        values[i] *= 1.0 + 0.1 * sum;
    double left = halve(values, half, visits);
    for (int i = half; i < count; i++)
        values[i] -= 0.05 * left;
    double right = halve(values + half, count - half, visits);
    return left + sin(right);
}

static double odd_step(double x, double scale, double *trace);

static double even_step(double x, double scale, double *trace)
{
    trace[0] += x * x;
    return x > 50.0 ? x : odd_step(scale * x + 1.0, scale, trace);
}

static double odd_step(double x, double scale, double *trace)
{
    trace[1] += x;
    return x > 50.0 ? 2.0 * x : even_step(x * x / (1.0 + 0.3 * x), scale, trace);
}

static double recursion_loss(double *values, int count, double x, double y, int depth, int *visits)
{
    double trace[2] = {0.0, 0.0};
    double loss = fibonacci(depth, x, y);
    loss += halve(values, count, visits);
    loss += even_step(1.0 + x, 1.2 + y, trace);
    return loss + 1e-3 * trace[0] * trace[1];
}

enum { COUNT = CORPUS_SIZE(45, 6), DEPTH = CORPUS_SIZE(14, 5), SIZE = COUNT + 2 };

struct pair {
    double x, y;
};

CORPUS_MARKER(struct pair, __enzyme_autodiff_pair)

static double point[SIZE], work[COUNT], shadow[COUNT];
static int visits;

static void setup(void)
{
    corpus_seed(25);
    corpus_fill(point, COUNT, -0.5, 0.5);
    point[COUNT] = 0.9;
    point[COUNT + 1] = 0.4;
}

static double value(const double *x)
{
    corpus_copy(work, x, COUNT);
    return recursion_loss(work, COUNT, x[COUNT], x[COUNT + 1], DEPTH, &visits);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, COUNT);
    corpus_copy(shadow, v, COUNT);
    return __enzyme_fwddiff((void *)recursion_loss, enzyme_dup, work, shadow, enzyme_const, COUNT, enzyme_dup, x[COUNT],
                            v[COUNT], enzyme_dup, x[COUNT + 1], v[COUNT + 1], enzyme_const, DEPTH, enzyme_const,
                            &visits);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, COUNT);
    corpus_zero(g, SIZE);
    struct pair adjoints =
        __enzyme_autodiff_pair((void *)recursion_loss, enzyme_dup, work, g, enzyme_const, COUNT, enzyme_out, x[COUNT],
                               enzyme_out, x[COUNT + 1], enzyme_const, DEPTH, enzyme_const, &visits);
    g[COUNT] = adjoints.x;
    g[COUNT + 1] = adjoints.y;
}

// A recursive function as the one asked for.
static int extra(void)
{
    double x = 0.9, y = 0.4, step = 0x1p-17;
    struct pair adjoints = __enzyme_autodiff_pair((void *)fibonacci, enzyme_const, 12, enzyme_out, x, enzyme_out, y);
    double in_x = (fibonacci(12, x + step, y) - fibonacci(12, x - step, y)) / (2.0 * step);
    double in_y = (fibonacci(12, x, y + step) - fibonacci(12, x, y - step)) / (2.0 * step);
    int before, after;
    double g[SIZE];
    visits = 0;
    value(point);
    before = visits;
    visits = 0;
    gradient(point, g);
    after = visits;
    // Plain central differences: h^2 = 6e-11 and eps / h = 3e-11, with a margin for the third derivative.
    return corpus_check("recursion", "fibonacci in x", corpus_relative(adjoints.x, in_x, 0.0), 1e-7) +
           corpus_check("recursion", "fibonacci in y", corpus_relative(adjoints.y, in_y, 0.0), 1e-7) +
           corpus_check("recursion", "each node is visited once by the gradient", abs(after - before), 0.0);
}

static const struct corpus_problem problem = {
    .name = "recursion",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
    .step = 1.0 / 4096.0, // small enough that the mutual recursion ends at the same depth
};

CORPUS_MAIN(&problem)
