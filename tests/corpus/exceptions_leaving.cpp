// Exceptions that leave the differentiated function, and so its derivative: they arrive, destructors run once, and nothing
// leaks (the run with leak detection says so), neither caches nor memory whose release was put off.
#include <memory>
#include <stdexcept>
#include <vector>

#include "corpus.hpp"

#define CALLED __attribute__((noinline))

enum { SIZE = 4 };

static int made, killed;
struct Counted {
    Counted() { made++; }
    Counted(const Counted &) { made++; }
    ~Counted() { killed++; }
};

CALLED static double checked(double v)
{
    if (v < 0.0)
        throw std::domain_error("negative");
    return std::sqrt(v) * v;
}

CALLED static double on_heap(const double *x)
{
    double *p = new double[SIZE];
    for (int i = 0; i < SIZE; i++)
        p[i] = sin(x[i]) * (i ? p[i - 1] : 1.0);
    double s = 0.0;
    for (int i = 0; i < SIZE; i++)
        s += p[i] * p[i];
    delete[] p;
    return s;
}

static double plain(const double *x)
{
    double s = 1.0;
    for (int k = 0; s < 1e9 && k < SIZE; k++) {
        s = s * x[k] + exp(s * 0.01);
        s += checked(x[k]);
    }
    return s;
}

static double guarded(const double *x)
{
    Counted p;
    double s = 1.0;
    for (int i = 0; i < SIZE; i++)
        s *= on_heap(x) + checked(x[i]) + 1.0;
    return s;
}

static double vectors(const double *x)
{
    std::vector<double> v(SIZE);
    Counted p;
    double s = 1.0;
    for (std::size_t i = 0; i < SIZE; i++) {
        v[i] = s * x[i];
        s *= checked(x[i]) + v[i];
    }
    for (double d : v)
        s += d * d;
    return s;
}

CALLED static double in_callee(const double *x)
{
    double t[SIZE], s = 0.0;
    auto u = std::make_unique<double[]>(SIZE);
    for (int i = 0; i < SIZE; i++)
        u[static_cast<std::size_t>(i)] = t[i] = on_heap(x) * checked(x[i]);
    for (int i = 0; i < SIZE; i++)
        s += t[i] * u[static_cast<std::size_t>(SIZE - 1 - i)];
    return s;
}

static double callees(const double *x)
{
    return in_callee(x) * x[0] + in_callee(x);
}

// Caught here, but for what is thrown at the end.
static double some(const double *x)
{
    double s = 0.0;
    for (int i = 0; i < SIZE; i++) {
        try {
            s += in_callee(x) * vectors(x);
        } catch (const std::domain_error &) {
            Counted p;
            s += on_heap(x);
            if (i == SIZE - 1)
                throw;
        }
    }
    return s;
}

typedef double function(const double *);

template <function *F> static int leaves()
{
    int arrived = 0;
    for (int k = 0; k < SIZE; k++) {
        double x[SIZE] = {0.3, 0.7, 0.2, 0.5}, g[SIZE] = {0.0};
        x[k] = -1.0;
        try {
            F(x);
        } catch (const std::domain_error &) {
            arrived++;
        }
#ifndef CORPUS_NO_AD
        try {
            corpus_of_array<F, SIZE>::gradient(x, g);
        } catch (const std::domain_error &) {
            arrived++;
        }
        try {
            corpus_of_array<F, SIZE>::tangent(x, g);
        } catch (const std::domain_error &) {
            arrived++;
        }
#else
        arrived += 2;
        (void)g;
#endif
    }
    return corpus_check("exceptions_leaving", "exceptions arrive", arrived == 3 * SIZE ? 0.0 : 1.0, 0.5);
}

static int extra()
{
    int failed = leaves<plain>() + leaves<guarded>() + leaves<vectors>() + leaves<callees>() + leaves<some>();
    return failed + corpus_check("exceptions_leaving", "objects destroyed", made == killed && made > 0 ? 0.0 : 1.0, 0.5);
}

static double all(const double *x)
{
    return plain(x) + guarded(x) + vectors(x) + callees(x) + some(x);
}

static double point[SIZE] = {0.3, 0.7, 0.2, 0.5};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("exceptions_leaving", all, SIZE, point, nullptr, .extra = extra, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
