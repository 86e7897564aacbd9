// A calculator in reverse Polish notation: a string of letters (variables), digits and operators, and a stack of fixed
// depth. The same program text is run for several rows of variables; `!` stores into a register, `?` fetches it.
#include "corpus.h"

enum { DEPTH = 16 };

struct machine {
    double stack[DEPTH];
    int top;
    double registers[3];
};

static void push(struct machine *m, double value)
{
    if (m->top < DEPTH)
        m->stack[m->top++] = value;
}

static double pop(struct machine *m)
{
    return m->top > 0 ? m->stack[--m->top] : 0.0;
}

static double run_program(const char *program, const double *variables)
{
    struct machine m = {.top = 0};
    for (const char *c = program; *c; c++) {
        double a, b;
        if (*c >= 'a' && *c <= 'j') {
            push(&m, variables[*c - 'a']);
            continue;
        }
        if (*c >= '0' && *c <= '9') {
            push(&m, *c - '0');
            continue;
        }
        switch (*c) {
        case '+':
            b = pop(&m);
            a = pop(&m);
            push(&m, a + b);
            break;
        case '-':
            b = pop(&m);
            a = pop(&m);
            push(&m, a - b);
            break;
        case '*':
            b = pop(&m);
            a = pop(&m);
            push(&m, a * b);
            break;
        case '/':
            b = pop(&m);
            a = pop(&m);
            push(&m, a / b);
            break;
        case '^':
            b = pop(&m);
            a = pop(&m);
            push(&m, pow(a, b));
            break;
        case 's':
            push(&m, sin(pop(&m)));
            break;
        case 'q':
            push(&m, sqrt(pop(&m)));
            break;
        case 'x': // exchange
            b = pop(&m);
            a = pop(&m);
            push(&m, b);
            push(&m, a);
            break;
        case '"': // duplicate
            a = pop(&m);
            push(&m, a);
            push(&m, a);
            break;
        case '!':
            c++;
            m.registers[*c - '0'] = pop(&m);
            break;
        case '?':
            c++;
            push(&m, m.registers[*c - '0']);
            break;
        default:
            return NAN;
        }
    }
    return pop(&m);
}

static double table_loss(const char *program, const double *rows, int count, int columns)
{
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        double result = run_program(program, rows + i * columns);
        loss += result * result / count;
    }
    return loss;
}

enum { COLUMNS = 4, ROWS = CORPUS_SIZE(40, 2), SIZE = ROWS * COLUMNS };

static double point[SIZE];
static const char program[] = "ab+\"*!0cs?0d*+2^?0q/ab^x-\"!1?1*1+qad/+";

static void setup(void)
{
    corpus_seed(106);
    corpus_fill(point, SIZE, 0.4, 1.6);
}

static double value(const double *x)
{
    return table_loss(program, x, ROWS, COLUMNS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)table_loss, enzyme_const, program, enzyme_dup, x, v, enzyme_const, ROWS,
                            enzyme_const, COLUMNS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)table_loss, enzyme_const, program, enzyme_dup, x, g, enzyme_const, ROWS, enzyme_const,
                      COLUMNS);
}

static const struct corpus_problem problem = {
    .name = "rpn",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
