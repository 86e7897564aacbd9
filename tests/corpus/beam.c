// A tapered beam on elastic foundation by Hermite finite elements: 4x4 element matrices returned by value, a banded
// global matrix addressed through a macro, penalty supports; loss = strain energy + squared deflection at sensors.
// Active: thickness at the nodes, foundation stiffness, loads. Source: Bathe, "Finite Element Procedures", section
// 5.4.
#include "corpus.h"

typedef struct {
    double k[4][4];
} element_matrix;

enum { HALF = 4 };
#define BAND(m, i, j) ((m)[(i) * HALF + ((j) - (i))])

static element_matrix bending(double length, double t0, double t1)
{
    static const double gauss[3][2] = {{-0.774596669241483, 5.0 / 9}, {0.0, 8.0 / 9}, {0.774596669241483, 5.0 / 9}};
    element_matrix m = {{{0.0}}};
    for (int g = 0; g < 3; g++) {
        double s = gauss[g][0], t = 0.5 * (1.0 - s) * t0 + 0.5 * (1.0 + s) * t1, rigidity = t * t * t / 12.0;
        double curvature[4] = {6.0 * s / (length * length), (3.0 * s - 1.0) / length, -6.0 * s / (length * length),
                               (3.0 * s + 1.0) / length};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                m.k[i][j] += 0.5 * length * gauss[g][1] * rigidity * curvature[i] * curvature[j];
    }
    return m;
}

static element_matrix scaled_sum(element_matrix a, double scale, const element_matrix *b)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            a.k[i][j] += scale * b->k[i][j];
    return a;
}

static double beam_loss(const double *thickness, const double *load, double foundation, int elements)
{
    static const element_matrix mass = {{{156.0 / 420, 22.0 / 420, 54.0 / 420, -13.0 / 420},
                                         {22.0 / 420, 4.0 / 420, 13.0 / 420, -3.0 / 420},
                                         {54.0 / 420, 13.0 / 420, 156.0 / 420, -22.0 / 420},
                                         {-13.0 / 420, -3.0 / 420, -22.0 / 420, 4.0 / 420}}};
    int n = 2 * (elements + 1);
    double *matrix = calloc((size_t)(n * HALF), sizeof(double)), *u = calloc((size_t)n, sizeof(double)), loss = 0.0;
    for (int e = 0; e < elements; e++) {
        element_matrix m = scaled_sum(bending(1.0, thickness[e], thickness[e + 1]), foundation, &mass);
        for (int i = 0; i < 4; i++)
            for (int j = i; j < 4; j++)
                BAND(matrix, 2 * e + i, 2 * e + j) += m.k[i][j];
    }
    BAND(matrix, 0, 0) += 1e3;
    BAND(matrix, n - 2, n - 2) += 1e3;
    for (int i = 0; i <= elements; i++)
        u[2 * i] = load[i];
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n && j < i + HALF; j++) {
            double factor = BAND(matrix, i, j) / BAND(matrix, i, i);
            for (int k = j; k < n && k < i + HALF; k++)
                BAND(matrix, j, k) -= factor * BAND(matrix, i, k);
            u[j] -= factor * u[i];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n && j < i + HALF; j++)
            u[i] -= BAND(matrix, i, j) * u[j];
        u[i] /= BAND(matrix, i, i);
    }
    for (int i = 0; i <= elements; i++) {
        loss += 0.5 * load[i] * u[2 * i];
        if (i % 3 == 1)
            loss += u[2 * i] * u[2 * i];
    }
    free(u);
    free(matrix);
    return loss;
}

enum { ELEMENTS = CORPUS_SIZE(30, 4), SIZE = 2 * (ELEMENTS + 1) + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(184);
    corpus_fill(point, ELEMENTS + 1, 0.8, 1.2);
    corpus_fill(point + ELEMENTS + 1, ELEMENTS + 1, -0.2, 0.3);
    point[SIZE - 1] = 0.1;
}

static double loss(const double *x)
{
    return beam_loss(x, x + ELEMENTS + 1, x[2 * (ELEMENTS + 1)], ELEMENTS);
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
    .name = "beam",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 256.0,
};

CORPUS_MAIN(&problem)
