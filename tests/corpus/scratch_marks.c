// A stack-like scratch allocator, declared with the malloc attribute as is usual: work vectors are taken, a mark is
// set, and everything behind the mark is given back at once, so that the same bytes are handed out again. Statistics
// of residuals of two models, each with its own work vectors, by normal equations of two unknowns.
#include "corpus.h"

struct scratch {
    char *bytes;
    size_t used, room;
};

__attribute__((malloc, noinline)) static void *scratch_take(struct scratch *s, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (s->used + size > s->room)
        return NULL;
    s->used += size;
    return s->bytes + s->used - size;
}

static double model_loss(const double *t, const double *y, int count)
{
    struct scratch s = {malloc((size_t)(4 * count) * sizeof(double)), 0, (size_t)(4 * count) * sizeof(double)};
    double loss = 0.0;

    size_t mark = s.used;
    double *residual = scratch_take(&s, (size_t)count * sizeof(double));
    double tt = 0.0, ty = 0.0;
    for (int i = 0; i < count; i++) {
        tt += t[i] * t[i];
        ty += t[i] * y[i];
    }
    for (int i = 0; i < count; i++)
        residual[i] = y[i] - ty / tt * t[i];
    for (int i = 0; i < count; i++)
        loss += residual[i] * residual[i] * residual[count - 1 - i];
    s.used = mark;

    double *logs = scratch_take(&s, (size_t)count * sizeof(double));
    double *weights = scratch_take(&s, (size_t)count * sizeof(double));
    double sum = 0.0, mean = 0.0;
    for (int i = 0; i < count; i++) {
        logs[i] = log(1.0 + y[i] * y[i]);
        weights[i] = exp(-t[i]);
        sum += weights[i];
    }
    for (int i = 0; i < count; i++)
        mean += weights[i] * logs[i] / sum;
    for (int i = 0; i < count; i++)
        loss += weights[i] * (logs[i] - mean) * (logs[i] - mean);
    s.used = mark;

    free(s.bytes);
    return loss;
}

enum { COUNT = CORPUS_SIZE(40, 5), SIZE = 2 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(223);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return model_loss(x, x + COUNT, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)model_loss, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_const,
                            COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)model_loss, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "scratch_marks",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
