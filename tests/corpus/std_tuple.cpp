// std::tuple and std::pair returned by value, structured bindings, std::tie and std::apply: a Kalman filter of position
// and velocity with scalar measurements; the log-likelihood with respect to noise and initial state.
//
// corpus: libc++ O0 O2
#include <tuple>
#include <utility>

#include "corpus.hpp"

using Covariance = std::tuple<double, double, double>;

static std::pair<double, double> predict_mean(double position, double velocity, double dt)
{
    return {position + dt * velocity, 0.98 * velocity};
}

static Covariance predict_covariance(const Covariance &p, double dt, double noise)
{
    const auto &[xx, xv, vv] = p;
    return {xx + 2.0 * dt * xv + dt * dt * vv + 0.25 * noise * dt * dt, 0.98 * (xv + dt * vv) + 0.5 * noise * dt,
            0.98 * 0.98 * vv + noise};
}

static double log_likelihood(const double *x)
{
    double position = x[0], velocity = x[1], total = 0.0;
    Covariance p{1.0, 0.1, 0.5};
    for (int step = 0; step < 15; step++) {
        std::tie(position, velocity) = predict_mean(position, velocity, 0.2);
        p = predict_covariance(p, 0.2, exp(x[2]));
        auto [xx, xv, vv] = p;
        double innovation = sin(0.3 * step) - position, variance = xx + exp(x[3]);
        double gain = xx / variance, drift = xv / variance;
        position += gain * innovation;
        velocity += drift * innovation;
        p = std::make_tuple((1.0 - gain) * xx, (1.0 - gain) * xv, vv - drift * xv);
        total -= 0.5 * (log(variance) + innovation * innovation / variance);
    }
    return total + 0.01 * std::apply([](double a, double b, double c) { return a * c - b * b; }, p);
}

static double point[4] = {0.3, 0.8, -1.2, -0.7};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_tuple", log_likelihood, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
