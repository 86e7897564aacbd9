// Exceptions thrown and caught inside of the differentiated function: in a loop, nested, rethrown, out of callees that keep
// caches of their own, past destructors that change active data, from constructors, until an attempt succeeds.
//
// corpus: libc++ O0 O2
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "corpus.hpp"

#define CALLED __attribute__((noinline))

enum { SIZE = 5 };

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

static double thrown_in_loop(const double *x, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        try {
            if (x[i] < 0.0)
                throw 1;
            s += x[i] * x[i];
        } catch (int) {
            s -= sin(x[i]) * s;
        }
    }
    return s;
}

static double validated(const double *x, int n)
{
    double s = 1.0;
    for (int i = 0; i < n; i++) {
        try {
            Counted p;
            s *= 1.0 + checked(x[i]);
            Counted q;
            s += checked(x[(i + 1) % n] + 0.1);
        } catch (const std::domain_error &) {
            Counted r;
            s += x[i] * x[i] * x[i];
        }
    }
    return s;
}

static double nested(const double *x, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        try {
            try {
                if (x[i] < -0.5)
                    throw 2.5f;
                if (x[i] < 0.0)
                    throw 7;
                s += exp(x[i]);
            } catch (int k) {
                s += k * x[i];
                if (i & 1)
                    throw;
                s *= 2.0;
            }
        } catch (float) {
            s *= x[i];
        } catch (int) {
            s -= cos(x[i]) * s;
        }
    }
    return s;
}

static double out_of_range(const double *x, int n)
{
    std::vector<double> v;
    for (int i = 0; i < n; i++)
        v.push_back(x[i] * x[i]);
    double s = 0.0;
    try {
        for (std::size_t i = 0;; i++)
            s += sin(v.at(i));
    } catch (const std::out_of_range &) {
        s *= s;
    }
    return s;
}

CALLED static double deep(double v, int depth)
{
    if (depth == 0) {
        if (v > 0.9)
            throw std::string("large");
        return v * v;
    }
    Counted p;
    return deep(v * 1.1, depth - 1) + v;
}

static double through_frames(const double *x, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        try {
            s += deep(x[i], 3);
        } catch (std::string &e) {
            s += static_cast<double>(e.size()) * x[i] * s;
        }
    }
    return s;
}

// Loops of unknown length before the throw: what they kept is gone with it.
CALLED static double with_caches(const double *x, int n)
{
    double s = 0.0;
    std::vector<double> t(static_cast<std::size_t>(n));
    for (int i = 0; i < n; i++) {
        double u = x[i];
        for (int k = 0; u > 0.1 && k < 20; k++)
            u *= u;
        t[static_cast<std::size_t>(i)] = u * checked(x[i]);
        s += t[static_cast<std::size_t>(i)] * (i ? t[static_cast<std::size_t>(i) - 1] : 1.0);
    }
    return s;
}

static double caches_lost(const double *x, int n)
{
    double s = 1.0;
    for (int i = 1; i <= n; i++) {
        double y[SIZE];
        for (int k = 0; k < n; k++)
            y[k] = x[k] * s;
        try {
            s *= 1.0 + with_caches(y, i);
        } catch (const std::domain_error &) {
            for (int k = 0; k < n; k++)
                s += y[k] * 0.1;
        }
    }
    return s;
}

// The destructor changes active data, on both ways out.
struct Scale {
    double *at, factor;
    ~Scale() { *at *= factor; }
};

static double destructors(const double *x, int n)
{
    double a = 1.0;
    for (int i = 0; i < n; i++) {
        try {
            Scale s{&a, x[i]};
            a += checked(x[(i + 1) % n]);
        } catch (const std::exception &) {
            a = a * a + x[i];
        }
    }
    return a;
}

struct Object {
    std::vector<double> a;
    double s;
    Object(const double *x, int n) : a(x, x + n), s(0.0)
    {
        for (double d : a)
            s += checked(d) * d;
    }
};

static double constructors(const double *x, int n)
{
    double s = 0.0;
    for (int i = 1; i <= n; i++) {
        try {
            Object o(x, i);
            s += o.s * o.a[0];
        } catch (...) {
            s = s * x[i - 1] + 1.0;
        }
    }
    return s;
}

