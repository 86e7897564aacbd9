// Several threads run a derivative on the same adjoints: sums in memory are atomic.
#include "corpus.h"

#ifndef CORPUS_SMALL
#include <pthread.h>
#endif

enum { SIZE = CORPUS_SIZE(12, 4), TERMS = CORPUS_SIZE(2000, 40), THREADS = 4 };

// Each term reads all of x through a copy and a structure.
struct pair {
    double a, b;
};

static double share(const double *x, int n, int from)
{
    double sum = 0.0, local[SIZE];
    for (int t = from; t < TERMS; t += THREADS) {
        memcpy(local, x, sizeof local);
        const struct pair p = *(const struct pair *)(x + t % (n - 1));
        sum += p.a * p.a * p.b;
        for (int i = 0; i < n; i++)
            sum += local[i] * x[(i + t) % n] / TERMS;
    }
    return sum / TERMS;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(11);
    corpus_fill(point, SIZE, 0.4, 1.2);
}

static double value(const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < THREADS; k++)
        sum += share(x, SIZE, k);
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0;
    for (int k = 0; k < THREADS; k++)
        sum += __enzyme_fwddiff((void *)share, enzyme_dup, x, v, enzyme_const, SIZE, enzyme_const, k);
    return sum;
}

struct job {
    const double *x;
    double *g;
    int from;
};

static void *work(void *given)
{
    struct job *job = given;
    __enzyme_autodiff((void *)share, enzyme_atomic_add, enzyme_dup, job->x, job->g, enzyme_const, SIZE, enzyme_const, job->from);
    return NULL;
}

static void gradient(const double *x, double *g)
{
    struct job jobs[THREADS];
    corpus_zero(g, SIZE);
#ifdef CORPUS_SMALL
    // For an engine without threads.
    for (int k = 0; k < THREADS; k++) {
        jobs[k] = (struct job){x, g, k};
        work(&jobs[k]);
    }
#else
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++) {
        jobs[k] = (struct job){x, g, k};
        if (pthread_create(&threads[k], NULL, work, &jobs[k]))
            abort();
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
#endif
}

static const struct corpus_problem problem = {
    .name = "adjoints_of_threads",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
