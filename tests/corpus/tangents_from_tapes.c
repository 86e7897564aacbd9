// Tangents at the point of an augmented sweep, from its tape alone (__enzyme_fwdsplit): a Newton step by conjugate directions
// needs the tangent stiffness again and again where the stress was computed once. The primal arguments are null by then, as
// they are in libCEED's material models; the tape stays, so that several tangents and a reverse sweep follow each other.
//
// loss = sum w_k s_k: s the stress of a compressible Neo-Hookean solid, s = lambda log(J) C^-1 + mu (I - C^-1), of the strain
// of six components, at several points; and a scalar function of floats that are passed by value.
// Source: Holzapfel, Nonlinear Solid Mechanics, section 6.5.
#include "corpus.h"

enum { POINTS = 3, SIZE = 6 * POINTS + 2 };

extern int __enzyme_augmentsize(void *function, ...);
extern void __enzyme_augmentfwd_into(void *function, ...);
extern void __enzyme_fwdsplit(void *function, ...);
extern void __enzyme_reverse(void *function, ...);
extern int enzyme_allocated, enzyme_tape, enzyme_nofree, enzyme_width;

struct taken {
    void *tape;
    double value;
};
extern struct taken __enzyme_augmentfwd_double(void *function, ...);
extern double __enzyme_fwdsplit_double(void *function, ...);
struct pair {
    double a, b;
};
extern struct pair __enzyme_reverse_double(void *function, ...);

static void stress(double *s, double *strain, double lambda, double mu)
{
    double c[6], inverse[6];
    for (int i = 0; i < 6; i++)
        c[i] = 2.0 * strain[i] + (i < 3 ? 1.0 : 0.0);
    inverse[0] = c[1] * c[2] - c[3] * c[3];
    inverse[1] = c[0] * c[2] - c[4] * c[4];
    inverse[2] = c[0] * c[1] - c[5] * c[5];
    inverse[3] = c[4] * c[5] - c[0] * c[3];
    inverse[4] = c[3] * c[5] - c[1] * c[4];
    inverse[5] = c[3] * c[4] - c[2] * c[5];
    double det = c[0] * inverse[0] + c[5] * inverse[5] + c[4] * inverse[4], half = 0.5 * lambda * log(det);
    for (int i = 0; i < 6; i++)
        s[i] = (half - mu) * inverse[i] / det + (i < 3 ? mu : 0.0);
}

// The cube of a number, with rules of its own; tangents from a tape are made from the reverse one.
__attribute__((noinline)) static double cube(double x)
{
    return x * x * x;
}

struct with_tape {
    double *tape, value;
};

static struct with_tape cube_augmented(double x)
{
    static double kept; // each tape is used before the next one is made
    kept = x;
    return (struct with_tape){&kept, x * x * x};
}

static double cube_reversed(double x, double seed, double *tape)
{
    (void)x;
    return 3.0 * *tape * *tape * seed;
}

static double cube_tangent(double x, double dx, double *tape)
{
    (void)x;
    return 3.0 * *tape * *tape * dx;
}

void *__enzyme_register_gradient_cube[] = {(void *)cube, (void *)cube_augmented, (void *)cube_reversed};
void *__enzyme_register_splitderivative_cube[] = {(void *)cube, (void *)cube_augmented, (void *)cube_tangent};

static double energy(double x, double y)
{
    double sum = 0.0;
    for (int i = 1; i <= 4; i++) {
        x = sin(x * y) + 0.1 * i;
        sum += x * y * i;
    }
    return sum + cube(x);
}

static const double lambda = 1.3, mu = 0.7;
static double point[SIZE];

static double weight(int k)
{
    return 1.0 + 0.3 * (k % 5);
}

static void setup(void)
{
    corpus_seed(139);
    corpus_fill(point, SIZE, 0.02, 0.1);
    point[SIZE - 2] += 0.7;
    point[SIZE - 1] += 1.1;
}

static double value(const double *x)
{
    double sum = energy(x[SIZE - 2], x[SIZE - 1]), s[6], strain[6];
    for (int p = 0; p < POINTS; p++) {
        corpus_copy(strain, x + 6 * p, 6);
        stress(s, strain, lambda, mu);
        for (int i = 0; i < 6; i++)
            sum += weight(6 * p + i) * s[i];
    }
    return sum;
}

enum { BYTES = 512 };

