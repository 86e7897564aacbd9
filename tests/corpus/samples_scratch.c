// Sums over samples whose iterations work in arrays from before the loop: those that each iteration writes before it reads them may
// be its own, and those that look alike may not: what is left from the iteration before, what is written under a condition or in part,
// what is read after the loop.
// Source: Tu, Padua, "Automatic array privatization", Languages and Compilers for Parallel Computing (1993), section 2.
#include "corpus.h"

enum { UNITS = 5, LARGEST = 6, WEIGHTS = UNITS * UNITS, SIZE = WEIGHTS + UNITS };

// An array of the function's own.
static double layer(const double *w, const double *data, int n, int m)
{
    double units[UNITS], sum = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            units[j] = tanh(w[j] * data[i * m + j] + w[j + m]);
        for (int j = 0; j < m; j++)
            sum += units[j] * units[m - 1 - j];
    }
    return sum;
}

// Memory that is used for something else before; the factor is lower triangular.
static double factor(const double *w, const double *data, int n, int m)
{
    double *centred = malloc(sizeof(double) * (size_t)m), *scaled = malloc(sizeof(double) * (size_t)m), sum = 0.0;
    for (int j = 0; j < m; j++)
        centred[j] = w[j] * w[j];
    for (int j = 0; j < m; j++)
        sum += centred[j];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            centred[j] = data[i * m + j] - w[j];
        for (int j = 0; j < m; j++)
            scaled[j] = exp(w[j]) * centred[j];
        for (int column = 0; column < m; column++)
            for (int row = column + 1; row < m; row++)
                scaled[row] += w[row * m + column] * centred[column];
        double squares = 0.0;
        for (int j = 0; j < m; j++)
            squares += scaled[j] * scaled[j];
        sum += log(1.0 + squares);
    }
    free(centred);
    free(scaled);
    return sum;
}

// Written downwards, in an inner iteration.
static double inner(const double *w, const double *data, int n, int m)
{
    double terms[UNITS], row[UNITS], sum = 0.0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++) {
            for (int j = m - 1; j >= 0; j--)
                row[j] = sin(w[k * m + j] * data[i * m + j]);
            double term = row[0];
            for (int j = 1; j < m; j++)
                term += row[j] * row[j - 1];
            terms[k] = term;
        }
        double largest = -1e300, total = 0.0;
        for (int k = 0; k < m; k++)
            if (terms[k] > largest)
                largest = terms[k];
        for (int k = 0; k < m; k++)
            total += exp(terms[k] - largest);
        sum += log(total) + largest;
    }
    return sum;
}

// Cleared first, then added to where the data says.
static double bins(const double *w, const double *data, int n, int m)
{
    double filled[UNITS], sum = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            filled[j] = 0.0;
        for (int j = 0; j < m; j++)
            filled[data[i * m + j] > 0.0 ? j : 0] += w[j] * w[m + j];
        for (int j = 0; j < m; j++)
            sum += filled[j] * filled[j];
    }
    return sum;
}

// The last element stays as the sample before has left it.
static double remembered(const double *w, const double *data, int n, int m)
{
    double units[UNITS + 1], sum = 0.0;
    for (int j = 0; j <= m; j++)
        units[j] = w[j % m];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            units[j] = units[m] * w[j] * data[i * m + j];
        units[m] = units[0] + 0.5 * units[m];
        for (int j = 0; j <= m; j++)
            sum += units[j] * units[j];
    }
    return sum;
}

// The first element is from before the loop.
static double behind(const double *w, const double *data, int n, int m)
{
    double units[UNITS + 1], sum = 0.0;
    units[0] = w[0] * w[1 % m];
    for (int i = 0; i < n; i++) {
        for (int j = 1; j <= m; j++)
            units[j] = w[j - 1] * data[i * m + j - 1];
        for (int j = 0; j <= m; j++)
            sum += units[j] * units[j] * units[j];
    }
    return sum;
}

