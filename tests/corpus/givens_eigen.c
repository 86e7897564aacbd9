// Eigenvalues of a symmetric tridiagonal matrix by the QR algorithm with Wilkinson shifts and Givens rotations; the
// number of sweeps depends on the data, and converged values are deflated. Loss = sum of sin of the eigenvalues
// (order-free).
// Source: Golub, Van Loan, "Matrix Computations", algorithm 8.3.2.
#include "corpus.h"

static void rotation(double a, double b, double *c, double *s)
{
    if (b == 0.0) {
        *c = 1.0;
        *s = 0.0;
    } else if (fabs(b) > fabs(a)) {
        double t = -a / b;
        *s = 1.0 / sqrt(1.0 + t * t);
        *c = *s * t;
    } else {
        double t = -b / a;
        *c = 1.0 / sqrt(1.0 + t * t);
        *s = *c * t;
    }
}

static void implicit_step(double *d, double *e, int low, int high)
{
    double delta = 0.5 * (d[high - 1] - d[high]), tail = e[high - 1];
    double shift = d[high] - tail * tail / (delta + copysign(sqrt(delta * delta + tail * tail), delta));
    double x = d[low] - shift, z = e[low];
    for (int k = low; k < high; k++) {
        double c, s;
        rotation(x, z, &c, &s);
        double a = d[k], b = d[k + 1], f = e[k];
        d[k] = c * c * a - 2.0 * c * s * f + s * s * b;
        d[k + 1] = s * s * a + 2.0 * c * s * f + c * c * b;
        e[k] = c * s * (a - b) + (c * c - s * s) * f;
        if (k > low)
            e[k - 1] = c * x - s * z;
        if (k + 1 < high) {
            x = e[k];
            z = -s * e[k + 1];
            e[k + 1] *= c;
        }
    }
}

static double eigenvalue_loss(const double *diagonal, const double *off, int n)
{
    double d[64], e[64], loss = 0.0;
    for (int i = 0; i < n; i++) {
        d[i] = diagonal[i];
        e[i] = i + 1 < n ? off[i] : 0.0;
    }
    int high = n - 1, budget = 30 * n;
    while (high > 0 && budget-- > 0) {
        if (fabs(e[high - 1]) <= 1e-15 * (fabs(d[high - 1]) + fabs(d[high]))) {
            high--;
            continue;
        }
        int low = high - 1;
        while (low > 0 && fabs(e[low - 1]) > 1e-15 * (fabs(d[low - 1]) + fabs(d[low])))
            low--;
        implicit_step(d, e, low, high);
    }
    for (int i = 0; i < n; i++)
        loss += sin(d[i]);
    return loss;
}

enum { N = CORPUS_SIZE(20, 4), SIZE = 2 * N - 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(141);
    corpus_fill(point, SIZE, 0.2, 1.5);
}

static double loss(const double *x)
{
    return eigenvalue_loss(x, x + N, N);
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
    .name = "givens_eigen",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
