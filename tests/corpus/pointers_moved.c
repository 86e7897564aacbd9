// A list of elements of a size that only the run knows, as the containers of dynamic languages are: elements are inserted before others and
// taken out, by moves of so many bytes. Its elements are pointers to samples here; a second list holds the samples' numbers.
#include "corpus.h"

enum { N = CORPUS_SIZE(8, 5) };

struct list {
    char *data;
    size_t length;
    unsigned short size;
};

__attribute__((noinline)) static struct list *make(size_t room, unsigned short size)
{
    struct list *l = malloc(sizeof *l);
    *l = (struct list){calloc(room, size), 0, size};
    return l;
}

static void *open_at(struct list *l, size_t at)
{
    char *place = l->data + at * l->size;
    memmove(place + l->size, place, (l->length - at) * l->size);
    l->length++;
    return place;
}

static void erase_at(struct list *l, size_t at)
{
    char *place = l->data + at * l->size;
    l->length--;
    memmove(place, place + l->size, (l->length - at) * l->size);
}

static double run(const double *x)
{
    struct list *samples = make(N + 1, sizeof(double *)), *numbers = make(N + 1, sizeof(long));
    for (long i = 0; i < N; i++) {
        size_t at = (size_t)(i % 3 == 0 ? 0 : i / 2);
        *(const double **)open_at(samples, at) = x + i;
        *(long *)open_at(numbers, at) = i;
    }
    double sum = 0.0;
    while (samples->length > 1) {
        size_t at = samples->length / 3;
        const double *a = ((const double **)samples->data)[at], *b = ((const double **)samples->data)[at + 1];
        sum += *a * sin(*b) * (double)(1 + ((long *)numbers->data)[at]);
        erase_at(samples, at);
        erase_at(numbers, at);
    }
    sum += **(const double **)samples->data * sum;
    free(samples->data);
    free(samples);
    free(numbers->data);
    free(numbers);
    return sum;
}

static double point[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.25 + 0.125 * ((3 * i + 2) % N) + 0.015625 * i;
}

static double value(const double *x)
{
    return run(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)run, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)run, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "pointers_moved",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
