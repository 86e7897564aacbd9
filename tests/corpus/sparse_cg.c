// Conjugate gradients for a sparse symmetric system in compressed rows, assembled in the differentiated code from a
// list of springs, with diagonal preconditioner; the iteration ends when the residual is small. Loss = work of the
// load, b.x + |x|^2.
// Source: Saad, "Iterative Methods for Sparse Linear Systems", algorithm 9.1.
#include "corpus.h"

struct csr {
    int rows;
    int *start;
    int *column;
    double *value;
};

// Springs between i and i+1 and between i and i+stride; each node also is tied to the ground.
static struct csr assemble(const double *stiffness, int n, int stride)
{
    struct csr a;
    a.rows = n;
    a.start = malloc(sizeof(int) * (size_t)(n + 1));
    a.column = malloc(sizeof(int) * (size_t)(5 * n));
    a.value = malloc(sizeof(double) * (size_t)(5 * n));
    int used = 0;
    for (int i = 0; i < n; i++) {
        const int offsets[4] = {-stride, -1, 1, stride};
        int diagonal = used++;
        a.start[i] = diagonal;
        a.column[diagonal] = i;
        a.value[diagonal] = 0.5;
        for (int k = 0; k < 4; k++) {
            int j = i + offsets[k];
            if (j < 0 || j >= n)
                continue;
            int low = i < j ? i : j, kind = k == 0 || k == 3;
            double s = stiffness[2 * low + kind];
            a.column[used] = j;
            a.value[used++] = -s;
            a.value[diagonal] += s;
        }
    }
    a.start[n] = used;
    return a;
}

static void csr_free(struct csr *a)
{
    free(a->start);
    free(a->column);
    free(a->value);
    memset(a, 0, sizeof(*a));
}

static void multiply(const struct csr *a, const double *x, double *y)
{
    for (int i = 0; i < a->rows; i++) {
        double sum = 0.0;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            sum += a->value[k] * x[a->column[k]];
        y[i] = sum;
    }
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static int conjugate_gradients(const struct csr *a, const double *b, double *x, double tolerance)
{
    int n = a->rows, iteration = 0;
    double *buffer = calloc((size_t)(4 * n), sizeof(double));
    double *r = buffer, *z = buffer + n, *p = buffer + 2 * n, *q = buffer + 3 * n;
    for (int i = 0; i < n; i++) {
        x[i] = 0.0;
        r[i] = b[i];
        p[i] = z[i] = r[i] / a->value[a->start[i]];
    }
    double rho = dot(r, z, n);
    while (dot(r, r, n) > tolerance * tolerance && iteration < 10 * n) {
        multiply(a, p, q);
        double alpha = rho / dot(p, q, n);
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            z[i] = r[i] / a->value[a->start[i]];
        }
        double next = dot(r, z, n), beta = next / rho;
        rho = next;
        for (int i = 0; i < n; i++)
            p[i] = z[i] + beta * p[i];
        iteration++;
    }
    free(buffer);
    return iteration;
}

static double compliance(const double *stiffness, const double *load, int n, int stride)
{
    struct csr a = assemble(stiffness, n, stride);
    double *x = malloc(sizeof(double) * (size_t)n);
    conjugate_gradients(&a, load, x, 1e-12);
    double result = dot(load, x, n) + dot(x, x, n);
    free(x);
    csr_free(&a);
    return result;
}

enum { N = CORPUS_SIZE(40, 5), STRIDE = CORPUS_SIZE(7, 2), SIZE = 3 * N };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(110);
    corpus_fill(point, 2 * N, 0.5, 1.5);
    corpus_fill(point + 2 * N, N, -1.0, 1.0);
}

static double value(const double *x)
{
    return compliance(x, x + 2 * N, N, STRIDE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)compliance, enzyme_dup, x, v, enzyme_dup, x + 2 * N, v + 2 * N, enzyme_const, N,
                            enzyme_const, STRIDE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)compliance, enzyme_dup, x, g, enzyme_dup, x + 2 * N, g + 2 * N, enzyme_const, N,
                      enzyme_const, STRIDE);
}

static const struct corpus_problem problem = {
    .name = "sparse_cg",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .fd_tolerance = 1e-6,
    .dot_tolerance = 1e-7, // where CG stops, the tangent and the adjoint have converged less than the value
};

CORPUS_MAIN(&problem)
