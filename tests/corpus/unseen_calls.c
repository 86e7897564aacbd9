// corpus: native
// Functions without a body here that have no way to the active data: one that calls back what fills a table, one that is to
// call a function at the end of the process, a handler of signals.
#include <pthread.h>
#include <signal.h>

#include "corpus.h"

static double table[4];
static pthread_once_t filled = PTHREAD_ONCE_INIT;
static int begun;

static void fill(void)
{
    for (int i = 0; i < 4; i++)
        table[i] = 1.0 + i * i;
}

static void leave(void) {}

static double tabled(double x)
{
    double state = x * x;
    if (!begun) {
        begun = 1;
        atexit(leave);
        signal(SIGUSR1, SIG_IGN);
    }
    pthread_once(&filled, fill);
    for (int i = 0; i < 4; i++)
        state = sin(state) + table[i] * x;
    return state;
}

static double point[1] = {0.7};

static double value(const double *x)
{
    return tabled(x[0]);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)tabled, x[0], v[0]);
}

static void gradient(const double *x, double *g)
{
    g[0] = __enzyme_autodiff((void *)tabled, x[0]);
}

static const struct corpus_problem problem = {
    .name = "unseen_calls", .size = 1, .point = point, .value = value, .tangent = tangent, .gradient = gradient};

CORPUS_MAIN(&problem)
