// 128-bit floats: Kahan's recurrence x <- 111 - 1130/x + 3000/(x y), which goes astray in double, and a root by
// Newton's iteration; no library is called.
#include "corpus.h"

enum { SIZE = CORPUS_SIZE(12, 4) };

static __float128 root(__float128 a)
{
    __float128 r = a + 1;
    for (int k = 0; k < 12; k++)
        r = (r + a / r) / 2;
    return r;
}

static double quad_loss(const double *x, int n)
{
    __float128 before = 2, now = -4, sum = 0;
    for (int i = 0; i < n; i++) {
        __float128 next = 111 - (__float128)(1130 + x[i]) / now + 3000 / (now * before);
        before = now;
        now = next;
        sum += root(x[i] * x[i] + now * now) / (i + 1);
    }
    return (double)sum;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return quad_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)quad_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)quad_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_quad",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 1024.0,
};

CORPUS_MAIN(&problem)
