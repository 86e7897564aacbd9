// Sums over samples, of which each iteration is reversed as soon as it has run, and loops that look alike but must not
// be: what an iteration leaves for the next, what is overwritten after the loop, and sums that are more than added to.
// Source: Bottou, Curtis, Nocedal, "Optimization methods for large-scale machine learning", SIAM Review 60 (2018),
// section 2 (empirical risks).
#include "corpus.h"

enum { UNITS = 4, LARGEST = 6, WEIGHTS = UNITS * UNITS, SIZE = WEIGHTS + UNITS + 1 };

static double row_times(const double *row, const double *data, int m)
{
    double sum = 0.0;
    for (int j = 0; j < m; j++)
        sum += row[j] * data[j];
    return sum;
}

// A layer of units, whose values live in an iteration.
static double network(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double units[UNITS];
        for (int j = 0; j < m; j++)
            units[j] = tanh(s * row_times(w + j * m, data + i * m, m));
        double out = 0.0;
        for (int j = 0; j < m; j++)
            out += units[j] * units[(j + 1) % m];
        sum += out * out;
    }
    return sum / n;
}

// Shares of two kinds, and none.
static double branches(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = s;
    for (int i = 0; i < n; i++) {
        double margin = row_times(w, data + i * m, m);
        if (margin > 0.4)
            sum += margin * margin * s;
        else if (margin > -0.2)
            sum -= exp(margin);
    }
    return 3.0 - 0.5 * sum;
}

// One sum over two loops, and what else depends on the weights behind them.
static double chained(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0, decay = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t * t;
    }
    for (int i = n - 1; i >= 0; i--) {
        double t = row_times(w + m, data + i * m, m);
        sum += sin(t) * t;
    }
    for (int j = 0; j < m * m; j++)
        decay += w[j] * w[j];
    return sum * s + 0.01 * decay;
}

// Memory of each iteration's own, of a size that differs.
static double ragged(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        int count = 1 + i % m;
        double *powers = (double *)malloc(sizeof(double) * (size_t)count), share = 1.0;
        for (int j = 0; j < count; j++)
            powers[j] = pow(1.5 + w[j] * s, data[i * m + j]);
        for (int j = 0; j < count; j++)
            share *= powers[j];
        sum += share;
        free(powers);
    }
    return sum;
}

// Subscripts are checked; the program ends where one is wrong.
__attribute__((noinline, noreturn)) static void out_of_bounds(int index, int count)
{
    fprintf(stderr, "subscript %d of %d\n", index, count);
    exit(3);
}

static double checked(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double units[UNITS];
        for (int j = 0; j < m; j++) {
            if (j >= UNITS)
                out_of_bounds(j, UNITS);
            if (i * m + j >= UNITS * LARGEST)
                out_of_bounds(i * m + j, UNITS * LARGEST);
            units[j] = tanh(w[j] * data[i * m + j]);
        }
        for (int j = 0; j < m; j++)
            sum += units[j] * units[m - 1 - j] * s;
    }
    return sum;
}

// Not samples: an average that goes on from one to the next.
static double averages(const double *w, double *state, const double *data, double s, int n, int m)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            state[j] = 0.5 * state[j] + s * w[j] * data[i * m + j];
        double t = row_times(state, w + m, m);
        sum += t * t;
    }
    return sum;
}

// Not to be reversed at once: what is read is overwritten behind the loop, and used.
static double overwritten(const double *w, double *state, const double *data, double s, int n, int m)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(state, data + i * m, m);
        sum += t * t;
    }
    for (int j = 0; j < m; j++)
        state[j] = state[j] * state[j] * w[j];
    return sum + s * row_times(state, w, m);
}

static double logarithm(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 2.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t;
    }
    return log(sum) * s;
}

// The sum is scaled within.
static double forgetting(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 1.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        if (i % 3 == 1)
            sum = s * 0.5;
        sum += t * t;
    }
    return sum;
}

static double compounded(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 1.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += 0.1 * t * t * sum * s;
    }
    return sum;
}

// The sum goes through memory, and is read there.
static double reread(const double *w, double *state, const double *data, double s, int n, int m)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t;
    }
    state[0] = sum;
    return s * *(volatile double *)state + state[1] * state[0];
}

// A later loop multiplies the sum.
static double discounted(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t;
    }
    for (int j = 0; j < m; j++) {
        sum += s * w[j];
        sum *= 0.9;
    }
    return sum;
}

// A later loop adds the sum to another, again and again.
static double cumulated(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0, all = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t;
    }
    int j = 0;
    do {
        sum += s * w[j];
        all += sum;
    } while (++j < m);
    return all;
}

// A later loop begins with the sum, and forgets it.
static double replaced(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0, last = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t;
    }
    int j = 0;
    do {
        last = sum;
        sum = s * w[j];
    } while (++j < m);
    return last;
}

// Another result for few samples.
static double few(const double *w, double *state, const double *data, double s, int n, int m)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t;
    }
    if (n > 2)
        return sum * s;
    return state[1] * s;
}

