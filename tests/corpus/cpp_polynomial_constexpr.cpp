// constexpr tables, if constexpr, fold expressions, parameter packs and template recursion: Chebyshev series and Gauss
// rule at compile time, evaluated at run time.
#include <array>
#include <utility>

#include "corpus.hpp"

template <int N> constexpr std::array<double, N> binomials()
{
    std::array<double, N> row{};
    row[0] = 1.0;
    for (int k = 1; k < N; k++)
        row[k] = row[k - 1] * (N - k) / k;
    return row;
}

template <int Degree> static double chebyshev(double t)
{
    if constexpr (Degree == 0)
        return 1.0;
    else if constexpr (Degree == 1)
        return t;
    else
        return 2.0 * t * chebyshev<Degree - 1>(t) - chebyshev<Degree - 2>(t);
}

template <size_t... I> static double series(const double *c, double t, std::index_sequence<I...>)
{
    return ((c[I] * chebyshev<(int)I>(t)) + ...);
}

template <class... T> static double norm(T... values)
{
    return sqrt((... + (values * values)));
}

static double bernstein(const double *c, double t)
{
    constexpr auto row = binomials<6>();
    double sum = 0.0, power = 1.0;
    for (int k = 0; k < 6; k++, power *= t) {
        double rest = 1.0;
        for (int j = k; j < 5; j++)
            rest *= 1.0 - t;
        sum += row[(size_t)k] * c[k] * power * rest;
    }
    return sum;
}

static double approximation(const double *x)
{
    static constexpr double nodes[3] = {-0.7745966692414834, 0.0, 0.7745966692414834};
    static constexpr double weights[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    double integral = 0.0;
    for (int i = 0; i < 3; i++) {
        double miss = series(x, nodes[i] * x[6], std::make_index_sequence<6>()) - exp(nodes[i]);
        integral += weights[i] * miss * miss;
    }
    return integral + bernstein(x, x[6]) * norm(x[0], x[1] * x[2], 1.0, x[3]);
}

static double point[7];

static void setup()
{
    corpus_seed(139);
    corpus_fill(point, 7, 0.2, 1.1);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_polynomial_constexpr", approximation, 7, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
