// How far accesses reach is not always what counters say: a loop whose limit is the largest number ends at what it
// reads; one with a huge negative index never runs. The array that is written is, in some calls, the one that is read,
// a few elements before. And the gradient of a function of two buffers is taken in a loop that lets them change places,
// and is differentiated again.
#include "corpus.h"

enum { N = 6, SHIFT = 3, ROW = 64, SIZE = 5 * N, END = 2 * N - 1 };

static double point[SIZE];

// Up to a number that is not more than 0.01; `most` may be the largest number, for "however many".
static double until(double *to, const double *from, unsigned long most)
{
    unsigned long count;
    double loss = 0.0;
    for (count = 0; count != most && from[count] > 0.01; count++)
        to[count] = 0.3 * from[count] * from[count];
    for (unsigned long i = 0; i < count; i++)
        loss += to[i] * (double)(i + 1);
    return loss;
}

// Adds rows from `first` to `last`, of which there are none.
static double rows(double *to, const double *from, long n, long first, long last)
{
    double loss = 0.0;
    for (long i = 0; i < n; i++) {
        to[i] = from[i] * from[i];
        for (long row = first; row < last; row++)
            loss += to[row * ROW] * from[row * ROW];
    }
    for (long i = 0; i < n; i++)
        loss += to[i];
    return loss;
}

// What is read is the same in all turns, unless it is overwritten.
static double turns_of(double *to, const double *from, long n, long first, long last, int turns)
{
    double loss = 0.0;
    for (int t = 0; t < turns; t++) {
        for (long i = 0; i < n; i++)
            to[i] = 0.9 * from[i] * from[i] + 0.1 * to[i];
        for (long row = first; row < last; row++)
            to[row * ROW] += 1.0;
    }
    for (long i = 0; i < n; i++)
        loss += to[i];
    return loss;
}

static void step(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = sin(from[i]) * from[i];
    for (int i = 1; i < n; i++)
        to[i] += 0.3 * to[i - 1] * from[i];
}

// The squares of the gradients of steps that lead to and fro.
static double slopes(double *one, double *other, double *one_shadow, double *other_shadow, int n, int turns)
{
    double loss = 0.0;
    for (int t = 0; t < turns; t++) {
        double *to = t & 1 ? one : other, *from = t & 1 ? other : one;
        double *to_shadow = t & 1 ? one_shadow : other_shadow, *from_shadow = t & 1 ? other_shadow : one_shadow;
        __enzyme_autodiff((void *)step, enzyme_dup, to, to_shadow, enzyme_dup, from, from_shadow, n);
        for (int i = 0; i < n; i++) {
            loss += from_shadow[i] * from_shadow[i] * from[i];
            to_shadow[i] = 1.0 + 0.1 * i;
        }
    }
    return loss;
}

static void setup(void)
{
    corpus_seed(212);
    corpus_fill(point, SIZE, 0.4, 0.9);
}

static volatile unsigned long no_limit = -1ul;
static volatile long far_before[] = {-(1l << 39), -(1l << 39) - 1};

struct buffers {
    double one[N], other[N], one_shadow[N], other_shadow[N];
};

static struct buffers begin(const double *x)
{
    struct buffers out;
    for (int i = 0; i < N; i++) {
        out.one[i] = x[i];
        out.other[i] = 0.0;
        out.one_shadow[i] = 0.5;
        out.other_shadow[i] = 1.0 + 0.1 * i;
    }
    return out;
}

static double value(const double *x)
{
    double work[SIZE], apart[N];
    corpus_copy(work, x, SIZE);
    work[END] = 0.0;
    struct buffers own = begin(x + 3 * N);
    double sum = until(work, work + SHIFT, no_limit);
    sum += rows(work + 2 * N, work + 2 * N + 1, N - 1, far_before[0], far_before[1]);
    sum += rows(apart, work + 2 * N, N, far_before[0], far_before[1]);
    sum += turns_of(work + 4 * N, work + 4 * N + 2, N - 2, far_before[0], far_before[1], 3);
    return sum + slopes(own.one, own.other, own.one_shadow, own.other_shadow, N, 3);
}

static double tangent(const double *x, const double *v)
{
    double work[SIZE], shadow[SIZE], apart[N], apart_shadow[N] = {0.0};
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    work[END] = shadow[END] = 0.0;
    struct buffers own = begin(x + 3 * N), other = {{0.0}};
    corpus_copy(other.one, v + 3 * N, N);
    double sum =
        __enzyme_fwddiff((void *)until, enzyme_dup, work, shadow, enzyme_dup, work + SHIFT, shadow + SHIFT, no_limit);
    sum += __enzyme_fwddiff((void *)rows, enzyme_dup, work + 2 * N, shadow + 2 * N, enzyme_dup, work + 2 * N + 1,
                            shadow + 2 * N + 1, (long)(N - 1), far_before[0], far_before[1]);
    sum += __enzyme_fwddiff((void *)rows, enzyme_dup, apart, apart_shadow, enzyme_dup, work + 2 * N, shadow + 2 * N,
                            (long)N, far_before[0], far_before[1]);
    sum += __enzyme_fwddiff((void *)turns_of, enzyme_dup, work + 4 * N, shadow + 4 * N, enzyme_dup, work + 4 * N + 2,
                            shadow + 4 * N + 2, (long)(N - 2), far_before[0], far_before[1], 3);
    return sum + __enzyme_fwddiff((void *)slopes, enzyme_dup, own.one, other.one, enzyme_dup, own.other, other.other,
                                  enzyme_dup, own.one_shadow, other.one_shadow, enzyme_dup, own.other_shadow,
                                  other.other_shadow, N, 3);
}

static void gradient(const double *x, double *g)
{
    double work[SIZE], apart[N], apart_shadow[N] = {0.0};
    corpus_copy(work, x, SIZE);
    work[END] = 0.0;
    corpus_zero(g, SIZE);
    struct buffers own = begin(x + 3 * N), other = {{0.0}};
    // Last to first: the later functions read what the earlier ones leave.
    double after[SIZE];
    corpus_copy(after, x, SIZE);
    after[END] = 0.0;
    until(after, after + SHIFT, no_limit);
    double mid[SIZE];
    corpus_copy(mid, after, SIZE);
    rows(mid + 2 * N, mid + 2 * N + 1, N - 1, far_before[0], far_before[1]);
    __enzyme_autodiff((void *)rows, enzyme_dup, apart, apart_shadow, enzyme_dup, mid + 2 * N, g + 2 * N, (long)N,
                      far_before[0], far_before[1]);
    __enzyme_autodiff((void *)rows, enzyme_dup, after + 2 * N, g + 2 * N, enzyme_dup, after + 2 * N + 1, g + 2 * N + 1,
                      (long)(N - 1), far_before[0], far_before[1]);
    __enzyme_autodiff((void *)turns_of, enzyme_dup, work + 4 * N, g + 4 * N, enzyme_dup, work + 4 * N + 2,
                      g + 4 * N + 2, (long)(N - 2), far_before[0], far_before[1], 3);
    __enzyme_autodiff((void *)until, enzyme_dup, work, g, enzyme_dup, work + SHIFT, g + SHIFT, no_limit);
    g[END] = 0.0;
    __enzyme_autodiff((void *)slopes, enzyme_dup, own.one, other.one, enzyme_dup, own.other, other.other, enzyme_dup,
                      own.one_shadow, other.one_shadow, enzyme_dup, own.other_shadow, other.other_shadow, N, 3);
    for (int i = 0; i < N; i++)
        g[3 * N + i] += other.one[i];
}

static const struct corpus_problem problem = {
    .name = "arrays_reach",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
