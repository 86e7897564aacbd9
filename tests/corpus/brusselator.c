// The two-dimensional Brusselator with diffusion on a periodic N x N grid, explicit Euler in time,
//
//   u_t = a - (b + 1) u + u^2 w + d (lap u),  w_t = b u - u^2 w + d (lap w)
//
// the two fields go to and fro between two buffers whose pointers are exchanged at every step (ping-pong), so the
// buffer that holds the result depends on the parity of the number of steps. Loss = mean square distance to (a, b / a).
// Source: Hairer, Wanner, "Solving Ordinary Differential Equations II", section IV.10 (problem BRUSS-2D).
//
// corpus: link O2
#include "corpus.h"

static int wrap(int i, int n)
{
    return i < 0 ? n - 1 : i == n ? 0 : i;
}

static void brusselator_step(const double *restrict now, double *restrict next, const double *parameters, int n,
                             double step)
{
    double a = parameters[0], b = parameters[1], diffusion = parameters[2];
    const double *u = now, *w = now + n * n;
    for (int row = 0; row < n; row++) {
        int above = wrap(row - 1, n), below = wrap(row + 1, n);
        for (int column = 0; column < n; column++) {
            int left = wrap(column - 1, n), right = wrap(column + 1, n), here = row * n + column;
            double laplace_u =
                u[above * n + column] + u[below * n + column] + u[row * n + left] + u[row * n + right] - 4.0 * u[here];
            double laplace_w =
                w[above * n + column] + w[below * n + column] + w[row * n + left] + w[row * n + right] - 4.0 * w[here];
            double reaction = u[here] * u[here] * w[here];
            next[here] = u[here] + step * (a - (b + 1.0) * u[here] + reaction + diffusion * laplace_u);
            next[n * n + here] = w[here] + step * (b * u[here] - reaction + diffusion * laplace_w);
        }
    }
}

// `fields` holds u and w; `spare` is of the same size. Returns the loss; the final fields are in one of the two.
static double brusselator_loss(double *fields, double *spare, const double *parameters, int n, int steps, double step)
{
    double *now = fields, *next = spare;
    for (int t = 0; t < steps; t++) {
        brusselator_step(now, next, parameters, n, step);
        double *kept = now;
        now = next;
        next = kept;
    }
    double loss = 0.0;
    for (int i = 0; i < n * n; i++) {
        double du = now[i] - parameters[0], dw = now[n * n + i] - parameters[1] / parameters[0];
        loss += du * du + dw * dw;
    }
    return loss / (n * n);
}

enum { N = CORPUS_SIZE(24, 4), STEPS = CORPUS_SIZE(51, 3), FIELDS = 2 * N * N, SIZE = FIELDS + 3 };

static const double step = 0.02;
static double point[SIZE], work[FIELDS], spare[FIELDS], shadow[FIELDS], spare_shadow[FIELDS];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, N * N, 0.5, 1.5);
    corpus_fill(point + N * N, N * N, 2.5, 3.5);
    point[FIELDS] = 1.0;
    point[FIELDS + 1] = 3.0;
    point[FIELDS + 2] = 2.0;
}

static double value(const double *x)
{
    corpus_copy(work, x, FIELDS);
    return brusselator_loss(work, spare, x + FIELDS, N, STEPS, step);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, FIELDS);
    corpus_copy(shadow, v, FIELDS);
    corpus_zero(spare_shadow, FIELDS);
    return __enzyme_fwddiff((void *)brusselator_loss, enzyme_dup, work, shadow, enzyme_dup, spare, spare_shadow,
                            enzyme_dup, x + FIELDS, v + FIELDS, enzyme_const, N, enzyme_const, STEPS, enzyme_const,
                            step);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, FIELDS);
    corpus_zero(g, SIZE);
    corpus_zero(spare_shadow, FIELDS);
    __enzyme_autodiff((void *)brusselator_loss, enzyme_dup, work, g, enzyme_dup, spare, spare_shadow, enzyme_dup,
                      x + FIELDS, g + FIELDS, enzyme_const, N, enzyme_const, STEPS, enzyme_const, step);
}

static void gradient_no_need(const double *x, double *g)
{
    corpus_copy(work, x, FIELDS);
    corpus_zero(g, SIZE);
    corpus_zero(spare_shadow, FIELDS);
    __enzyme_autodiff((void *)brusselator_loss, enzyme_dupnoneed, work, g, enzyme_dupnoneed, spare, spare_shadow,
                      x + FIELDS, g + FIELDS, N, STEPS, enzyme_const, step);
}

static const struct corpus_problem problem = {
    .name = "brusselator",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient with enzyme_dupnoneed", .gradient = gradient_no_need}},
};

CORPUS_MAIN(&problem)
