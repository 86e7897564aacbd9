// Singular values by one-sided Jacobi rotations: pairs of columns are made orthogonal until a sweep changes nothing.
//
//   loss = nuclear norm + log-condition (largest over smallest), over-damped by |A|_F^2 / 10
//
// Source: Demmel, Veselic, SIAM J. Matrix Anal. Appl. 13 (1992).
#include "corpus.h"

static int sweep(double *a, int m, int n)
{
    int rotations = 0;
    for (int p = 0; p < n - 1; p++)
        for (int q = p + 1; q < n; q++) {
            double alpha = 0.0, beta = 0.0, gamma = 0.0;
            for (int i = 0; i < m; i++) {
                alpha += a[i * n + p] * a[i * n + p];
                beta += a[i * n + q] * a[i * n + q];
                gamma += a[i * n + p] * a[i * n + q];
            }
            if (fabs(gamma) <= 1e-15 * sqrt(alpha * beta))
                continue;
            double zeta = (beta - alpha) / (2.0 * gamma);
            double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
            double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
            for (int i = 0; i < m; i++) {
                double left = a[i * n + p], right = a[i * n + q];
                a[i * n + p] = c * left - s * right;
                a[i * n + q] = s * left + c * right;
            }
            rotations++;
        }
    return rotations;
}

static double singular_loss(const double *matrix, int m, int n)
{
    double *a = malloc(sizeof(double) * (size_t)(m * n));
    double nuclear = 0.0, squares = 0.0, largest = 0.0, smallest = HUGE_VAL;
    memcpy(a, matrix, sizeof(double) * (size_t)(m * n));
    for (int round = 0; round < 30; round++)
        if (sweep(a, m, n) == 0)
            break;
    for (int j = 0; j < n; j++) {
        double norm = 0.0;
        for (int i = 0; i < m; i++)
            norm += a[i * n + j] * a[i * n + j];
        squares += norm;
        norm = sqrt(norm);
        nuclear += norm;
        largest = norm > largest ? norm : largest;
        smallest = norm < smallest ? norm : smallest;
    }
    free(a);
    return nuclear + log(largest / smallest) + 0.1 * squares;
}

enum { M = CORPUS_SIZE(9, 4), N = CORPUS_SIZE(6, 3), SIZE = M * N };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(142);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return singular_loss(x, M, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)singular_loss, enzyme_dup, x, v, enzyme_const, M, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)singular_loss, enzyme_dup, x, g, enzyme_const, M, enzyme_const, N);
}

static const struct corpus_problem problem = {
    .name = "jacobi_svd",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .dot_tolerance = 1e-8, // rotations of nearly orthogonal columns amplify rounding
};

CORPUS_MAIN(&problem)
