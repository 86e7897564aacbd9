// Steady heat in a plate with a hole by red-black over-relaxation until the change is small; a mask of chars says which
// cells are fixed. Active: boundary temperatures and conductivity. Loss = squared deviation in a window.
// Source: Press et al., "Numerical Recipes", section 20.5 (algorithm only).
#include "corpus.h"

enum { W = CORPUS_SIZE(14, 6), H = CORPUS_SIZE(12, 5), SIZE = 2 * (W + H) + 1 };

static const char *cell_mask(int x, int y)
{
    static const char fixed = 'f', solid = 's', hole = 'h';
    if (x == 0 || y == 0 || x == W - 1 || y == H - 1)
        return &fixed;
    int dx = 2 * x - W, dy = 2 * y - H;
    return dx * dx + dy * dy < 6 ? &hole : &solid;
}

static double plate_loss(const double *boundary, double exchange, double omega, double tolerance)
{
    double t[H][W];
    int at = 0, sweeps = 0;
    double change;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            t[y][x] = *cell_mask(x, y) == 'f' ? boundary[at++] : 0.5;
    do {
        change = 0.0;
        for (int colour = 0; colour < 2; colour++)
            for (int y = 1; y < H - 1; y++)
                for (int x = 1 + (y + colour) % 2; x < W - 1; x += 2) {
                    double around = 0.25 * (t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1]), target = around;
                    if (*cell_mask(x, y) == 'h')
                        target = (around + exchange * 0.2) / (1.0 + exchange);
                    double step = omega * (target - t[y][x]);
                    t[y][x] += step;
                    if (fabs(step) > change)
                        change = fabs(step);
                }
    } while (change > tolerance && ++sweeps < 500);
    double loss = 0.0;
    for (int y = H / 4; y < 3 * H / 4; y++)
        for (int x = W / 4; x < 3 * W / 4; x++)
            loss += (t[y][x] - 0.4) * (t[y][x] - 0.4);
    return loss;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(146);
    corpus_fill(point, SIZE - 1, 0.0, 1.0);
    point[SIZE - 1] = 0.8;
}

static double loss(const double *x)
{
    return plate_loss(x, x[SIZE - 1], 1.4, 1e-13);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "gauss_seidel",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
