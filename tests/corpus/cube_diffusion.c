// Three-dimensional static arrays with constant bounds: diffusion and reaction in a cube, two grids used in turn
// through pointers to arrays. Loss = mean concentration of a corner + total squared gradient in x.
#include "corpus.h"

enum { N = CORPUS_SIZE(9, 4), STEPS = CORPUS_SIZE(12, 2), SIZE = N * N * N + 2 };

typedef double plane[N][N];

static double grid[2][N][N][N];

static void step(plane *to, const plane *from, double rate, double growth)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                double c = from[i][j][k], sum = 0.0;
                int neighbours = 0;
                if (i > 0)
                    sum += from[i - 1][j][k], neighbours++;
                if (i < N - 1)
                    sum += from[i + 1][j][k], neighbours++;
                if (j > 0)
                    sum += from[i][j - 1][k], neighbours++;
                if (j < N - 1)
                    sum += from[i][j + 1][k], neighbours++;
                if (k > 0)
                    sum += from[i][j][k - 1], neighbours++;
                if (k < N - 1)
                    sum += from[i][j][k + 1], neighbours++;
                to[i][j][k] = c + rate * (sum - neighbours * c) + growth * c * (1.0 - c);
            }
}

static double diffusion_loss(const double *x)
{
    plane *now = grid[0], *next = grid[1];
    memcpy(now, x, sizeof(grid[0]));
    for (int t = 0; t < STEPS; t++) {
        step(next, (const plane *)now, x[SIZE - 2], x[SIZE - 1]);
        plane *swap = now;
        now = next;
        next = swap;
    }
    double corner = 0.0, slope = 0.0;
    for (int i = 0; i < N / 2; i++)
        for (int j = 0; j < N / 2; j++)
            for (int k = 0; k <= j; k++)
                corner += now[i][j][k];
    for (int i = 1; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                slope += (now[i][j][k] - now[i - 1][j][k]) * (now[i][j][k] - now[i - 1][j][k]);
    return corner + slope;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(132);
    corpus_fill(point, SIZE - 2, 0.0, 1.0);
    point[SIZE - 2] = 0.12;
    point[SIZE - 1] = 0.2;
}

static double value(const double *x)
{
    return diffusion_loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)diffusion_loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)diffusion_loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "cube_diffusion",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
