// corpus: valgrind
// Vectors with a reference count in a header in front of the data, as scripting languages keep them: shared without
// copying, copied before writing when shared, freed with the last reference. A small recurrence is computed with such
// vectors.
#include "corpus.h"

struct header {
    int references;
    int length;
};

typedef double *vector; // points behind its header

static struct header *header_of(vector v)
{
    return (struct header *)(void *)v - 1;
}

static vector vector_new(int length)
{
    struct header *h = calloc(1, sizeof(struct header) + sizeof(double) * (size_t)length);
    h->references = 1;
    h->length = length;
    return (vector)(void *)(h + 1);
}

static vector retain(vector v)
{
    header_of(v)->references++;
    return v;
}

static void release(vector v)
{
    if (--header_of(v)->references == 0)
        free(header_of(v));
}

static vector writable(vector v)
{
    struct header *h = header_of(v);
    if (h->references == 1)
        return v;
    vector copy = vector_new(h->length);
    memcpy(copy, v, sizeof(double) * (size_t)h->length);
    release(v);
    return copy;
}

static vector axpy(double a, vector x, vector y)
{
    y = writable(y);
    for (int i = 0; i < header_of(y)->length; i++)
        y[i] += a * x[i];
    return y;
}

static vector rotate(vector v)
{
    v = writable(v);
    int last = header_of(v)->length - 1;
    double first = v[0];
    for (int i = 0; i < last; i++)
        v[i] = v[i + 1];
    v[last] = first;
    return v;
}

static double recurrence_loss(const double *x, int length, int rounds)
{
    vector state = vector_new(length), history[16];
    double loss = 0.0;
    memcpy(state, x, sizeof(double) * (size_t)length);
    for (int r = 0; r < rounds; r++) {
        history[r] = retain(state);
        state = r % 3 == 2 ? rotate(state) : axpy(0.3 * x[r], history[r / 2], state);
    }
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < length; i++)
            loss += history[r][i] * state[i] / (1 + r);
        release(history[r]);
    }
    release(state);
    return loss;
}

enum { SIZE = CORPUS_SIZE(20, 12), ROUNDS = CORPUS_SIZE(12, 5) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(198);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return recurrence_loss(x, SIZE, ROUNDS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)recurrence_loss, enzyme_dup, x, v, enzyme_const, SIZE, enzyme_const, ROUNDS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)recurrence_loss, enzyme_dup, x, g, enzyme_const, SIZE, enzyme_const, ROUNDS);
}

static const struct corpus_problem problem = {
    .name = "refcount",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
