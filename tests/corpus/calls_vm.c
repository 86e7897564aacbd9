// A stack machine: instructions are numbers, each with an operand, run through a table of functions. The program is that of
// a polynomial in Horner's form, of a rational function and of a damped wave, after each other; what it computes with are
// the constants of a pool, which are active. Unused instructions are in the table, too.
#include "corpus.h"

enum { DEPTH = 8, POOL = CORPUS_SIZE(12, 8), OPCODES = 9, N = POOL };

struct machine {
    double *stack;
    const double *pool;
    int top;
};

static void op_push(struct machine *m, int k)
{
    m->stack[m->top++] = m->pool[k % POOL];
}

static void op_add(struct machine *m, int k)
{
    (void)k;
    m->top--;
    m->stack[m->top - 1] += m->stack[m->top];
}

static void op_multiply(struct machine *m, int k)
{
    (void)k;
    m->top--;
    m->stack[m->top - 1] *= m->stack[m->top];
}

static void op_divide(struct machine *m, int k)
{
    (void)k;
    m->top--;
    m->stack[m->top - 1] /= 2.0 + m->stack[m->top] * m->stack[m->top];
}

static void op_swap(struct machine *m, int k)
{
    (void)k;
    double held = m->stack[m->top - 1];
    m->stack[m->top - 1] = m->stack[m->top - 2];
    m->stack[m->top - 2] = held;
}

static void op_duplicate(struct machine *m, int k)
{
    (void)k;
    m->stack[m->top] = m->stack[m->top - 1];
    m->top++;
}

static void op_sine(struct machine *m, int k)
{
    (void)k;
    m->stack[m->top - 1] = sin(m->stack[m->top - 1]);
}

static void op_decay(struct machine *m, int k)
{
    m->stack[m->top - 1] = exp(-0.1 * k * m->stack[m->top - 1]);
}

static void op_clear(struct machine *m, int k)
{
    m->top = 1;
    m->stack[0] = k;
}

static void (*const table[OPCODES])(struct machine *, int) = {
    op_push, op_add, op_multiply, op_divide, op_swap, op_duplicate, op_sine, op_decay, op_clear,
};

enum { PUSH, ADD, MULTIPLY, DIVIDE, SWAP, DUPLICATE, SINE, DECAY };

static const unsigned char code[][2] = {
    {PUSH, 0}, {PUSH, 1}, {MULTIPLY, 0}, {PUSH, 2}, {ADD, 0}, {PUSH, 1}, {MULTIPLY, 0}, {PUSH, 3}, {ADD, 0},
    {DUPLICATE, 0}, {PUSH, 4}, {SWAP, 0}, {DIVIDE, 0}, {PUSH, 5}, {MULTIPLY, 0}, {SINE, 0}, {SWAP, 0}, {DECAY, 3},
    {MULTIPLY, 0}, {PUSH, 6}, {DUPLICATE, 0}, {MULTIPLY, 0}, {ADD, 0}, {PUSH, 7}, {SINE, 0}, {DIVIDE, 0},
};

static double run(const double *pool)
{
    double stack[DEPTH] = {0.0};
    struct machine m = {stack, pool, 0};
    for (size_t i = 0; i < CORPUS_COUNT(code); i++)
        table[code[i][0]](&m, code[i][1]);
    return stack[0] * m.top;
}

static double point[N], shadow[N];

static void setup(void)
{
    corpus_seed(301);
    corpus_fill(point, N, 0.3, 1.2);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)run, enzyme_dup, x, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)run, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "calls_vm",
    .size = N,
    .point = point,
    .setup = setup,
    .value = run,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
