// corpus: levels O0 O2
// Boost.Odeint, modified midpoint by hand-driven do_step on a std::vector state with a lambda: Lotka-Volterra with
// three species, and an observer that sums.
#include <boost/numeric/odeint/stepper/modified_midpoint.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_cash_karp54.hpp>
#include <vector>

#include "corpus.hpp"

namespace odeint = boost::numeric::odeint;
using State = std::vector<double>;

static double biomass(const double *x)
{
    State s(x, x + 3);
    auto rate = [x](const State &u, State &du, double) {
        du[0] = u[0] * (x[3] - u[1] - 0.1 * u[2]);
        du[1] = u[1] * (x[4] * u[0] - 0.5 - u[2]);
        du[2] = u[2] * (x[5] * u[1] - 0.3);
    };
    odeint::runge_kutta_cash_karp54<State> stepper;
    double sum = 0.0, t = 0.0;
    for (int i = 0; i < 12; i++, t += 0.1) {
        stepper.do_step(rate, s, t, 0.1);
        sum += s[0] + 2.0 * s[1] + 3.0 * s[2];
    }
    odeint::modified_midpoint<State> midpoint(4);
    midpoint.do_step(rate, s, t, 0.2);
    return sum / 12.0 + s[0] * s[2];
}

static double point[6] = {1.1, 0.7, 0.5, 0.9, 0.8, 0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("odeint_vector", biomass, 6, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