static double until_it_succeeds(const double *x, int n)
{
    double y = x[0];
    for (int tries = 0;; tries++) {
        try {
            return checked(y) * x[1 % n] + tries * x[2 % n];
        } catch (const std::domain_error &) {
            y += x[n - 1] * x[n - 1] + 0.1;
        }
    }
}

struct Kind {
    int k;
};

static double by_type(const double *x, int n)
{
    double s = 1.0;
    for (int i = 0; i < n; i++) {
        try {
            switch (i % 4) {
            case 0:
                throw Kind{3};
            case 1:
                throw std::length_error("x");
            case 2:
                throw std::runtime_error("y");
            default:
                s *= x[i];
            }
        } catch (const Kind &e) {
            s += e.k * x[i] * x[i];
        } catch (const std::logic_error &e) {
            s += x[i] * x[i] * e.what()[0] / 100.0;
        } catch (...) {
            s = sin(s) + x[i];
        }
    }
    return s;
}

static double in_handlers(const double *x, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        Counted p;
        try {
            try {
                if (x[i] > 0.75)
                    continue;
                s += checked(x[i]);
            } catch (const std::exception &) {
                s += x[i] * 0.5;
                s += checked(x[(i + 1) % n]);
                throw std::runtime_error("again");
            }
        } catch (const std::runtime_error &) {
            s *= 1.5;
            if (i == n - 1)
                return s * x[0];
        } catch (const std::domain_error &) {
            s *= x[i];
        }
    }
    return s;
}

// What is written after the last check can be reversed.
CALLED static double written_after_check(double *y, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (x[i] < 0.0)
            throw i;
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        y[i] = x[i] * x[i];
        s += y[i];
    }
    return s;
}

static double memory(const double *x, int n)
{
    double s = 0.0;
    for (int turn = 0; turn < 2; turn++) {
        double y[SIZE], z[SIZE];
        for (int i = 0; i < n; i++) {
            y[i] = x[i];
            z[i] = turn ? x[i] * x[i] : x[i];
        }
        try {
            s += written_after_check(y, z, n);
        } catch (int k) {
            s += z[k] * 2.0;
        }
        for (int i = 0; i < n; i++)
            s += sin(y[i]);
        auto u = std::make_unique<double[]>(static_cast<std::size_t>(n));
        for (int i = 0; i < n; i++)
            u[static_cast<std::size_t>(i)] = x[i] * s;
        try {
            auto w = std::make_unique<double>(x[0] * s);
            s += *w + checked(x[1]);
            *w = s;
            s += *w * u[0];
        } catch (const std::exception &) {
            s += u[1];
        }
    }
    return s;
}

static double all(const double *x)
{
    double s = 0.0;
    for (int n = 3; n <= SIZE; n++)
        s += thrown_in_loop(x, n) + validated(x, n) + nested(x, n) + out_of_range(x, n) + through_frames(x, n) +
             caches_lost(x, n) + destructors(x, n) + constructors(x, n) + until_it_succeeds(x, n) + by_type(x, n) +
             in_handlers(x, n) + memory(x, n);
    return s;
}

// Every object that was made was destroyed once, in the derivatives as well.
static int extra()
{
    return corpus_check("exceptions_caught", "objects destroyed", made == killed && made > 0 ? 0.0 : 1.0, 0.5);
}

static double mixed[SIZE] = {0.3, -0.7, 0.2, 0.55, 0.8}, negative[SIZE] = {-0.3, 0.7, -0.2, -0.4, 0.6},
              positive[SIZE] = {0.3, 0.7, 0.2, 0.5, 0.65};
// Steps are so small that every branch stays the same.
static const corpus_problem points[] = {
    CORPUS_OF_ARRAY("exceptions_some", all, SIZE, mixed, nullptr, .step = 0x1p-12, .coordinates = CORPUS_ALL),
    CORPUS_OF_ARRAY("exceptions_many", all, SIZE, negative, nullptr, .step = 0x1p-12, .coordinates = CORPUS_ALL),
    CORPUS_OF_ARRAY("exceptions_few", all, SIZE, positive, nullptr, .extra = extra, .step = 0x1p-12,
                    .coordinates = CORPUS_ALL),
};

CORPUS_MAIN(&points[0], &points[1], &points[2])
