// corpus: flags -fno-builtin
// corpus: native
// Numbers by way of their bits where the compiler takes no function for its own: copies, signs and rounding are calls
// of the C library here. Rounding by adding a power of two, by bits and by `rint`, an approximate logarithm, and a
// filled array. The program is the energy of a chain whose links are as long as the nearest whole number allows.
#include "corpus.h"

enum { N = 8 };

static double point[N];

static double whole(double x)
{
    double large = copysign(0x1p52, x);
    return (x + large) - large;
}

static double whole_by_bits(double x)
{
    double sum = x + 0x1.8p52, none = 0x1.8p52;
    int64_t bits, zero;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&zero, &none, sizeof zero);
    return (double)(bits - zero);
}

static double logarithm_by_bits(double x)
{
    int64_t bits;
    memmove(&bits, &x, sizeof bits);
    return (double)bits * 0x1p-52 - 1023.0;
}

static double energy(const double *x)
{
    double links[N], sum = 0.0;
    memset(links, 0, sizeof links);
    for (int i = 0; i + 1 < N; i++)
        links[i] += fabs(x[i + 1] - x[i]) * (1.0 + floor(x[i]));
    for (int i = 0; i < N; i++)
        sum += whole(3.0 * x[i]) * x[i] + whole_by_bits(-2.0 * x[i]) * links[i] + rint(x[i]) * links[i] * links[i] +
               logarithm_by_bits(fabs(x[i]) + 1.0);
    return sum;
}

// No jump and no power of two is within reach of the differences.
static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.607 + 1.07 * i + 0.01 * i * i;
}

static double value(const double *x)
{
    return energy(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)energy, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)energy, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "bits_without_builtins",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-10,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
