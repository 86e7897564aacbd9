// Rules for tangents on a tape (__enzyme_register_splitderivative): implicit time steps, whose augmented step keeps the factors of
// its matrix for all tangents at that point. A tridiagonal solve in place with a tape on the heap that the reverse rule frees and
// the tangents leave; a function with a tape by value; a root that has no rule but this one, on a tape in memory of the caller.
//
// x_n+1 solves (I + h A(x_n)) x = x_n, A = tridiag(-c, 2c, -c) with c = 1 + k sum x_n^2; loss = sum w log(1 + exp(x_N)) + x_N^3.
// Source: Griewank and Walther, Evaluating Derivatives, section 15.4 (implicit functions).
#include "corpus.h"

enum { CELLS = 6, STEPS = 3, SIZE = CELLS + 1 };

extern int enzyme_nofree, enzyme_tape, enzyme_dup, enzyme_const;
struct taken {
    void *tape;
    double value;
};
extern struct taken __enzyme_augmentfwd(void *function, ...);
extern double __enzyme_augmentfwd_into(void *function, ...);
extern int __enzyme_augmentsize(void *function, ...);
extern int enzyme_allocated, enzyme_out;
extern double __enzyme_fwdsplit(void *function, ...);
extern double __enzyme_reverse(void *function, ...);

// The root of y + y^3 = a + b: dy = (da + db) / (1 + 3 y^2).
__attribute__((noinline)) static double root(double a, double b)
{
    double y = 0.0;
    for (int i = 0; i < 60; i++)
        y -= (y + y * y * y - a - b) / (1.0 + 3.0 * y * y);
    return y;
}

struct root_kept {
    double *slope, value;
};

static struct root_kept root_augmented(double a, double b)
{
    static double kept[2]; // two roots on a tape, which is used before the next one is made
    static int next = 0;
    double y = root(a, b), *slope = &kept[next++ % 2];
    *slope = 1.0 / (1.0 + 3.0 * y * y);
    return (struct root_kept){slope, y};
}

static double root_tangent(double a, double da, double b, double db, double *slope)
{
    (void)a, (void)b;
    return *slope * (da + db);
}

void *__enzyme_register_splitderivative_root[] = {(void *)root, (void *)root_augmented, (void *)root_tangent};

// A tape by value: the slope.
__attribute__((noinline)) static double soft(double x)
{
    return log(1.0 + exp(x));
}

struct soft_kept {
    double slope, value;
};

static struct soft_kept soft_augmented(double x)
{
    return (struct soft_kept){1.0 / (1.0 + exp(-x)), soft(x)};
}

static struct soft_kept soft_tangent(double x, double dx, double slope)
{
    return (struct soft_kept){soft(x), slope * dx}; // the value and its tangent: rules may return both
}

static double soft_reverse(double x, double seed, double slope)
{
    (void)x;
    return slope * seed;
}

void *__enzyme_register_gradient_soft[] = {(void *)soft, (void *)soft_augmented, (void *)soft_reverse};
void *__enzyme_register_splitderivative_soft[] = {(void *)soft, (void *)soft_augmented, (void *)soft_tangent};

struct factors {
    double diagonal[CELLS], lower, x[CELLS];
};

static void factorise(struct factors *f, double c)
{
    const double h = 0.1;
    f->lower = -h * c;
    for (int i = 0; i < CELLS; i++)
        f->diagonal[i] = 1.0 + 2.0 * h * c - (i ? f->lower * f->lower / f->diagonal[i - 1] : 0.0);
}

static void substitute(const struct factors *f, double *x)
{
    for (int i = 1; i < CELLS; i++)
        x[i] -= f->lower / f->diagonal[i - 1] * x[i - 1];
    for (int i = CELLS - 1; i >= 0; i--)
        x[i] = (x[i] - (i < CELLS - 1 ? f->lower * x[i + 1] : 0.0)) / f->diagonal[i];
}

__attribute__((noinline)) static void solve(double *x, double c, int n)
{
    struct factors f;
    factorise(&f, c);
    for (int i = 0; i < n; i++)
        substitute(&f, x);
}

static struct factors *solve_augmented(double *x, double *dx, double c, int n)
{
    (void)dx;
    struct factors *f = malloc(sizeof *f);
    factorise(f, c);
    for (int i = 0; i < n; i++)
        substitute(f, x);
    corpus_copy(f->x, x, CELLS);
    return f;
}

// M x = x0 gives M dx = dx0 - dM x, dM = h dc tridiag(-1, 2, -1). (n = 1.)
static void solve_tangent(double *x, double *dx, double c, double dc, int n, struct factors *f)
{
    (void)x, (void)c, (void)n;
    const double h = 0.1;
    for (int i = 0; i < CELLS; i++)
        dx[i] -= h * dc * (2.0 * f->x[i] - (i ? f->x[i - 1] : 0.0) - (i < CELLS - 1 ? f->x[i + 1] : 0.0));
    substitute(f, dx);
}

