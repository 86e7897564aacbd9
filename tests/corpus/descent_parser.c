// Mutually recursive functions: an expression is evaluated while its string is parsed by recursive descent, without any
// tree, for rows of a data table; names are looked up among strings. Parameters and data are active.
#include "corpus.h"

struct input {
    const char *at;
    const char *const *names;
    const double *values;
    int count;
    int errors;
};

static double sum(struct input *in);

static void blanks(struct input *in)
{
    while (*in->at == ' ')
        in->at++;
}

static int accept(struct input *in, char c)
{
    blanks(in);
    if (*in->at != c)
        return 0;
    in->at++;
    return 1;
}

static double primary(struct input *in)
{
    char name[16];
    size_t length = 0;
    blanks(in);
    if (accept(in, '(')) {
        double inner = sum(in);
        if (!accept(in, ')'))
            in->errors++;
        return inner;
    }
    if (accept(in, '-'))
        return -primary(in);
    if ((*in->at >= '0' && *in->at <= '9') || *in->at == '.') {
        char *end;
        double number = strtod(in->at, &end);
        in->at = end;
        return number;
    }
    while (*in->at >= 'a' && *in->at <= 'z' && length < 15)
        name[length++] = *in->at++;
    name[length] = '\0';
    if (accept(in, '(')) {
        double argument = sum(in);
        accept(in, ')');
        if (!strcmp(name, "sin"))
            return sin(argument);
        if (!strcmp(name, "exp"))
            return exp(argument);
        if (!strcmp(name, "tanh"))
            return tanh(argument);
    } else {
        for (int i = 0; i < in->count; i++)
            if (!strcmp(name, in->names[i]))
                return in->values[i];
    }
    in->errors++;
    return 0.0;
}

static double product(struct input *in)
{
    double value = primary(in);
    for (;;) {
        if (accept(in, '*'))
            value *= primary(in);
        else if (accept(in, '/'))
            value /= primary(in);
        else
            return value;
    }
}

static double sum(struct input *in)
{
    double value = product(in);
    for (;;)
        if (accept(in, '+'))
            value += product(in);
        else if (accept(in, '-'))
            value -= product(in);
        else
            return value;
}

static double model_loss(const char *text, const char *const *names, const double *x, int rows, int columns)
{
    double loss = 0.0;
    for (int row = 0; row < rows; row++) {
        struct input in = {text, names, x + row * columns, columns, 0};
        double value = sum(&in);
        if (in.errors)
            return NAN;
        loss += value * value;
    }
    return loss / rows;
}

enum { ROWS = CORPUS_SIZE(20, 2), COLUMNS = 4, SIZE = ROWS * COLUMNS };

static double point[SIZE];
static const char *const names[COLUMNS] = {"speed", "load", "area", "bias"};
static const char text[] =
    "2.5 * speed - load * sin(area + 0.5) / (1 + speed*speed) + exp(-(load - .25)*bias) - tanh(bias*area)";

static void setup(void)
{
    corpus_seed(137);
    corpus_fill(point, SIZE, 0.2, 1.5);
}

static double value(const double *x)
{
    return model_loss(text, names, x, ROWS, COLUMNS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)model_loss, enzyme_const, text, enzyme_const, names, enzyme_dup, x, v, enzyme_const,
                            ROWS, enzyme_const, COLUMNS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)model_loss, enzyme_const, text, enzyme_const, names, enzyme_dup, x, g, enzyme_const, ROWS,
                      enzyme_const, COLUMNS);
}

static const struct corpus_problem problem = {
    .name = "descent_parser",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
