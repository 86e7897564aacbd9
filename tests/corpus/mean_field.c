// Mean-field magnetisation of an Ising lattice with random couplings: damped fixed-point iteration until the change
// is small, then free energy. Neighbours come from an int table, spins are kept in two rows of one array that change
// roles.
// Source: Opper, Saad (eds.), "Advanced Mean Field Methods", chapter 2.
#include "corpus.h"

enum { SIDE = CORPUS_SIZE(8, 3), SPINS = SIDE * SIDE, SIZE = 3 * SPINS + 1 };

static int neighbour[SPINS][4], bond[SPINS][4];

static void make_lattice(void)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int i = y * SIDE + x, right = y * SIDE + (x + 1) % SIDE, down = (y + 1) % SIDE * SIDE + x;
            neighbour[i][0] = right;
            neighbour[right][2] = i;
            neighbour[i][1] = down;
            neighbour[down][3] = i;
            bond[i][0] = bond[right][2] = 2 * i;
            bond[i][1] = bond[down][3] = 2 * i + 1;
        }
}

static double field(const double *couplings, const double *fields, const double *m, int i)
{
    double h = fields[i];
    for (int k = 0; k < 4; k++)
        h += couplings[bond[i][k]] * m[neighbour[i][k]];
    return h;
}

static double free_energy(const double *couplings, const double *fields, double temperature, double damping)
{
    double m[2][SPINS], change, energy = 0.0;
    int now = 0, iterations = 0;
    for (int i = 0; i < SPINS; i++)
        m[0][i] = 0.1;
    do {
        change = 0.0;
        for (int i = 0; i < SPINS; i++) {
            double next = tanh(field(couplings, fields, m[now], i) / temperature);
            m[1 - now][i] = damping * m[now][i] + (1.0 - damping) * next;
            change = fmax(change, fabs(next - m[now][i]));
        }
        now = 1 - now;
    } while (change > 1e-13 && ++iterations < 300);
    for (int i = 0; i < SPINS; i++) {
        double s = m[now][i];
        energy -= 0.5 * s * (field(couplings, fields, m[now], i) + fields[i]);
        energy += 0.5 * temperature * ((1.0 + s) * log(0.5 + 0.5 * s) + (1.0 - s) * log(0.5 - 0.5 * s));
    }
    return energy / SPINS;
}

static double point[SIZE];

static void setup(void)
{
    make_lattice();
    corpus_seed(181);
    corpus_fill(point, 2 * SPINS, -0.4, 0.8);
    corpus_fill(point + 2 * SPINS, SPINS, -0.3, 0.5);
    point[3 * SPINS] = 1.7;
}

static double loss(const double *x)
{
    return free_energy(x, x + 2 * SPINS, x[3 * SPINS], 0.3);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "mean_field",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
