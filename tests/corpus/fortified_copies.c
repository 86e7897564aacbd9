// corpus: flags -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fcf-protection -ftrivial-auto-var-init=zero
// Code as distributions compile it: copies that know how large their destination is, variables that are zero from the
// start. Doubles rounded by way of their bits, records moved by `memmove`, wide characters, a buffer of a size that is
// known when the program runs, text beside numbers.
// Options: OpenSSF, "Compiler Options Hardening Guide for C and C++".
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "corpus.h"

enum { N = 6 };

struct sample {
    char name[12];
    int rank;
    double value, weight;
};

__attribute__((noinline)) static void round_all(const double *x, double *rounded)
{
    for (int i = 0; i < N; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits = (bits + 0x2000000) & 0xfffffffffc000000;
        memcpy(&rounded[i], &bits, sizeof bits);
    }
}

__attribute__((noinline)) static void insert(struct sample *list, int *count, int room, struct sample new)
{
    int at = 0;
    while (at < *count && list[at].value > new.value)
        at++;
    int last = *count < room ? *count : room - 1;
    memmove(&list[at + 1], &list[at], (size_t)(last - at) * sizeof *list);
    memcpy(&list[at], &new, sizeof new);
    *count = last + 1;
}

__attribute__((noinline)) static double smooth(const double *x, int n)
{
    double work[n + 2];
    memset(work, 0, sizeof work);
    memcpy(work + 1, x, (size_t)n * sizeof *x);
    double sum = 0.0;
    for (int i = 1; i <= n; i++) {
        double s = work[i - 1] - 2.0 * work[i] + work[i + 1];
        sum += s * s;
    }
    return sum;
}

static double objective(const double *x)
{
    double rounded[N], copy[N], sum = 0.0;
    struct sample list[N];
    int count = 0;
    round_all(x, rounded);
    for (int i = 0; i < N; i++) {
        struct sample new = {.rank = i, .value = x[i] * x[i], .weight = 1.0 / (1.0 + i)};
        snprintf(new.name, sizeof new.name, "sample %d", i);
        insert(list, &count, N, new);
    }
    for (int i = 0; i < count; i++)
        sum += list[i].value * list[i].weight * (1.0 + i) * (double)strlen(list[i].name);
    wmemcpy((wchar_t *)copy, (const wchar_t *)x, 2 * N);
    for (int i = 0; i < N; i++)
        // What rounding leaves has the derivative of what is rounded.
        sum += copy[i] * sin(x[i]) + (rounded[i] * rounded[i] + 2.0 * rounded[i] * (x[i] - rounded[i]));
    return sum + smooth(x, N - count / 3);
}

static double point[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.4 + 0.37 * i - 0.05 * i * i;
}

static double value(const double *x) { return objective(x); }

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)objective, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)objective, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "fortified_copies",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1e-5,
    .fd_tolerance = 1e-6, // rounding leaves 27 bits
    .dot_tolerance = 1e-12,
};

CORPUS_MAIN(&problem)
