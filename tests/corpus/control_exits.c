// Ways out of loops and functions: returns everywhere, infinite loops that are left by break, trip counts that wrap around,
// a state machine, calls that never return, loops that nothing leaves on ways that are not taken.
#include "corpus.h"

enum { SIZE = 6 };
static double point[SIZE];

static double early(const double *x, int n)
{
    if (n < 1)
        return 0.0;
    if (x[0] > 5.0)
        return x[0];
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        if (x[i] < -0.8)
            return s * x[i];
        for (int j = 0; j < i; j++) {
            s += x[i] * x[j];
            if (s > 0.9)
                return s * 2.0;
            if (s < -30.0)
                exit(3);
        }
        if (s > 0.5)
            return sin(s) + x[n - 1];
    }
    return s;
}

static double infinite(const double *x, int n)
{
    double s = 1.0;
    for (int i = 0;; i++) {
        s = s * 1.1 + x[i % n] * s;
        if (s > 20.0 || i > 100)
            break;
        if (s < 0.01) {
            s += 1.0;
            continue;
        }
    }
    return s;
}

// The counter starts just below 2^32.
static double wrapping(const double *x, unsigned n)
{
    double s = 0.0;
    for (unsigned i = -n; i != 2u; i++)
        s = s * x[(i + n) % n] + cos(x[(i + n) % n]);
    for (unsigned char k = 250; k > 5; k++)
        s += 0.01 * x[k % n];
    return s;
}

static double machine(const double *x, int n)
{
    int state = 0;
    double s = 1.0;
    for (int i = 0;;) {
        switch (state) {
        case 0:
            s += x[i % n];
            state = 1;
            break;
        case 1:
            s *= x[i % n];
            state = i % 3 ? 2 : 3;
            i++;
            break;
        case 2:
            if (i > 2 * n)
                return s * s;
            state = 0;
            s = sin(s);
            break;
        case 3:
            s -= x[i % n] * x[i % n];
            state = 2;
            continue;
        default:
            abort();
        }
        if (i > 3 * n)
            return s;
    }
}

#ifdef __GNUC__
__attribute__((noinline, noreturn))
#endif
static void
fail(double x)
{
    printf("too large: %g\n", x);
    exit(2);
}

static double guarded(const double *x, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        if (x[i] > 1e6)
            fail(x[i]);
        if (x[i] < -1e6)
            for (;;)
                printf("never");
        s += x[i] * x[i];
        if (!(s < 1e9))
            abort();
    }
    return s;
}

static double all(const double *x)
{
    double y[SIZE], s = 0.0;
    for (int sign = 0; sign < 2; sign++) {
        for (int i = 0; i < SIZE; i++)
            y[i] = sign ? -x[i] : x[i];
        for (int n = 1; n <= SIZE; n++)
            s += early(y, n) + infinite(y, n) + wrapping(y, (unsigned)n) + machine(y, n) + guarded(y, n);
    }
    return s;
}

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, -0.9, 0.9);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)all, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff_void((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "control_exits",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-12, // small enough that every branch stays the same
};

CORPUS_MAIN(&problem)
