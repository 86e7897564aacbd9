// An integrator of Fortran's, as f2c translates it: its state is one COMMON block, in which arrays of coefficients come
// first and counts last. Of an index into the arrays nobody says where they end; the counts are worked on, and copied
// to an array of the caller's. Source: Hindmarsh, "ODEPACK, a systematized collection of ODE solvers" (1983).
#include "corpus.h"

enum { N = 4, SIZE = 2 };

typedef int integer;
typedef double doublereal;

struct {
    doublereal rc, el[3], elco[9], h, tn;
    integer nst, nfe, nq, l, n;
} state_;

__attribute__((noinline)) static int coeffs_(doublereal *elco)
{
    static const doublereal given[9] = {1.0, 0.0, 0.0, 1.5, -0.5, 0.0, 23.0 / 12.0, -16.0 / 12.0, 5.0 / 12.0};
    for (integer i = 0; i < 9; i++)
        elco[i] = given[i];
    return 0;
}

// Procedures that are passed have arguments of whatever kinds.
typedef int (*u_fp)(void *, void *, void *, void *);

struct {
    u_fp f, solve;
} given_;

struct {
    doublereal p[3];
} pars_;

static int rates_(void *neq, void *t, void *y, void *d)
{
    const doublereal *at = t, *state = y;
    doublereal *rate = d;
    if (*(const integer *)neq != SIZE)
        return 1;
    rate[0] = state[1];
    rate[1] = -pars_.p[0] * sin(state[0]) - pars_.p[1] * state[1] + pars_.p[2] * cos(*at);
    return 0;
}

static int solve_diagonal_(void *wm, void *iwm, void *x, void *tem)
{
    const doublereal *w = wm;
    doublereal *unknown = x, *work = tem;
    const integer *place = iwm;
    for (integer i = 0; i < SIZE; i++)
        work[i] = unknown[i] / w[place[i]];
    for (integer i = 0; i < SIZE; i++)
        unknown[i] = work[i];
    return 0;
}

__attribute__((noinline)) static int order_(integer *nq)
{
    for (integer i = 0; i < state_.l; i++)
        state_.el[i] = state_.elco[i + (*nq - 1) * 3] * state_.rc;
    return 0;
}

__attribute__((noinline)) static int step_(integer *neq, doublereal *y, doublereal *yh, doublereal *wm, integer *iwm)
{
    doublereal tem[SIZE];
    for (integer j = 2; j > 0; j--)
        for (integer i = 0; i < state_.n; i++)
            yh[i + j * SIZE] = yh[i + (j - 1) * SIZE];
    given_.f(neq, &state_.tn, y, yh);
    given_.solve(wm, iwm, yh, tem);
    ++state_.nfe;
    order_(&state_.nq);
    for (integer j = 0; j < state_.l; j++)
        for (integer i = 0; i < state_.n; i++)
            y[i] += state_.h * state_.el[j] * yh[i + j * SIZE];
    state_.tn += state_.h;
    return 0;
}

__attribute__((noinline)) static int integrate_(u_fp f, integer *neq, doublereal *y, doublereal *tout,
                                                doublereal *rwork, integer *iwork)
{
    given_.f = f;
    given_.solve = solve_diagonal_;
    state_.n = neq[0];
    iwork[0] = 0;
    iwork[1] = 1;
    rwork[0] = 2.0;
    rwork[1] = state_.n * 0.75;
    state_.h = *tout / 40.0;
    state_.tn = 0.0;
    state_.rc = 1.0;
    state_.nst = state_.nfe = 0;
    state_.nq = state_.l = 1;
    coeffs_(state_.elco);
    while (state_.tn < *tout - 0.5 * state_.h) {
        step_(neq, y, &rwork[20], rwork, iwork);
        ++state_.nst;
        if (state_.nq < 3)
            ++state_.nq;
        state_.l = state_.nq;
    }
    rwork[10] = state_.h;
    iwork[10] = state_.nst;
    iwork[11] = state_.nfe;
    iwork[13] = state_.nq;
    return 0;
}

static double swing(const double *x)
{
    doublereal y[SIZE] = {x[3], 0.0}, tout = 2.0 + 0.1 * x[2], rwork[40] = {0.0};
    integer iwork[20] = {0}, neq[1] = {SIZE};
    for (integer i = 0; i < 3; i++)
        pars_.p[i] = x[i];
    integrate_(rates_, neq, y, &tout, rwork, iwork);
    return y[0] + 2.0 * y[1] + iwork[10] + rwork[10];
}

static double point[N] = {0.7, 1.3, 0.4, 2.1};

static double value(const double *x)
{
    return swing(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)swing, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)swing, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "common_state",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
