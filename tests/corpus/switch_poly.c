// Control flow of every shape over a small virtual machine on doubles: a switch in a loop with fall-through, early return,
// loops left by several exits, do-while, nested loops whose trip counts come from data or change on the way, loops that
// run zero times, goto out of a nest.
#include "corpus.h"

enum { HALT, ADD, MULTIPLY, SINE_ADD, LOOP_POWER, DIVIDE, TRIANGLE, SEARCH, COUNTDOWN };

// Runs the program on register r and memory m; an early return on HALT.
static double run(const int *program, int length, double r, double *m, int cells)
{
    for (int at = 0; at < length; at++) {
        int cell = (7 * at) % cells;
        switch (program[at]) {
        case HALT:
            return r * m[0];
        case SINE_ADD:
            r = sin(r);
            // fall through
        case ADD:
            r += m[cell];
            break;
        case MULTIPLY:
            r *= m[cell];
            m[cell] = 0.5 * r;
            break;
        case LOOP_POWER: {
            int times = at % 4; // zero at first
            double power = 1.0;
            while (times-- > 0)
                power *= m[cell];
            r += power;
            break;
        }
        case DIVIDE:
            if (fabs(m[cell]) < 0.1)
                continue;
            r /= m[cell];
            break;
        case TRIANGLE:
            for (int i = 0; i < cells; i++)
                for (int j = i; j < cells; j += 1 + i)
                    m[i] += 0.01 * m[j] * m[j];
            break;
        case SEARCH:
            for (int i = 0; i < cells; i++)
                for (int j = 0; j < cells; j++) {
                    if (m[i] * m[j] < -0.3) {
                        r += m[i] * m[i] * m[j];
                        goto found;
                    }
                    if (i + j > 2 * at)
                        break;
                    m[j] *= 1.01;
                }
            r -= 0.5;
        found:
            break;
        case COUNTDOWN:
            do {
                r *= 0.7;
                m[cell] += 0.1 * r;
            } while (fabs(r) > 1.0);
            break;
        default:
            return -r;
        }
    }
    double sum = 0.0;
    for (int i = 0; i < cells; i++)
        sum += m[i];
    return r * sum;
}

static double run_all(const int *program, const int *lengths, int programs, double r, double *m, int cells)
{
    double total = 0.0;
    for (int k = 0; k < programs; k++) {
        total += run(program, lengths[k], r, m, cells);
        program += lengths[k];
    }
    return total;
}

enum { CELLS = 6, SIZE = CELLS + 1, PROGRAMS = 6 };

static const int programs[] = {
    ADD, SINE_ADD, MULTIPLY, LOOP_POWER, TRIANGLE, SINE_ADD, LOOP_POWER, DIVIDE, COUNTDOWN, // runs to its end
    SEARCH, ADD, MULTIPLY, HALT, DIVIDE,                                                     // returns at HALT
    TRIANGLE, SEARCH, LOOP_POWER, LOOP_POWER, COUNTDOWN, 99, ADD,                            // returns at 99
    HALT,                                                                                    // returns at once
    MULTIPLY, MULTIPLY, COUNTDOWN, SEARCH, SEARCH, TRIANGLE, DIVIDE, SINE_ADD,
};
static const int lengths[PROGRAMS] = {9, 5, 7, 1, 0, 8};
static const double point[SIZE] = {0.8, -0.6, 1.3, 0.05, -0.9, 0.7, 1.7};
static double work[CELLS], shadow[CELLS];

static double value(const double *x)
{
    corpus_copy(work, x, CELLS);
    return run_all(programs, lengths, PROGRAMS, x[CELLS], work, CELLS);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, CELLS);
    corpus_copy(shadow, v, CELLS);
    return __enzyme_fwddiff((void *)run_all, enzyme_const, programs, enzyme_const, lengths, enzyme_const, PROGRAMS,
                            enzyme_dup, x[CELLS], v[CELLS], enzyme_dup, work, shadow, enzyme_const, CELLS);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, CELLS);
    corpus_zero(g, SIZE);
    g[CELLS] = __enzyme_autodiff((void *)run_all, enzyme_const, programs, enzyme_const, lengths, enzyme_const, PROGRAMS,
                                 enzyme_out, x[CELLS], enzyme_dup, work, g, enzyme_const, CELLS);
}

static void gradient_no_need(const double *x, double *g)
{
    corpus_copy(work, x, CELLS);
    corpus_zero(g, SIZE);
    g[CELLS] = __enzyme_autodiff((void *)run_all, enzyme_const, programs, enzyme_const, lengths, PROGRAMS, x[CELLS],
                                 enzyme_dupnoneed, work, g, CELLS);
}

// Each prefix of the first program by itself, the empty one included.
static int extra(void)
{
    int failed = 0;
    for (int length = 0; length <= lengths[0]; length++) {
        double g[SIZE], sides[2], step = 0x1p-17;
        corpus_copy(work, point, CELLS);
        corpus_zero(g, SIZE);
        g[CELLS] = __enzyme_autodiff((void *)run, enzyme_const, programs, length, point[CELLS], work, g, CELLS);
        for (int side = 0; side < 2; side++) {
            corpus_copy(work, point, CELLS);
            sides[side] = run(programs, length, point[CELLS] + (side ? -step : step), work, CELLS);
        }
        double difference = (sides[0] - sides[1]) / (2.0 * step);
        // Plain central differences: h^2 = 6e-11 and eps / h = 3e-11, with a margin.
        failed += corpus_check("switch_poly", "prefix of the first program",
                               corpus_relative(g[CELLS], difference, 1.0), 1e-7);
    }
    return failed;
}

static const struct corpus_problem problem = {
    .name = "switch_poly",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient with enzyme_dupnoneed", .gradient = gradient_no_need}},
    .extra = extra,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-12, // small enough that every branch stays the same
};

CORPUS_MAIN(&problem)
