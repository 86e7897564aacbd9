// std::vector by reference with its shadow vector: resize, insert, erase and reserve in the primal. A polymer chain:
// beads are inserted at midpoints, the ends are erased, the energy is that of springs and bending.
//
// corpus: libc++ O0 O2
#include <vector>

#include "corpus.hpp"

static double chain_energy(const std::vector<double> &heights, double stiffness)
{
    std::vector<double> beads = heights;
    beads.reserve(2 * heights.size());
    for (size_t i = 1; i < beads.size(); i += 2)
        beads.insert(beads.begin() + (std::ptrdiff_t)i, 0.5 * (beads[i - 1] + beads[i]) + 0.1 * sin(beads[i]));
    beads.erase(beads.begin());
    beads.resize(beads.size() + 1, 0.25 * beads.front());
    double energy = 0.0;
    for (size_t i = 1; i < beads.size(); i++)
        energy += 0.5 * stiffness * (beads[i] - beads[i - 1]) * (beads[i] - beads[i - 1]);
    for (size_t i = 2; i < beads.size(); i++) {
        double bend = beads[i] - 2.0 * beads[i - 1] + beads[i - 2];
        energy += 0.1 * bend * bend * bend * bend;
    }
    return energy;
}

enum { COUNT = 7, SIZE = COUNT + 1 };
static double point[SIZE];

static void setup()
{
    corpus_seed(11);
    corpus_fill(point, SIZE, 0.2, 1.5);
}

static double value(const double *x)
{
    return chain_energy(std::vector<double>(x, x + COUNT), x[COUNT]);
}

static double tangent(const double *x, const double *v)
{
    std::vector<double> heights(x, x + COUNT), moved(v, v + COUNT);
    return __enzyme_fwddiff<double>((void *)chain_energy, enzyme_dup, &heights, &moved, enzyme_dup, x[COUNT], v[COUNT]);
}

static void gradient(const double *x, double *g)
{
    std::vector<double> heights(x, x + COUNT), shadow(COUNT, 0.0);
    g[COUNT] = __enzyme_autodiff<double>((void *)chain_energy, enzyme_dup, &heights, &shadow, enzyme_out, x[COUNT]);
    corpus_copy(g, shadow.data(), COUNT);
}

static const corpus_problem problem = {.name = "std_vector_sim",
                                       .size = SIZE,
                                       .point = point,
                                       .setup = setup,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
