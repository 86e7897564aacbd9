// Patterns of Jacobians in one run, from C: a banded system, a boundary that depends on all, products by columns that share no row.
// The Jacobian that three tangents give together with the pattern is that of a tangent for each column.
//
//   Broyden's tridiagonal function with a last equation that sums up the first ones; through memory, calls, a table in integers,
//   single precision, and a branch
//
// loss = sum of the squares of the residuals / 2.
// Source: More, Garbow, Hillstrom, "Testing Unconstrained Optimization Software", problem 30.
//
// corpus: link O2
#include "corpus.h"

#include "../../include/enzyme/sparsity.h"

enum { N = CORPUS_SIZE(40, 6), LANES = 4 };

extern void __enzyme_sparsity(void *function, ...);
extern int enzyme_width, enzyme_dupv;

__attribute__((noinline)) static double middle(double left, double here, double right)
{
    float rounded = (float)here;
    return (3.0 - 2.0 * here) * here - left - 2.0 * right + 1.0 + 0.0 * floor(left) + 0.0 * (double)rounded;
}

static void residuals(const double *x, double *y, int n)
{
    double *copy = malloc(sizeof(double) * (size_t)(n + 2)), border = 0.0;
    copy[0] = copy[n + 1] = 0.0;
    memcpy(copy + 1, x, sizeof(double) * (size_t)n);
    for (int i = 1; i <= n; i++)
        y[i - 1] = middle(copy[i - 1], copy[i], copy[i + 1]);
    for (int i = 0; i < n; i += 2)
        border += x[i] > 10.0 ? x[i + 1] : sin(x[i]);
    y[n - 1] += border;
    free(copy);
}

static double loss(const double *x, int n)
{
    double y[N], sum = 0.0;
    residuals(x, y, n);
    for (int i = 0; i < n; i++)
        sum += 0.5 * y[i] * y[i];
    return sum;
}

static void gradient_of_loss(const double *x, double *g, int n)
{
    __enzyme_autodiff_void((void *)loss, enzyme_dup, x, g, enzyme_const, n);
}

static double point[N];

static void setup(void)
{
    corpus_seed(139);
    corpus_fill(point, N, -1.0, 1.0);
}

static double value(const double *x)
{
    return loss(x, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    gradient_of_loss(x, g, N);
}

static int has(const struct enzyme_sparsity_pattern *pattern, size_t row, size_t column)
{
    for (size_t k = pattern->starts[row]; k < pattern->starts[row + 1]; k++)
        if (pattern->columns[k] == column)
            return 1;
    return 0;
}

static struct enzyme_sparsity_pattern pattern_of(void *function)
{
    static double names[N], results[N], y[N];
    enzyme_sparsity_begin(N);
    for (int i = 0; i < N; i++) {
        names[i] = i + 1;
        results[i] = 0.0;
    }
    if (function == (void *)residuals)
        __enzyme_sparsity((void *)residuals, enzyme_dup, point, names, enzyme_dup, y, results, enzyme_const, N);
    else
        __enzyme_sparsity((void *)gradient_of_loss, enzyme_dup, point, names, enzyme_dup, y, results, enzyme_const, N);
    struct enzyme_sparsity_pattern pattern = enzyme_sparsity_rows(results, N);
    enzyme_sparsity_end();
    return pattern;
}

static int extra(void)
{
    // Which entries there are: three in each row, and those of the border in the last one.
    struct enzyme_sparsity_pattern pattern = pattern_of((void *)residuals);
    int wrong = !pattern.starts || pattern.rows != N;
    for (int i = 0; i < N && !wrong; i++)
        for (int j = 0; j < N; j++) {
            int expected = abs(i - j) <= 1 || (i == N - 1 && j % 2 == 0);
            wrong |= has(&pattern, (size_t)i, (size_t)j) != expected;
        }
    int failed = corpus_check("pattern", "of the residuals", wrong, 0.0);

    // Columns that are four apart share no row but the last one, whose entries are found by one adjoint.
    static double seeds[LANES][N], products[LANES][N], y[N], last[N], seed[N], whole[N];
    memset(seeds, 0, sizeof seeds);
    memset(products, 0, sizeof products);
    for (int j = 0; j < N; j++)
        seeds[j % LANES][j] = 1.0;
    __enzyme_fwddiff_void((void *)residuals, enzyme_width, LANES, enzyme_dupv, sizeof seeds[0], point, seeds, enzyme_dupv,
                          sizeof products[0], y, products, enzyme_const, N);
    corpus_zero(last, N);
    corpus_zero(seed, N);
    seed[N - 1] = 1.0;
    __enzyme_autodiff_void((void *)residuals, enzyme_dup, point, last, enzyme_dup, y, seed, enzyme_const, N);
    double error = 0.0;
    for (int j = 0; j < N; j++) {
        static double one[N];
        corpus_zero(one, N);
        corpus_zero(whole, N);
        one[j] = 1.0;
        __enzyme_fwddiff_void((void *)residuals, enzyme_dup, point, one, enzyme_dup, y, whole, enzyme_const, N);
        for (int i = 0; i < N; i++) {
            double found = i == N - 1 ? last[j] : has(&pattern, (size_t)i, (size_t)j) ? products[j % LANES][i] : 0.0;
            error = fmax(error, fabs(found - whole[i]));
        }
    }
    // The same derivatives, summed up in another order in the last row.
    failed += corpus_check("products", "of columns together", error, 1e-14);
    free(pattern.starts);
    free(pattern.columns);

    // The Hessian of the sum of squares: columns that share a row, and all that the border has.
    pattern = pattern_of((void *)gradient_of_loss);
    wrong = !pattern.starts;
    for (int i = 0; i < N && !wrong; i++)
        for (int j = 0; j < N; j++) {
            int border_i = i % 2 == 0 || i >= N - 2, border_j = j % 2 == 0 || j >= N - 2;
            wrong |= has(&pattern, (size_t)i, (size_t)j) != (abs(i - j) <= 2 || (border_i && border_j));
        }
    failed += corpus_check("pattern", "of the Hessian", wrong, 0.0);
    free(pattern.starts);
    free(pattern.columns);
    return failed;
}

static const struct corpus_problem problem = {
    .name = "sparsity_patterns",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
