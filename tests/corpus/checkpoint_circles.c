// Steps between buffers in all kinds of loops, under limits on what is kept: left before the buffers change places, with four
// of them, turning backwards, one and the same, parts of one array, steps within steps, memory that is there already, memory
// of a step that may be none, and pointers to the ends that change places as well.
// Source: Strikwerda, "Finite Difference Schemes and Partial Differential Equations", section 1.3 (schemes of several levels).
#include "corpus.h"

enum { N = CORPUS_SIZE(12, 6) };

static volatile int steps = CORPUS_SIZE(23, 7);

static void step(const double *a, double *b, double r)
{
    for (int i = 0; i < N; i++)
        b[i] = a[i] + 0.07 * r * (a[(i + 1) % N] * a[(i + 5) % N] - a[i] * a[i]);
}

static double sum(const double *a)
{
    double s = 0.0;
    for (int i = 0; i < N; i++)
        s += a[i] * a[i] * (1.0 + 0.1 * i);
    return s;
}

static void swap(double **a, double **b)
{
    double *spare = *a;
    *a = *b;
    *b = spare;
}

static double early(double *u, double *v, double *w, double r)
{
    double *a = u, *b = v;
    int used = 0, count = steps;
    for (int t = 0; t < count; t++) {
        step(a, b, r);
        used += 1 + t % 3;
        if (used > 20)
            break;
        swap(&a, &b);
    }
    return sum(a) + 2.0 * sum(b) + w[0];
}

static double last(double *u, double *v, double *w, double r)
{
    double *a = u, *b = v;
    int left = steps;
    do {
        step(a, b, r);
        swap(&a, &b);
    } while (--left > 0);
    return sum(a) + 2.0 * sum(b) + w[0];
}

static double four(double *u, double *v, double *w, double r)
{
    double x[N], *a = u, *b = v, *c = w, *d = x;
    corpus_copy(x, u, N);
    int count = steps;
    for (int t = 0; t < count; t++) {
        for (int i = 0; i < N; i++)
            d[i] = 0.5 * a[i] + 0.3 * b[i] + 0.07 * r * c[i] * c[(i + 1) % N];
        double *spare = a;
        a = b;
        b = c;
        c = d;
        d = spare;
    }
    return sum(a) + 2.0 * sum(b) + 3.0 * sum(d);
}

static double back(double *u, double *v, double *w, double r)
{
    double *a = u, *b = v, *c = w;
    int count = steps;
    for (int t = 0; t < count; t++) {
        step(c, a, r);
        for (int i = 0; i < N; i++)
            a[i] += 0.01 * b[i];
        double *spare = c;
        c = b;
        b = a;
        a = spare;
    }
    return sum(a) + 2.0 * sum(b);
}

static double same(double *u, double *v, double *w, double r)
{
    double *a = u, *b = u;
    int count = steps;
    for (int t = 0; t < count; t++) {
        for (int i = 0; i < N; i++)
            b[i] = a[i] + 0.07 * r * (v[i] - a[i] * a[i]);
        swap(&a, &b);
    }
    return sum(a) + w[0];
}

static double parts(double *u, double *v, double *w, double r)
{
    double *all = malloc(sizeof(double) * 3 * N), *a = all, *b = all + N;
    corpus_copy(a, u, N);
    corpus_copy(b, v, N);
    corpus_copy(all + 2 * N, w, N);
    int count = steps;
    for (int t = 0; t < count; t++) {
        step(a, b, r);
        b[0] += 0.01 * all[2 * N + t % N];
        swap(&a, &b);
    }
    double result = sum(a) + sum(all);
    free(all);
    return result;
}

static double within(double *u, double *v, double *w, double r)
{
    double *a = u, *b = v;
    int count = steps / 4;
    for (int k = 0; k < 5; k++) {
        for (int t = 0; t < count + k % 2; t++) {
            step(a, b, r);
            swap(&a, &b);
        }
        for (int i = 0; i < N; i++)
            a[i] = sin(a[i]) + 0.1 * w[i];
    }
    return sum(a) + sum(b);
}

static double ready(double *u, double *v, double *w, double r)
{
    double *buffer = malloc(sizeof(double) * N), s = 0.0;
    int length = N, count = steps;
    for (int t = 0; t < count; t++) {
        if (!buffer || length < N) {
            free(buffer);
            length = N;
            buffer = malloc(sizeof(double) * N);
        }
        step(u, buffer, r);
        for (int i = 0; i < length; i++)
            u[i] = buffer[N - 1 - i];
        s += buffer[t % N];
    }
    free(buffer);
    return sum(u) + s + v[0] * w[0];
}

static double scratch(double *u, double *v, double *w, double r)
{
    double s = 0.0;
    int count = steps;
    for (int t = 0; t < count; t++) {
        double *p = malloc(sizeof(double) * N), *q = t % 3 ? malloc(sizeof(double) * N) : NULL;
        step(u, p, r);
        if (q)
            step(p, q, r);
        for (int i = 0; i < N; i++)
            u[i] = (q ? q[i] : p[i]) * 0.99;
        s += p[0];
        free(q);
        free(p);
    }
    return sum(u) + s + v[0] * w[0];
}

static double ends(double *u, double *v, double *w, double r)
{
    double *a = u, *b = v, *a_end = u + N, *b_end = v + N;
    int count = steps;
    for (int t = 0; t < count; t++) {
        long length = a_end - a;
        for (long i = 0; i < length; i++)
            b[i] = a[i] + 0.07 * r * (a[length - 1 - i] - a[i] * a[i]);
        swap(&a, &b);
        swap(&a_end, &b_end);
    }
    return sum(a) + 2.0 * sum(b) + w[0];
}

#define CHECKPOINT_NAME "checkpoint_circles"
#define CHECKPOINT_SEED 39
#include "checkpoint_problems.h"

PROBLEM(early)
PROBLEM(last)
PROBLEM(four)
PROBLEM(back)
PROBLEM(same)
PROBLEM(parts)
PROBLEM(within)
PROBLEM(ready)
PROBLEM(scratch)
PROBLEM(ends)

CORPUS_MAIN(&early_problem, &last_problem, &four_problem, &back_problem, &same_problem, &parts_problem, &within_problem,
            &ready_problem, &scratch_problem, &ends_problem)
