// CRTP and policy classes: a likelihood of several noise models with a common base, and a mixin that counts
// evaluations.
#include "corpus.hpp"

static int evaluations;

template <class Derived> struct Noise {
    double total(const double *residuals, int count) const
    {
        double sum = 0.0;
        for (int i = 0; i < count; i++)
            sum += self().penalty(residuals[i]);
        evaluations += count;
        return sum + count * self().normaliser();
    }
    const Derived &self() const { return static_cast<const Derived &>(*this); }
};

struct Gaussian : Noise<Gaussian> {
    double sigma;
    explicit Gaussian(double s) : sigma(s) {}
    double penalty(double r) const { return 0.5 * r * r / (sigma * sigma); }
    double normaliser() const { return log(sigma); }
};

struct Student : Noise<Student> {
    double scale, freedom;
    Student(double s, double f) : scale(s), freedom(f) {}
    double penalty(double r) const { return 0.5 * (freedom + 1.0) * log1p(r * r / (freedom * scale * scale)); }
    double normaliser() const
    {
        return lgamma(0.5 * freedom) - lgamma(0.5 * (freedom + 1.0)) + log(scale) + 0.5 * log(freedom);
    }
};

struct Huber : Noise<Huber> {
    double edge = 0.7;
    double penalty(double r) const { return fabs(r) < edge ? 0.5 * r * r : edge * (fabs(r) - 0.5 * edge); }
    double normaliser() const { return 0.0; }
};

enum { COUNT = 14, SIZE = 6 };

static double negative_log_likelihood(const double *x)
{
    double residuals[COUNT];
    for (int i = 0; i < COUNT; i++) {
        double t = 0.25 * i;
        residuals[i] = x[0] * exp(-x[1] * t) + x[2] * t - cos(t);
    }
    return Gaussian(exp(x[3])).total(residuals, COUNT) + Student(exp(x[4]), exp(x[5])).total(residuals, COUNT) +
           Huber().total(residuals, COUNT);
}

static double point[SIZE] = {0.9, 0.4, -0.2, -0.5, -0.3, 1.1};
static const corpus_problem problem = CORPUS_OF_ARRAY("cpp_crtp", negative_log_likelihood, SIZE, point, nullptr,
                                                      .step = 0x1p-11, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