static void augment(const double *x, double *s, char *tape)
{
    double strain[6];
    corpus_copy(strain, x, 6);
    int bytes = __enzyme_augmentsize((void *)stress, enzyme_dup, enzyme_dup, enzyme_const, enzyme_const);
    if (bytes > BYTES)
        abort();
    __enzyme_augmentfwd_into((void *)stress, enzyme_allocated, 24, enzyme_tape, tape, enzyme_nofree, s, (double *)NULL,
                             strain, (double *)NULL, enzyme_const, lambda, enzyme_const, mu);
}

static void discard(char *tape)
{
    double row[6] = {0.0}, seed[6] = {0.0};
    __enzyme_reverse((void *)stress, enzyme_allocated, 24, enzyme_tape, tape, (double *)NULL, seed, (double *)NULL, row,
                     enzyme_const, lambda, enzyme_const, mu);
}

// Twice from each tape, the first time along another direction.
static double tangent(const double *x, const double *v)
{
    double s[6], along[6], sum = 0.0;
    for (int p = 0; p < POINTS; p++) {
        char tape[BYTES];
        augment(x + 6 * p, s, tape);
        for (int twice = 0; twice < 2; twice++) {
            double ds[6] = {0.0};
            for (int i = 0; i < 6; i++)
                along[i] = twice ? v[6 * p + i] : 1.0;
            __enzyme_fwdsplit((void *)stress, enzyme_allocated, 24, enzyme_tape, tape, (double *)NULL, ds, (double *)NULL,
                              along, enzyme_const, lambda, enzyme_const, mu);
            for (int i = 0; twice && i < 6; i++)
                sum += weight(6 * p + i) * ds[i];
        }
        discard(tape);
    }
    struct taken t = __enzyme_augmentfwd_double((void *)energy, x[SIZE - 2], x[SIZE - 1]);
    sum += __enzyme_fwdsplit_double((void *)energy, x[SIZE - 2], v[SIZE - 2], x[SIZE - 1], v[SIZE - 1], t.tape);
    __enzyme_reverse_double((void *)energy, x[SIZE - 2], x[SIZE - 1], 0.0, t.tape);
    return sum;
}

// The columns of the stiffness in two lanes: what the loss weighs of each is its derivative by that strain.
static void gradient(const double *x, double *g)
{
    double s[6];
    for (int p = 0; p < POINTS; p++) {
        char tape[BYTES];
        double strain[6];
        corpus_copy(strain, x + 6 * p, 6);
        __enzyme_augmentfwd_into((void *)stress, enzyme_width, 2, enzyme_tape, tape, s, (double *)NULL, (double *)NULL, strain,
                                 (double *)NULL, (double *)NULL, enzyme_const, lambda, enzyme_const, mu);
        for (int column = 0; column < 6; column += 2) {
            double ds[2][6] = {{0.0}}, along[2][6] = {{0.0}};
            along[0][column] = along[1][column + 1] = 1.0;
            __enzyme_fwdsplit((void *)stress, enzyme_width, 2, enzyme_tape, tape, s, ds[0], ds[1], strain, along[0], along[1],
                              enzyme_const, lambda, enzyme_const, mu);
            for (int lane = 0; lane < 2; lane++) {
                g[6 * p + column + lane] = 0.0;
                for (int i = 0; i < 6; i++)
                    g[6 * p + column + lane] += weight(6 * p + i) * ds[lane][i];
            }
        }
        double rows[2][6] = {{0.0}}, seeds[2][6] = {{0.0}};
        __enzyme_reverse((void *)stress, enzyme_width, 2, enzyme_tape, tape, s, seeds[0], seeds[1], strain, rows[0], rows[1],
                         enzyme_const, lambda, enzyme_const, mu);
    }
    struct taken t = __enzyme_augmentfwd_double((void *)energy, x[SIZE - 2], x[SIZE - 1]);
    g[SIZE - 2] = __enzyme_fwdsplit_double((void *)energy, x[SIZE - 2], 1.0, x[SIZE - 1], 0.0, t.tape);
    g[SIZE - 1] = __enzyme_fwdsplit_double((void *)energy, x[SIZE - 2], 0.0, x[SIZE - 1], 1.0, t.tape);
    __enzyme_reverse_double((void *)energy, x[SIZE - 2], x[SIZE - 1], 0.0, t.tape);
}

static const struct corpus_problem problem = {
    .name = "tangents_from_tapes",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
