// A library that hands buffers to its caller: through a double ** parameter, as a return value, and inside a returned
// struct; the caller frees them. Least squares by normal equations: polynomial of degree D through noisy points.
//
//   c = (V^T V + r I)^{-1} V^T y by Cholesky,  loss = |V c - y|^2 + |c|^2 / 100. Active: abscissae and ordinates.
#include "corpus.h"

struct fit {
    int degree;
    double *coefficients;
    double residual;
};

static int vandermonde(const double *t, int count, int columns, double **out)
{
    double *v = malloc(sizeof(double) * (size_t)(count * columns));
    if (!v)
        return -1;
    for (int i = 0; i < count; i++) {
        double power = 1.0;
        for (int j = 0; j < columns; j++, power *= t[i])
            v[i * columns + j] = power;
    }
    *out = v;
    return 0;
}

static double *cholesky(const double *a, int n)
{
    double *l = calloc((size_t)(n * n), sizeof(double));
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    return l;
}

static struct fit polynomial_fit(const double *t, const double *y, int count, int degree, double ridge)
{
    struct fit fit = {degree, NULL, 0.0};
    int n = degree + 1;
    double *v = NULL;
    if (vandermonde(t, count, n, &v) != 0)
        return fit;
    double *normal = calloc((size_t)(n * n), sizeof(double)), *c = calloc((size_t)n, sizeof(double));
    for (int i = 0; i < count; i++)
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++)
                normal[j * n + k] += v[i * n + j] * v[i * n + k];
            c[j] += v[i * n + j] * y[i];
        }
    for (int j = 0; j < n; j++)
        normal[j * n + j] += ridge;
    double *l = cholesky(normal, n);
    free(normal);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            c[i] -= l[i * n + k] * c[k];
        c[i] /= l[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            c[i] -= l[k * n + i] * c[k];
        c[i] /= l[i * n + i];
    }
    free(l);
    for (int i = 0; i < count; i++) {
        double error = -y[i];
        for (int j = 0; j < n; j++)
            error += v[i * n + j] * c[j];
        fit.residual += error * error;
    }
    free(v);
    fit.coefficients = c;
    return fit;
}

static double fit_loss(const double *t, const double *y, int count, int degree)
{
    struct fit fit = polynomial_fit(t, y, count, degree, 0.1);
    double loss = fit.residual;
    for (int j = 0; j <= fit.degree; j++)
        loss += 0.01 * fit.coefficients[j] * fit.coefficients[j];
    free(fit.coefficients);
    return loss;
}

enum { COUNT = CORPUS_SIZE(40, 5), DEGREE = CORPUS_SIZE(4, 2), SIZE = 2 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(109);
    for (int i = 0; i < COUNT; i++) {
        point[i] = -1.0 + 2.0 * i / (COUNT - 1) + corpus_uniform(-0.02, 0.02);
        point[COUNT + i] = sin(2.5 * point[i]) + corpus_uniform(-0.1, 0.1);
    }
}

static double value(const double *x)
{
    return fit_loss(x, x + COUNT, COUNT, DEGREE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)fit_loss, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_const, COUNT,
                            enzyme_const, DEGREE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)fit_loss, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_const, COUNT,
                      enzyme_const, DEGREE);
}

static const struct corpus_problem problem = {
    .name = "out_buffers",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