// Some are written only where the data says.
static double sometimes(const double *w, const double *data, int n, int m)
{
    double units[UNITS], sum = 0.0;
    for (int j = 0; j < m; j++)
        units[j] = w[j];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            if (data[i * m + j] > 0.0)
                units[j] = w[j + m] * data[i * m + j];
        for (int j = 0; j < m; j++)
            sum += units[j] * units[j];
    }
    return sum;
}

// The loop that writes may end early.
static double early(const double *w, const double *data, int n, int m)
{
    double units[UNITS], sum = 0.0;
    for (int j = 0; j < m; j++)
        units[j] = w[j];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            units[j] = w[j] * w[j] * data[i * m + j];
            if (data[i * m + j] > 0.3)
                break;
        }
        for (int j = 0; j < m; j++)
            sum += units[j] * units[j];
    }
    return sum;
}

// Every second one is written.
static double spread(const double *w, const double *data, int n, int m)
{
    double units[2 * UNITS], sum = 0.0;
    for (int j = 0; j < 2 * m; j++)
        units[j] = w[j];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            units[2 * j] = w[j] * data[i * m + j];
        for (int j = 0; j < 2 * m; j++)
            sum += units[j] * units[j] * units[j];
    }
    return sum;
}

// Read before it is written.
static double first(const double *w, const double *data, int n, int m)
{
    double units[UNITS], sum = 0.0;
    for (int j = 0; j < m; j++)
        units[j] = w[j];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            sum += units[j] * units[j];
        for (int j = 0; j < m; j++)
            units[j] = w[j + m] * data[i * m + j];
    }
    return sum;
}

// What the last iteration leaves is read.
static double last(const double *w, const double *data, int n, int m)
{
    double units[UNITS], sum = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            units[j] = w[j] * w[j + m] * data[i * m + j];
        for (int j = 0; j < m; j++)
            sum += units[j] * units[j];
    }
    return sum + units[0] * units[m - 1];
}

// One of two arrays is written.
static double either(const double *w, const double *data, int n, int m)
{
    double here[UNITS], there[UNITS], sum = 0.0;
    for (int j = 0; j < m; j++)
        here[j] = there[j] = w[j];
    for (int i = 0; i < n; i++) {
        double *units = data[i * m] > 0.0 ? here : there;
        for (int j = 0; j < m; j++)
            units[j] = w[j + m] * data[i * m + j];
        for (int j = 0; j < m; j++)
            sum += here[j] * here[j] * there[j];
    }
    return sum;
}

// Not known to the compiler.
static volatile int units = UNITS;
static double point[SIZE], data[LARGEST * UNITS];

static void setup(void)
{
    corpus_seed(143);
    corpus_fill(point, SIZE, 0.2, 0.9);
    corpus_fill(data, LARGEST * UNITS, -1.0, 1.0);
}

#define EACH(what)                                                                                                     \
    what(layer);                                                                                                       \
    what(factor);                                                                                                      \
    what(inner);                                                                                                       \
    what(bins);                                                                                                        \
    what(remembered);                                                                                                  \
    what(behind);                                                                                                      \
    what(sometimes);                                                                                                   \
    what(early);                                                                                                       \
    what(spread);                                                                                                      \
    what(first);                                                                                                       \
    what(last);                                                                                                        \
    what(either)

static double value(const double *x)
{
    double sum = 0.0;
    for (int n = 1; n <= LARGEST; n += 5) {
#define VALUE(function) sum += function(x, data, n, units)
        EACH(VALUE);
    }
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0;
    for (int n = 1; n <= LARGEST; n += 5) {
#define TANGENT(function)                                                                                              \
    sum += __enzyme_fwddiff((void *)function, enzyme_dup, x, v, enzyme_const, data, enzyme_const, n, enzyme_const, units)
        EACH(TANGENT);
    }
    return sum;
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (int n = 1; n <= LARGEST; n += 5) {
#define GRADIENT(function)                                                                                             \
    __enzyme_autodiff((void *)function, enzyme_dup, x, g, enzyme_const, data, enzyme_const, n, enzyme_const, units)
        EACH(GRADIENT);
    }
}

static const struct corpus_problem problem = {
    .name = "samples_scratch",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
