// Sweeps over the rows of one array in place, as in a factorisation: row i changes by row j. Rows of n numbers are
// apart where i > j; here some are, and some meet by a single element, in the last iteration or the first.
//
//   for j:  d = a_jj <- sqrt(4 + a_jj^2);   for i:  a_ij <- (a_ij - 0.03 sum_k a_ik a_jk) / d
//
// loss = sum of a^2.
// Source: Golub, Van Loan, "Matrix Computations", section 4.2, for the order of the loops.
#include "corpus.h"

enum { N = CORPUS_SIZE(19, 6), ROOM = N * N + 2 * N };

// With rows that begin STRIDE numbers apart: rows i of ROWS, and so many numbers of them (LENGTH).
#define SWEEP(NAME, STRIDE, ROWS, LENGTH)                                                                              \
    static double NAME(double *a, int n)                                                                               \
    {                                                                                                                  \
        double loss = 0.0;                                                                                             \
        for (int j = 0; j < n; j++) {                                                                                  \
            double d = a[j * (STRIDE) + j];                                                                            \
            a[j * (STRIDE) + j] = sqrt(4.0 + d * d);                                                                   \
            for (ROWS) {                                                                                               \
                double sum = a[i * (STRIDE) + j];                                                                      \
                for (int k = 0; k < (LENGTH); k++)                                                                     \
                    sum -= 0.03 * a[i * (STRIDE) + k] * a[j * (STRIDE) + k];                                           \
                a[i * (STRIDE) + j] = sum / a[j * (STRIDE) + j];                                                       \
            }                                                                                                          \
        }                                                                                                              \
        for (int i = 0; i < ROOM; i++)                                                                                 \
            loss += a[i] * a[i];                                                                                       \
        return loss;                                                                                                   \
    }

#define AFTER                                                                                                          \
    int i = j + 1;                                                                                                     \
    i < n;                                                                                                             \
    i++
#define LAST_FIRST                                                                                                     \
    int i = n - 1;                                                                                                     \
    i > j;                                                                                                             \
    i--
SWEEP(apart, n, AFTER, j)
SWEEP(apart_downwards, n, LAST_FIRST, j)
SWEEP(with_what_is_divided, n, AFTER, j + 1)
SWEEP(up_to_the_next, n, AFTER, j + 2)
SWEEP(meet_at_the_end, n, AFTER, j + 3)
SWEEP(meet_downwards, n, LAST_FIRST, j + 3)
SWEEP(whole_rows, n, AFTER, n)
SWEEP(one_too_long, n, AFTER, n + 1)
SWEEP(narrow, n - 2, AFTER, j)
SWEEP(too_narrow, n - 3, AFTER, j)
SWEEP(own_row, n, int i = j; i < n; i++, j)
SWEEP(before, n, int i = 0; i < j; i++, j)
SWEEP(around, n, int i = j > 0 ? j - 1 : j; i < n; i++, j)

static double (*const sweeps[])(double *, int) = {
    apart,        apart_downwards, with_what_is_divided, up_to_the_next, meet_at_the_end, meet_downwards, whole_rows,
    one_too_long, narrow,          too_narrow,           own_row,        before,          around,
};

static double point[ROOM], work[ROOM], shadow[ROOM];

static void setup(void)
{
    corpus_seed(131);
    corpus_fill(point, ROOM, -1.0, 1.0);
}

static double value(const double *x)
{
    double total = 0.0;
    for (size_t i = 0; i < CORPUS_COUNT(sweeps); i++) {
        corpus_copy(work, x, ROOM);
        total += sweeps[i](work, N);
    }
    return total;
}

#define EACH(DO)                                                                                                       \
    DO(apart)                                                                                                          \
    DO(apart_downwards)                                                                                                \
    DO(with_what_is_divided)                                                                                           \
    DO(up_to_the_next)                                                                                                 \
    DO(meet_at_the_end)                                                                                                \
    DO(meet_downwards) DO(whole_rows) DO(one_too_long) DO(narrow) DO(too_narrow) DO(own_row) DO(before) DO(around)

static double tangent(const double *x, const double *v)
{
    double total = 0.0;
#define TANGENT(NAME)                                                                                                  \
    corpus_copy(work, x, ROOM);                                                                                        \
    corpus_copy(shadow, v, ROOM);                                                                                      \
    total += __enzyme_fwddiff((void *)NAME, enzyme_dup, work, shadow, enzyme_const, N);
    EACH(TANGENT)
    return total;
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, ROOM);
#define GRADIENT(NAME)                                                                                                 \
    corpus_copy(work, x, ROOM);                                                                                        \
    corpus_zero(shadow, ROOM);                                                                                         \
    __enzyme_autodiff((void *)NAME, enzyme_dup, work, shadow, enzyme_const, N);                                        \
    for (int k = 0; k < ROOM; k++)                                                                                     \
        g[k] += shadow[k];
    EACH(GRADIENT)
}

static const struct corpus_problem problem = {
    .name = "triangles_in_place",
    .size = ROOM,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
