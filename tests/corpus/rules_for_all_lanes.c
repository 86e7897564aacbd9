// Rules of a function that changes memory, for two lanes at once (enzyme_width): declared with two shadows behind each pointer, they are called once for both,
// so what the function changes they change once. A decaying state that is moved by inputs; the reverse rule frees its tape, which one lane alone could not.
//
// state_i <- state_i * tanh(x_i) + x_i, three times; out_k = sum_i w_ki state_i.
#include "corpus.h"

enum { SIZE = 7, STEPS = 3 };

extern int enzyme_width, enzyme_dup, enzyme_const;
struct lanes {
    double first, second;
};
extern struct lanes __enzyme_fwddiff_lanes(void *function, ...);
CORPUS_MARKER(void, __enzyme_autodiff_lanes)

static int calls;

__attribute__((noinline)) static void step(double *state, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        state[i] = state[i] * tanh(x[i]) + x[i];
}

static void step_forward(double *state, double *t0, double *t1, const double *x, const double *x0, const double *x1, int n)
{
    calls++;
    for (int i = 0; i < n; i++) {
        double slope = tanh(x[i]), more = state[i] * (1.0 - slope * slope) + 1.0;
        t0[i] = t0[i] * slope + x0[i] * more;
        t1[i] = t1[i] * slope + x1[i] * more;
    }
    step(state, x, n);
}

static double *step_augmented(double *state, double *a0, double *a1, const double *x, double *g0, double *g1, int n)
{
    (void)a0, (void)a1, (void)g0, (void)g1;
    double *kept = malloc((size_t)n * sizeof *kept);
    for (int i = 0; i < n; i++)
        kept[i] = state[i];
    step(state, x, n);
    return kept;
}

static void step_reverse(double *state, double *a0, double *a1, const double *x, double *g0, double *g1, int n, double *kept)
{
    (void)state;
    calls++;
    for (int i = 0; i < n; i++) {
        double slope = tanh(x[i]), more = kept[i] * (1.0 - slope * slope) + 1.0;
        g0[i] += a0[i] * more;
        g1[i] += a1[i] * more;
        a0[i] *= slope;
        a1[i] *= slope;
    }
    free(kept);
}

void *__enzyme_register_derivative_step[] = {(void *)step, (void *)step_forward};
void *__enzyme_register_gradient_step[] = {(void *)step, (void *)step_augmented, (void *)step_reverse};

static void weighted(const double *x, double *out)
{
    double state[SIZE];
    for (int i = 0; i < SIZE; i++)
        state[i] = x[i] * x[i];
    for (int n = 0; n < STEPS; n++)
        step(state, x, SIZE);
    for (int k = 0; k < 2; k++) {
        out[k] = 0.0;
        for (int i = 0; i < SIZE; i++)
            out[k] += (0.3 + 0.1 * ((i * 5 + k * 3) % 7)) * state[i];
    }
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(163);
    corpus_fill(point, SIZE, -0.9, 1.2);
}

static double value(const double *x)
{
    double out[2];
    weighted(x, out);
    return out[0] + 2.0 * out[1];
}

// A half and the whole of the direction.
static double tangent(const double *x, const double *v)
{
    double half[SIZE];
    for (int i = 0; i < SIZE; i++)
        half[i] = 0.5 * v[i];
    calls = 0;
    struct lanes t = __enzyme_fwddiff_lanes((void *)value, enzyme_width, 2, enzyme_dup, x, half, v);
    return calls == STEPS ? t.first + 0.5 * t.second : NAN;
}

static void gradient(const double *x, double *g)
{
    double out[2], g0[SIZE] = {0.0}, g1[SIZE] = {0.0}, seed0[2] = {1.0, 0.0}, seed1[2] = {0.0, 1.0};
    calls = 0;
    __enzyme_autodiff_lanes((void *)weighted, enzyme_width, 2, enzyme_dup, x, g0, g1, enzyme_dup, out, seed0, seed1);
    for (int i = 0; i < SIZE; i++)
        g[i] = calls == STEPS ? g0[i] + 2.0 * g1[i] : NAN;
}

static const struct corpus_problem problem = {
    .name = "rules_for_all_lanes",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
