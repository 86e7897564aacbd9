// Interpolation in a table over an uneven grid: the interval by binary search, then a cubic Hermite polynomial whose slopes
// are central differences of the table. Active: the table's values and the places where it is asked.
// Loss = sum of squares. Places outside the grid are clamped to its ends.
// Source: de Boor, "A Practical Guide to Splines", chapter IV.
#include "corpus.h"

static int find_interval(const double *grid, int n, double x)
{
    int low = 0, high = n - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (grid[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double slope_at(const double *grid, const double *values, int n, int i)
{
    int before = i > 0 ? i - 1 : 0, after = i < n - 1 ? i + 1 : n - 1;
    return (values[after] - values[before]) / (grid[after] - grid[before]);
}

static double interpolate(const double *grid, const double *values, int n, double x)
{
    if (x <= grid[0])
        return values[0];
    if (x >= grid[n - 1])
        return values[n - 1];
    int i = find_interval(grid, n, x);
    double width = grid[i + 1] - grid[i], t = (x - grid[i]) / width, s = 1.0 - t;
    double rise = slope_at(grid, values, n, i) * width, next_rise = slope_at(grid, values, n, i + 1) * width;
    return s * s * ((1.0 + 2.0 * t) * values[i] + t * rise) + t * t * ((3.0 - 2.0 * t) * values[i + 1] - s * next_rise);
}

static double table_loss(const double *grid, const double *values, int n, const double *places, int count)
{
    double loss = 0.0;
    for (int k = 0; k < count; k++) {
        double here = interpolate(grid, values, n, places[k]);
        loss += here * here;
    }
    return loss;
}

enum { N = CORPUS_SIZE(64, 8), PLACES = CORPUS_SIZE(500, 10), SIZE = N + PLACES };

static double point[SIZE], grid[N];

static void setup(void)
{
    corpus_seed(19);
    grid[0] = 0.0;
    for (int i = 1; i < N; i++)
        grid[i] = grid[i - 1] + corpus_uniform(0.5, 1.5);
    for (int i = 0; i < N; i++)
        point[i] = cos(0.3 * grid[i]) + corpus_uniform(-0.1, 0.1);
    corpus_fill(point + N, PLACES, -2.0, grid[N - 1] + 2.0);
}

static double value(const double *x)
{
    return table_loss(grid, x, N, x + N, PLACES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)table_loss, enzyme_const, grid, enzyme_dup, x, v, enzyme_const, N, enzyme_dup, x + N,
                            v + N, enzyme_const, PLACES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)table_loss, enzyme_const, grid, enzyme_dup, x, g, enzyme_const, N, enzyme_dup, x + N,
                      g + N, enzyme_const, PLACES);
}

static void gradient_place_by_place(const double *x, double *g)
{
    corpus_zero(g, N);
    for (int k = 0; k < PLACES; k++) {
        double shadow[N], here = interpolate(grid, x, N, x[N + k]);
        corpus_zero(shadow, N);
        g[N + k] = 2.0 * here *
                   __enzyme_autodiff((void *)interpolate, enzyme_const, grid, enzyme_dup, x, shadow, enzyme_const, N,
                                     enzyme_out, x[N + k]);
        for (int i = 0; i < N; i++)
            g[i] += 2.0 * here * shadow[i];
    }
}

static const struct corpus_problem problem = {
    .name = "interp1d",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient place by place", .gradient = gradient_place_by_place}},
    .step = 0x1p-18,      // small enough that no place crosses a grid point, where the third derivative jumps
    .fd_tolerance = 1e-6, // the small step costs digits: eps / step
};

CORPUS_MAIN(&problem)
