// corpus: valgrind
// Buffers that grow while they are filled: a list of numbers and an array of pointers to buffers, by realloc and
// reallocarray in a loop; one that shrinks; and one that is read by the same pointer as the caller's numbers.
#define _GNU_SOURCE
#include "corpus.h"

enum { SIZE = CORPUS_SIZE(40, 10) };

struct list {
    double *values;
    size_t count, room;
};

static void push(struct list *list, double value)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 1;
        list->values = realloc(list->values, list->room * sizeof(double));
    }
    list->values[list->count++] = value;
}

static double numbers(const double *x, int n)
{
    struct list list = {0};
    for (int i = 0; i < n; i++) {
        push(&list, x[i] * x[i]);
        if (i % 3 == 0)
            push(&list, sin(x[i]) * list.values[list.count / 2]);
        list.values[i / 2] *= 1.0 + 0.125 * x[i];
    }
    double sum = 0.0;
    for (size_t k = 0; k < list.count; k++)
        sum += list.values[k] * (double)(k + 1);
    free(list.values);
    return sum;
}

static double shrinking(const double *x, int n)
{
    double *values = malloc((size_t)n * sizeof(double)), sum = 0.0;
    for (int i = 0; i < n; i++)
        values[i] = exp(x[i]);
    while (n > 1) {
        for (int i = 0; i < n / 2; i++)
            values[i] = values[2 * i] * values[2 * i + 1] + values[i];
        n /= 2;
        values = realloc(values, (size_t)n * sizeof(double));
        sum += log(values[n - 1]);
    }
    sum += values[0] / (1.0 + values[0]);
    free(values);
    return sum;
}

static double rows(const double *x, int n)
{
    double **table = NULL, sum = 0.0;
    for (int i = 0; i < n; i++) {
        table = reallocarray(table, (size_t)i + 1, sizeof(double *));
        table[i] = malloc(2 * sizeof(double));
        table[i][0] = x[i] * x[i / 2];
        table[i][1] = i ? table[i - 1][0] + x[i] : x[0];
    }
    for (int i = 0; i < n; i++)
        sum += table[i][0] * table[n - 1 - i][1];
    for (int i = 0; i < n; i++)
        free(table[i]);
    free(table);
    return sum;
}

// One pointer goes now over the caller's numbers, now over those of a list that grows.
static double either(const double *x, int n)
{
    struct list list = {0};
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double *begin = i % 2 ? list.values : x, *end = begin + (i % 2 ? (int)list.count : n / 2);
        double part = 1.0;
        for (const double *p = begin; p < end; p++)
            part = 0.9 * part + *p;
        push(&list, sin(part) * x[i]);
        sum += part;
    }
    free(list.values);
    return sum;
}

static double grown_loss(const double *x, int n)
{
    return numbers(x, n) + shrinking(x, n) + rows(x, n) + either(x, n);
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return grown_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)grown_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)grown_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "memory_realloc",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
