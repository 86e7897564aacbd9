// A layered model whose layers are objects with virtual functions and function pointers in tables, where the program builds the shadow
// objects itself and marks their functions with __enzyme_virtualreverse, as it must for the reference system.
#include <cmath>

#include "corpus.hpp"

constexpr size_t SIZE = 4;
static double point[SIZE];

template <typename T> T __enzyme_virtualreverse(T);

struct Layer {
    virtual double apply(double x) const = 0;
    virtual ~Layer() = default;
};
struct Affine final : Layer {
    double a, b;
    Affine(double a, double b) : a(a), b(b) {}
    double apply(double x) const override { return a * x + b; }
};
struct Bump final : Layer {
    double width;
    explicit Bump(double width) : width(width) {}
    double apply(double x) const override { return std::exp(-width * x * x); }
};

static double soften(double x, double k) { return std::log1p(std::exp(k * x)); }
static double wave(double x, double k) { return std::sin(k * x); }

struct Entry {
    double (*function)(double, double);
    double k;
};

static double model(const Layer *first, const Layer *second, const Entry *table, int n)
{
    double x = second->apply(first->apply(0.7));
    for (int i = 0; i < n; i++)
        x += table[i].function(x, table[i].k);
    return x;
}

static double value(const double *x)
{
    Affine first(x[0], x[1]);
    Bump second(x[2]);
    Entry table[2] = {{x[0] > 10.0 ? wave : soften, x[3]}, {wave, x[1]}};
    return model(&first, &second, table, 2);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff<double>((void *)value, enzyme_dup, x, v);
}

// Shadow objects of the program's own: the same classes with zeros, their tables and functions marked.
static void gradient(const double *x, double *g)
{
    Affine first(x[0], x[1]), dfirst(0.0, 0.0);
    Bump second(x[2]), dsecond(0.0);
    *(void **)&dfirst = __enzyme_virtualreverse(*(void **)&dfirst);
    *(void **)&dsecond = __enzyme_virtualreverse(*(void **)&dsecond);
    Entry table[2] = {{soften, x[3]}, {wave, x[1]}};
    Entry dtable[2] = {{__enzyme_virtualreverse(soften), 0.0}, {__enzyme_virtualreverse(wave), 0.0}};
    __enzyme_autodiff<double>((void *)model, enzyme_dup, &first, &dfirst, enzyme_dup, &second, &dsecond, enzyme_dup, table,
                              dtable, enzyme_const, 2);
    g[0] = dfirst.a;
    g[1] = dfirst.b + dtable[1].k;
    g[2] = dsecond.width;
    g[3] = dtable[0].k;
}

static void setup(void)
{
    corpus_seed(68);
    corpus_fill(point, SIZE, 0.3, 1.1);
}

static const struct corpus_problem problem = {
    .name = "virtual_reverse",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