// The sum goes to the result in two ways.
static double twice(const double *w, double *state, const double *data, double s, int n, int m)
{
    (void)state;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double t = row_times(w, data + i * m, m);
        sum += t * t * t;
    }
    return s / n * sum + (1.0 - sum * s);
}

// Not known to the compiler.
static volatile int units = UNITS;
static double point[SIZE], data[LARGEST * UNITS], work[UNITS];

static void setup(void)
{
    corpus_seed(141);
    corpus_fill(point, SIZE, 0.2, 0.9);
    corpus_fill(data, LARGEST * UNITS, -1.0, 1.0);
}

#define EACH(what)                                                                                                     \
    what(network);                                                                                                     \
    what(branches);                                                                                                    \
    what(chained);                                                                                                     \
    what(ragged);                                                                                                      \
    what(checked);                                                                                                     \
    what(averages);                                                                                                    \
    what(overwritten);                                                                                                 \
    what(logarithm);                                                                                                   \
    what(forgetting);                                                                                                  \
    what(compounded);                                                                                                  \
    what(discounted);                                                                                                  \
    what(cumulated);                                                                                                   \
    what(replaced);                                                                                                    \
    what(few);                                                                                                         \
    what(twice);                                                                                                       \
    what(reread)

static double value(const double *x)
{
    double sum = 0.0;
    for (int n = 1; n <= LARGEST; n += 5) {
#define VALUE(function)                                                                                                \
    corpus_copy(work, x + WEIGHTS, UNITS);                                                                             \
    sum += function(x, work, data, x[SIZE - 1], n, units)
        EACH(VALUE);
    }
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0, shadow[UNITS];
    for (int n = 1; n <= LARGEST; n += 5) {
#define TANGENT(function)                                                                                              \
    corpus_copy(work, x + WEIGHTS, UNITS);                                                                             \
    corpus_copy(shadow, v + WEIGHTS, UNITS);                                                                           \
    sum += __enzyme_fwddiff((void *)function, enzyme_dup, x, v, enzyme_dup, work, shadow, enzyme_const, data,          \
                            enzyme_dup, x[SIZE - 1], v[SIZE - 1], enzyme_const, n, enzyme_const, units)
        EACH(TANGENT);
    }
    return sum;
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (int n = 1; n <= LARGEST; n += 5) {
#define GRADIENT(function)                                                                                             \
    corpus_copy(work, x + WEIGHTS, UNITS);                                                                             \
    g[SIZE - 1] += __enzyme_autodiff((void *)function, enzyme_dup, x, g, enzyme_dup, work, g + WEIGHTS, enzyme_const,  \
                                     data, enzyme_out, x[SIZE - 1], enzyme_const, n, enzyme_const, units)
        // What a function leaves in the state is its own: its adjoint must be gone each time.
        double kept[UNITS];
#define ALONE(function)                                                                                                \
    corpus_copy(kept, g + WEIGHTS, UNITS);                                                                             \
    corpus_zero(g + WEIGHTS, UNITS);                                                                                   \
    GRADIENT(function);                                                                                                \
    for (int j = 0; j < UNITS; j++)                                                                                    \
        g[WEIGHTS + j] += kept[j]
        EACH(ALONE);
    }
}

// The gradient of `network` times a direction, and its derivatives; adjoints of two results at once.
static double direction[WEIGHTS];

static double along(const double *w, double *w_shadow, double s)
{
    __enzyme_autodiff((void *)network, enzyme_dup, w, w_shadow, enzyme_const, work, enzyme_const, data, enzyme_const, s,
                      enzyme_const, LARGEST, enzyme_const, units);
    double sum = 0.0;
    for (int k = 0; k < WEIGHTS; k++)
        sum += direction[k] * w_shadow[k];
    return sum;
}

static void second_setup(void)
{
    setup();
    corpus_fill(direction, WEIGHTS, -1.0, 1.0);
}

static double second_value(const double *x)
{
    double shadow[WEIGHTS];
    corpus_zero(shadow, WEIGHTS);
    return along(x, shadow, 0.7);
}

static double second_tangent(const double *x, const double *v)
{
    double shadow[WEIGHTS], shadow_tangent[WEIGHTS];
    corpus_zero(shadow, WEIGHTS);
    corpus_zero(shadow_tangent, WEIGHTS);
    return __enzyme_fwddiff((void *)along, enzyme_dup, x, v, enzyme_dup, shadow, shadow_tangent, enzyme_const, 0.7);
}

static void second_gradient(const double *x, double *g)
{
    double shadow[WEIGHTS], shadow_adjoint[WEIGHTS];
    corpus_zero(shadow, WEIGHTS);
    corpus_zero(shadow_adjoint, WEIGHTS);
    corpus_zero(g, WEIGHTS);
    __enzyme_autodiff((void *)along, enzyme_dup, x, g, enzyme_dup, shadow, shadow_adjoint, enzyme_const, 0.7);
}

static const struct corpus_problem problem = {
    .name = "samples",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

static const struct corpus_problem second = {
    .name = "samples_twice",
    .size = WEIGHTS,
    .point = point,
    .setup = second_setup,
    .value = second_value,
    .tangent = second_tangent,
    .gradient = second_gradient,
};

CORPUS_MAIN(&problem, &second)
