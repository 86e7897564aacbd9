// A circuit read from a netlist text and solved by modified nodal analysis: resistors, sources and diodes; Newton
// iteration with voltage limiting, a dense matrix whose rows are pivoted through a permutation. Active: all element
// values.
// Source: Vlach, Singhal, "Computer Methods for Circuit Analysis and Design", chapters 4 and 12.
#include "corpus.h"

enum { NODES = 8, ELEMENTS = 16 };

struct element {
    char kind;
    unsigned char from, to;
    double value;
    double voltage; // of a diode, at the last iterate
};

struct circuit {
    int nodes, count;
    struct element element[ELEMENTS];
    double matrix[NODES][NODES + 1];
};

// "R12 V10 D30": kind and two nodes, values are taken in order.
static void read_netlist(struct circuit *c, const char *text, const double *values)
{
    memset(c, 0, sizeof(*c));
    while (*text) {
        if (*text == ' ' || *text == '\n') {
            text++;
            continue;
        }
        struct element *e = &c->element[c->count];
        e->kind = text[0];
        e->from = (unsigned char)(text[1] - '0');
        e->to = (unsigned char)(text[2] - '0');
        e->value = values[c->count++];
        if (e->from > c->nodes)
            c->nodes = e->from;
        if (e->to > c->nodes)
            c->nodes = e->to;
        text += 3;
    }
}

static void stamp(struct circuit *c, const struct element *e, double conductance, double current)
{
    int a = e->from - 1, b = e->to - 1, n = c->nodes;
    if (a >= 0) {
        c->matrix[a][a] += conductance;
        c->matrix[a][n] -= current;
    }
    if (b >= 0) {
        c->matrix[b][b] += conductance;
        c->matrix[b][n] += current;
    }
    if (a >= 0 && b >= 0) {
        c->matrix[a][b] -= conductance;
        c->matrix[b][a] -= conductance;
    }
}

static void solve(double m[NODES][NODES + 1], int n, double *x)
{
    int row[NODES];
    for (int i = 0; i < n; i++)
        row[i] = i;
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++)
            if (fabs(m[row[i]][k]) > fabs(m[row[k]][k])) {
                int t = row[i];
                row[i] = row[k];
                row[k] = t;
            }
        for (int i = k + 1; i < n; i++) {
            double f = m[row[i]][k] / m[row[k]][k];
            for (int j = k; j <= n; j++)
                m[row[i]][j] -= f * m[row[k]][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = m[row[i]][n];
        for (int j = i + 1; j < n; j++)
            x[i] -= m[row[i]][j] * x[j];
        x[i] /= m[row[i]][i];
    }
}

static double output_voltage(const char *netlist, const double *values, int output)
{
    struct circuit *c = malloc(sizeof(*c));
    double x[NODES], change;
    read_netlist(c, netlist, values);
    for (int iteration = 0; iteration < 80; iteration++) {
        memset(c->matrix, 0, sizeof(c->matrix));
        for (int i = 0; i < c->count; i++) {
            struct element *e = &c->element[i];
            switch (e->kind) {
            case 'R':
                stamp(c, e, 1.0 / e->value, 0.0);
                break;
            case 'I':
                stamp(c, e, 0.0, e->value);
                break;
            case 'V': // with a series resistance of 0.1
                stamp(c, e, 10.0, -10.0 * e->value);
                break;
            case 'D': {
                double current = 1e-6 * e->value * expm1(e->voltage / 0.05);
                double slope = 1e-6 * e->value / 0.05 * exp(e->voltage / 0.05) + 1e-9;
                stamp(c, e, slope, current - slope * e->voltage);
                break;
            }
            }
        }
        solve(c->matrix, c->nodes, x);
        change = 0.0;
        for (int i = 0; i < c->count; i++) {
            struct element *e = &c->element[i];
            if (e->kind != 'D')
                continue;
            double v = (e->from ? x[e->from - 1] : 0.0) - (e->to ? x[e->to - 1] : 0.0), step = v - e->voltage;
            if (step > 0.1)
                step = 0.1;
            e->voltage += step;
            change = fabs(step) > change ? fabs(step) : change;
        }
        if (change < 1e-14)
            break;
    }
    double result = x[output - 1] * x[output - 1];
    free(c);
    return result;
}

enum { SIZE = 9 };

static double point[SIZE] = {5.0, 120.0, 330.0, 1.2, 0.8, 470.0, 0.004, 1.0, 220.0};
static const char netlist[] = "V10 R12 R23 D20 D34\nR40 I30 D40 R14";

static void setup(void)
{
}

static double value(const double *x)
{
    return output_voltage(netlist, x, 4);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)output_voltage, enzyme_const, netlist, enzyme_dup, x, v, enzyme_const, 4);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)output_voltage, enzyme_const, netlist, enzyme_dup, x, g, enzyme_const, 4);
}

static const struct corpus_problem problem = {
    .name = "circuit",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 1024.0, // a current of 4 mA
};

CORPUS_MAIN(&problem)
