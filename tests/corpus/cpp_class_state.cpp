// A solver object with state, given as an active object with its shadow: `run` is a member function that changes its
// members, which are then read by the caller. PID control of a heated tank.
#include "corpus.hpp"

class Tank
{
  public:
    double temperature, gain, integral_gain, loss;

    double run(int steps, double target)
    {
        double integral = 0.0, cost = 0.0;
        for (int i = 0; i < steps; i++) {
            double error = target - temperature;
            integral += 0.1 * error;
            double power = gain * error + integral_gain * integral;
            temperature += 0.1 * (power - loss * temperature);
            cost += 0.1 * (error * error + 0.01 * power * power);
        }
        return cost;
    }
};

static double run(Tank *tank, int steps, double target)
{
    return tank->run(steps, target) + 0.5 * tank->temperature;
}

static double point[5] = {0.2, 1.5, 0.4, 0.3, 1.1};

static double value(const double *x)
{
    Tank tank{x[0], x[1], x[2], x[3]};
    return run(&tank, 25, x[4]);
}

static double tangent(const double *x, const double *v)
{
    Tank tank{x[0], x[1], x[2], x[3]}, moved{v[0], v[1], v[2], v[3]};
    return __enzyme_fwddiff<double>((void *)run, &tank, &moved, 25, x[4], v[4]);
}

static void gradient(const double *x, double *g)
{
    Tank tank{x[0], x[1], x[2], x[3]}, shadow{0.0, 0.0, 0.0, 0.0};
    g[4] = __enzyme_autodiff<double>((void *)run, &tank, &shadow, 25, x[4]);
    g[0] = shadow.temperature;
    g[1] = shadow.gain;
    g[2] = shadow.integral_gain;
    g[3] = shadow.loss;
}

static const corpus_problem problem = {.name = "cpp_class_state",
                                       .size = 5,
                                       .point = point,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
