// corpus: levels O0 O3
// Boost.Odeint, runge_kutta4 with constant steps on a std::array state: a damped driven pendulum; the final energy with
// respect to start, damping and drive.
#include <array>
#include <boost/numeric/odeint/integrate/integrate_const.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta4.hpp>
#include <boost/numeric/odeint/algebra/array_algebra.hpp>

#include "corpus.hpp"

namespace odeint = boost::numeric::odeint;
using State = std::array<double, 2>;

struct Pendulum {
    double damping, drive, frequency;
    void operator()(const State &s, State &rate, double t) const
    {
        rate[0] = s[1];
        rate[1] = -sin(s[0]) - damping * s[1] + drive * cos(frequency * t);
    }
};

static double energy(const double *x)
{
    State s = {x[0], x[1]};
    odeint::runge_kutta4<State> stepper;
    odeint::integrate_const(stepper, Pendulum{x[2], x[3], x[4]}, s, 0.0, 2.0, 0.05);
    return 0.5 * s[1] * s[1] + 1.0 - cos(s[0]);
}

static double point[5] = {0.8, 0.1, 0.2, 0.5, 1.3};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("odeint_rk4", energy, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
