// corpus: levels O0 O2
// Boost.Odeint, a controlled Dormand-Prince stepper: the Van der Pol oscillator to tight tolerance. The derivative is
// that of the steps taken; it differs from that of finite differences, which may take other steps, by the tolerance.
#include <array>
#include <boost/numeric/odeint.hpp>

#include "corpus.hpp"

namespace odeint = boost::numeric::odeint;
using State = std::array<double, 2>;

static double amplitude(const double *x)
{
    State s = {x[0], x[1]};
    auto rate = [mu = x[2]](const State &u, State &du, double) {
        du[0] = u[1];
        du[1] = mu * (1.0 - u[0] * u[0]) * u[1] - u[0];
    };
    auto stepper = odeint::make_controlled<odeint::runge_kutta_dopri5<State>>(1e-10, 1e-10);
    odeint::integrate_adaptive(stepper, rate, s, 0.0, 1.5, 0.01);
    return s[0] * s[0] + 0.5 * s[1];
}

static double point[3] = {1.5, 0.3, 1.2};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("odeint_controlled", amplitude, 3, point, nullptr, .fd_tolerance = 1e-5, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
