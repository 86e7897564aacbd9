// A state machine over a command string: turtle graphics with numbers, turns, repeats and a stack of saved positions,
// in the manner of L-systems. `F12` goes forward, `L`/`R` turn, `[`/`]` save and restore, `W` switches the pen's
// width.
//
//   loss = |end - target|^2 + sum over the strokes of width * length^2. Active: step, angle, decay, two widths
//
// Source: Prusinkiewicz, Lindenmayer, "The Algorithmic Beauty of Plants", section 1.3.
#include "corpus.h"

struct turtle {
    double x, y, heading, step;
    int pen;
};

enum state { COMMAND, COUNT_DIGITS, SKIP_COMMENT };

static double drawing_loss(const char *commands, const double *p)
{
    struct turtle turtle = {0.0, 0.0, 0.0, p[0], 0}, saved[8];
    int depth = 0, count = 0;
    char pending = 0;
    enum state state = COMMAND;
    double ink = 0.0;
    for (;;) {
        char c = *commands;
        switch (state) {
        case SKIP_COMMENT:
            if (c == ')')
                state = COMMAND;
            commands++;
            continue;
        case COUNT_DIGITS:
            if (c >= '0' && c <= '9') {
                count = 10 * count + (c - '0');
                commands++;
                continue;
            }
            for (int k = 0; k < count; k++) {
                if (pending == 'F') {
                    double length = turtle.step;
                    turtle.x += length * cos(turtle.heading);
                    turtle.y += length * sin(turtle.heading);
                    ink += p[3 + turtle.pen] * length * length;
                    turtle.step *= p[2];
                } else {
                    turtle.heading += pending == 'L' ? p[1] : -p[1];
                }
            }
            state = COMMAND;
            break;
        case COMMAND:
            break;
        }
        if (!c)
            break;
        commands++;
        switch (c) {
        case 'F':
        case 'L':
        case 'R':
            pending = c;
            count = 0;
            state = COUNT_DIGITS;
            break;
        case '[':
            saved[depth++] = turtle;
            break;
        case ']':
            turtle = saved[--depth];
            break;
        case 'W':
            turtle.pen ^= 1;
            break;
        case '(':
            state = SKIP_COMMENT;
        }
    }
    double dx = turtle.x - 2.0, dy = turtle.y - 1.0;
    return dx * dx + dy * dy + ink;
}

enum { SIZE = 5 };

static double point[SIZE] = {0.8, 0.35, 0.93, 0.2, 0.5};
static const char commands[] = "F3L2(trunk)[F2R1WF4[L3F1]R1F2]F1L1W[F3L1F3L1F2]R2F5(tip)L1F12";

static void setup(void)
{
}

static double value(const double *x)
{
    return drawing_loss(commands, x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)drawing_loss, enzyme_const, commands, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)drawing_loss, enzyme_const, commands, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "turtle",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
