// Pointers to data members and to member functions in constant tables: sensitivities of a Michaelis-Menten cascade whose
// parameters are walked by member pointers.
#include "corpus.hpp"

struct Enzyme {
    double capacity, affinity, inhibition;

    double plain(double s) const { return capacity * s / (affinity + s); }
    double inhibited(double s) const { return capacity * s / (affinity + s + s * s * inhibition); }
};

using Law = double (Enzyme::*)(double) const;
static constexpr Law laws[2] = {&Enzyme::plain, &Enzyme::inhibited};
static constexpr double Enzyme::*fields[3] = {&Enzyme::capacity, &Enzyme::affinity, &Enzyme::inhibition};

static double flux(const double *x)
{
    Enzyme chain[2];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            chain[i].*fields[k] = x[3 * i + k];
    double s = x[6], total = 0.0;
    for (int step = 0; step < 10; step++) {
        double first = (chain[0].*laws[step % 2])(s);
        double second = (chain[1].*laws[1])(first);
        s -= 0.1 * first;
        total += 0.1 * second;
    }
    for (double Enzyme::*field : fields)
        total += 1e-2 * (chain[0].*field) * (chain[1].*field);
    return total;
}

static double point[7] = {1.0, 0.5, 0.3, 0.8, 0.4, 0.2, 1.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_member_pointers", flux, 7, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