// The matrix is symmetric: dx0 = M^-1 dx, dc -= dx0 . (dM/dc) x.
static double solve_reverse(double *x, double *dx, double c, int n, struct factors *f)
{
    (void)x, (void)c, (void)n;
    const double h = 0.1;
    double dc = 0.0;
    substitute(f, dx);
    for (int i = 0; i < CELLS; i++)
        dc -= h * dx[i] * (2.0 * f->x[i] - (i ? f->x[i - 1] : 0.0) - (i < CELLS - 1 ? f->x[i + 1] : 0.0));
    free(f);
    return dc;
}

void *__enzyme_register_gradient_solve[] = {(void *)solve, (void *)solve_augmented, (void *)solve_reverse};
void *__enzyme_register_splitderivative_solve[] = {(void *)solve, (void *)solve_augmented, (void *)solve_tangent};

static double steps(double *x, double k)
{
    double sum = 0.0, loss = 0.0;
    for (int n = 0; n < STEPS; n++) {
        double squares = 0.0;
        for (int i = 0; i < CELLS; i++)
            squares += x[i] * x[i];
        solve(x, 1.0 + k * squares, 1);
    }
    for (int i = 0; i < CELLS; i++) {
        sum += x[i] * x[i] * x[i];
        loss += (1.0 + 0.2 * i) * soft(x[i]);
    }
    return loss + sum;
}

static double rooted(double a, double b)
{
    double y = root(a * b, b);
    return sin(y) + root(y, a * a);
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(151);
    corpus_fill(point, SIZE, 0.4, 1.3);
}

static double value(const double *x)
{
    double state[CELLS];
    corpus_copy(state, x, CELLS);
    return steps(state, x[CELLS]) + rooted(x[0], x[CELLS]);
}

enum { BYTES = 256 };

// Nobody goes back on this tape, and nothing has to be given back: all of it lies in the caller's memory.
static void augment(const double *x, void **tape)
{
    int bytes = __enzyme_augmentsize((void *)rooted, enzyme_out, enzyme_out);
    if (bytes > BYTES)
        abort();
    __enzyme_augmentfwd_into((void *)rooted, enzyme_allocated, bytes, enzyme_tape, tape, x[0], x[CELLS]);
}

// One tape: tangents along the unit vectors, then along v, then back to nothing, which frees what the rules kept.
static double tangent(const double *x, const double *v)
{
    double state[CELLS], row[CELLS] = {0.0}, sum = 0.0, along = 0.0;
    corpus_copy(state, x, CELLS);
    struct taken t = __enzyme_augmentfwd((void *)steps, enzyme_dup, state, row, x[CELLS]);
    for (int j = 0; j < CELLS; j++) {
        double unit[CELLS] = {0.0};
        unit[j] = 1.0;
        sum += v[j] * __enzyme_fwdsplit((void *)steps, enzyme_dup, state, unit, x[CELLS], 0.0, t.tape);
    }
    corpus_copy(row, v, CELLS);
    along = __enzyme_fwdsplit((void *)steps, enzyme_dup, state, row, x[CELLS], v[CELLS], t.tape);
    corpus_fill(row, CELLS, 0.0, 0.0);
    sum += __enzyme_fwdsplit((void *)steps, enzyme_dup, state, row, x[CELLS], v[CELLS], t.tape);
    corpus_fill(row, CELLS, 0.0, 0.0);
    __enzyme_reverse((void *)steps, enzyme_dup, state, row, x[CELLS], 0.0, t.tape);
    void *tape[BYTES / sizeof(void *)];
    augment(x, tape);
    double both = __enzyme_fwdsplit((void *)rooted, enzyme_tape, tape, x[0], v[0], x[CELLS], v[CELLS]);
    return 0.5 * (sum + along) + both;
}

static void gradient(const double *x, double *g)
{
    double state[CELLS], row[CELLS] = {0.0};
    corpus_copy(state, x, CELLS);
    struct taken t = __enzyme_augmentfwd((void *)steps, enzyme_dup, state, row, x[CELLS]);
    g[CELLS] = __enzyme_reverse((void *)steps, enzyme_dup, state, row, x[CELLS], 1.0, t.tape);
    corpus_copy(g, row, CELLS);
    void *tape[BYTES / sizeof(void *)];
    augment(x, tape);
    g[0] += __enzyme_fwdsplit((void *)rooted, enzyme_tape, tape, x[0], 1.0, x[CELLS], 0.0);
    g[CELLS] += __enzyme_fwdsplit((void *)rooted, enzyme_tape, tape, x[0], 0.0, x[CELLS], 1.0);
}

static const struct corpus_problem problem = {
    .name = "rules_on_tapes",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
