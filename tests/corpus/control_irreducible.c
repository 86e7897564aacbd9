// Loops that are entered in the middle: goto into a loop, Duff's device, a coroutine that is a switch with its cases in a
// loop, three labels that all lead to each other.
#include "corpus.h"

enum { SIZE = 7 };
static double point[SIZE];

// The loop is entered at its middle, or at its start.
static double middle(const double *x, int n)
{
    double s = 0.0;
    int i = 0;
    if (x[0] > 0.0)
        goto middle;
    for (i = 0; i < n; i++) {
        s += sin(x[i]);
    middle:
        s = s * x[i] + 1.0;
    }
    return s;
}

static double duff(const double *x, int n)
{
    double s = 0.5;
    int i = 0, rounds = (n + 3) / 4;
    switch (n % 4) {
    case 0:
        do {
            s += x[i] * x[i];
            i++;
            // fall through
        case 3:
            s *= x[i];
            i++;
            // fall through
        case 2:
            s += x[i];
            i++;
            // fall through
        case 1:
            s += sin(x[i]) * s;
            i++;
        } while (--rounds > 0);
    }
    return s;
}

struct coroutine {
    int state, i;
    double sum;
};

// Goes on where it left off, which may be in the loop.
static double resume(struct coroutine *c, const double *x, int n)
{
    switch (c->state) {
    case 0:
        for (c->i = 0; c->i < n; c->i++) {
            c->sum += x[c->i];
            c->state = 1;
            return c->sum;
        case 1:
            c->sum *= 1.1;
            if (c->sum > 1.0) {
                c->state = 2;
                return c->sum * x[c->i];
            case 2:
                c->sum -= 0.3;
            }
        }
    }
    c->state = -1;
    return 0.0;
}

static double drive(const double *x, int n)
{
    struct coroutine c = {0, 0, 0.0};
    double s = 0.0;
    for (;;) {
        double v = resume(&c, x, n);
        if (c.state < 0)
            return s;
        s += v * v;
    }
}

// Every label can be the first, and each follows each.
static double labels(const double *x, int n)
{
    double s = 1.0;
    int i = 0;
    switch (n % 4) {
    case 0:
        goto add;
    case 1:
        goto scale;
    case 2:
        goto bend;
    default:
        goto square;
    }
add:
    s += x[i % n];
scale:
    s *= x[(i + 1) % n] + 1.0;
bend:
    s = sin(s);
    if (i > 9)
        return s;
square:
    s -= x[i % n] * x[i % n];
    i++;
    if (i % 5 == 2)
        goto scale;
    if (i % 7 == 3)
        goto bend;
    goto add;
}

// Two loops, one in the other, both entered from outside by one jump.
static double nested(const double *x, int n)
{
    double s = 1.0;
    int i = 0, j = 0;
    if (x[0] > 0.0)
        goto inside;
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            s += x[i] * x[j] * 0.1;
            if (s > 9.0)
                break;
        inside:
            s *= 1.0 + x[j] * 0.2;
        }
        s = sin(s) + x[i];
    }
    return s;
}

static double all(const double *x)
{
    double y[SIZE], s = 0.0;
    for (int sign = 0; sign < 2; sign++) {
        for (int i = 0; i < SIZE; i++)
            y[i] = sign ? -x[i] : x[i];
        for (int n = 3; n <= SIZE; n++)
            s += middle(y, n) + duff(y, n) + drive(y, n) + labels(y, n) + nested(y, n);
    }
    return s;
}

static void setup(void)
{
    corpus_seed(31);
    corpus_fill(point, SIZE, 0.2, 0.9);
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
    .name = "control_irreducible",
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
