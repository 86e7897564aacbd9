// <enzyme/enzyme>: activities as types, results as tuples, and the derivatives that are wanted most often, of functions, lambdas and
// functors over std::vector, std::array, references, pointers and structures by value; a Newton step with the Hessian.
#include <enzyme/enzyme>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "corpus.hpp"

using Vector = std::vector<double>;

constexpr size_t SIZE = 4;
static double point[SIZE];

static double rosenbrock(const Vector &x)
{
    double sum = 0.0;
    for (size_t i = 0; i + 1 < x.size(); i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
        sum += 100.0 * a * a + b * b;
    }
    return sum;
}

static double of_point(const double *x)
{
    return rosenbrock(Vector(x, x + SIZE));
}

struct pair {
    double x, y;
};
struct mixed {
    double a;
    int n;
};

static double square(double x) { return x * x; }
static double product(double x, double y) { return x * y; }
static double area(pair p) { return p.x * p.y; }
static double mix(mixed m, double k) { return m.a * m.n * k; }
static float of_reference(const float &x) { return x * x; }
static float of_pointer(const float *x) { return *x * *x; }
static double quadratic(const std::array<double, 3> &x) { return x[0] * x[0] * x[1] + std::sin(x[2]) * x[0]; }
static double steps(double x, double *count) { *count += 1.0; return x * *count; }

static void system_of(const Vector &x, Vector &y)
{
    for (size_t i = 0; i < y.size(); i++)
        y[i] = x[i % x.size()] * x[(i + 1) % x.size()] + double(i) * x[0];
}

struct scaled {
    double k;
    double operator()(double x) const { return k * x * x; }
};

static int check(const char *what, double got, double wanted)
{
    return corpus_check("types", what, std::fabs(got - wanted), 1e-12 * (1.0 + std::fabs(wanted)));
}

static int values()
{
    using enzyme::get;
    enzyme::tuple<enzyme::tuple<double>> plain = enzyme::autodiff<enzyme::Reverse, enzyme::Active<double>>(square, enzyme::Active<double>{3.1});
    int failed = check("reverse", get<0>(get<0>(plain)), 6.2);
    enzyme::tuple<enzyme::tuple<double>, double> with = enzyme::autodiff<enzyme::ReverseWithPrimal>(square, enzyme::Active{3.1});
    failed += check("reverse with primal", get<0>(get<0>(with)) + get<1>(with), 6.2 + 9.61);
    auto two = enzyme::autodiff<enzyme::Reverse>(product, enzyme::Active{2.0}, enzyme::Active{5.0});
    failed += check("two adjoints", get<0>(get<0>(two)) + 10.0 * get<1>(get<0>(two)), 25.0);
    auto one = enzyme::autodiff<enzyme::Reverse>(product, enzyme::Const{2.0}, enzyme::Active{5.0});
    failed += check("one adjoint", get<0>(get<0>(one)), 2.0);
    enzyme::tuple<double> tangent = enzyme::autodiff<enzyme::Forward>(square, enzyme::Duplicated{3.1, 2.0});
    enzyme::tuple<double, double> both = enzyme::autodiff<enzyme::Forward, enzyme::Duplicated<double>>(square, enzyme::Duplicated{3.1, 2.0});
    failed += check("forward", get<0>(tangent) + get<0>(both) + get<1>(both), 12.4 + 9.61 + 12.4);
    double count = 0.0, dcount = 0.0;
    enzyme::autodiff<enzyme::Forward, enzyme::Const<double>>(steps, enzyme::Const{2.0}, enzyme::Duplicated<double *>{&count, &dcount});
    failed += check("constant result", count, 1.0);
    failed += check("no derivative", enzyme::autodiff<enzyme::nodiff>(product, enzyme::Const{3.0}, enzyme::Const{2.0}), 6.0);
    auto joined = enzyme::tuple_cat(tangent, both);
    return failed + check("tuples", get<2>(joined) + std::tuple_size<decltype(joined)>::value, 12.4 + 3.0);
}

static int structures()
{
    using enzyme::get;
    auto forward = enzyme::autodiff<enzyme::Forward>(area, enzyme::Duplicated{pair{2, 3}, pair{70, 110}});
    auto reverse = enzyme::autodiff<enzyme::Reverse>(area, enzyme::Active{pair{2, 3}});
    int failed = check("structure, forward", get<0>(forward), 430.0);
    failed += check("structure, reverse", get<0>(get<0>(reverse)).x + 10.0 * get<0>(get<0>(reverse)).y, 23.0);
    auto fields = enzyme::autodiff<enzyme::Forward>(mix, enzyme::Duplicated{mixed{2, 3}, mixed{1, 0}}, enzyme::Const{2.0});
    failed += check("structure with an integer", get<0>(fields), 6.0);
    const float x = 10.0f;
    float dx = 0.0f, dy = 0.0f;
    enzyme::autodiff<enzyme::Reverse>(of_reference, enzyme::Duplicated<const float &>{x, dx});
    enzyme::autodiff<enzyme::Reverse>(of_pointer, enzyme::DuplicatedNoNeed<const float *>{&x, &dy});
    return failed + check("reference and pointer", double(dx) + double(dy), 40.0);
}

static Vector powers(const Vector &x, double exponent)
{
    Vector y;
    for (double value : x)
        y.push_back(std::pow(value, exponent));
    y.push_back(y[0] * y[1]);
    return y;
}

static int class_results()
{
    using enzyme::get;
    Vector x{1.5, 2.0, 0.5}, v{1.0, -1.0, 2.0};
    enzyme::Duplicated<const Vector &> along(x, v);
    enzyme::tuple<Vector> tangent = enzyme::autodiff<enzyme::Forward>(powers, along, enzyme::Const{3.0});
    double factor = 2.0;
    auto scaled = [factor](const Vector &at) {
        Vector y = powers(at, 3.0);
        for (double &value : y)
            value *= factor;
        return y;
    };
    enzyme::tuple<Vector, Vector> both = enzyme::autodiff<enzyme::Forward, enzyme::Duplicated<Vector>>(scaled, along);
    int failed = check("tangents of a vector", get<0>(tangent).size() + get<1>(both).size() + get<0>(both).size(), 12.0);
    for (std::size_t i = 0; i < x.size(); i++) {
        double wanted = 3.0 * x[i] * x[i] * v[i];
        failed += check("vector", get<0>(tangent)[i], wanted);
        failed += check("vector of a lambda", get<1>(both)[i], 2.0 * wanted);
        failed += check("value", get<0>(both)[i], 2.0 * x[i] * x[i] * x[i]);
    }
    return failed + check("last", get<0>(tangent)[3], 3.0 * 9.0 * (2.0 * v[0] + 1.5 * v[1]));
}

static int callables()
{
    using enzyme::get;
    double k = 4.0;
    auto lambda = [k](double t) { return k * t * t; };
    auto captureless = [](double a, double b) { return a * std::sin(b); };
    double (*pointer)(double) = square;
    int failed = check("lambda", get<0>(get<0>(enzyme::autodiff<enzyme::Reverse>(lambda, enzyme::Active{3.0}))), 24.0);
    failed += check("functor", get<0>(enzyme::autodiff<enzyme::Forward>(scaled{10.0}, enzyme::Duplicated{2.0, 1.0})), 40.0);
    failed += check("lambda as a pointer", get<0>(enzyme::autodiff<enzyme::Forward>(+captureless, enzyme::Duplicated{1.0, 1.0}, enzyme::Const{2.0})), std::sin(2.0));
    return failed + check("pointer", get<0>(get<0>(enzyme::autodiff<enzyme::Reverse>(pointer, enzyme::Active{4.0}))), 8.0);
}

static int higher()
{
    Vector x(point, point + SIZE), v{1.0, 2.0, -1.0, 0.5};
    auto [value, slope] = enzyme::value_and_gradient(rosenbrock, x);
    int failed = check("value", value, rosenbrock(x));
    failed += check("along", enzyme::directional_derivative(rosenbrock, x, v), corpus_dot(slope.data(), v.data(), SIZE));
    Vector product = enzyme::hessian_vector_product(rosenbrock, x, v);
    const auto rows = enzyme::hessian(rosenbrock, x);
    // Rosenbrock's Hessian is tridiagonal.
    for (size_t i = 0; i < SIZE; i++) {
        double diagonal = (i + 1 < SIZE ? 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0 : 0.0) + (i > 0 ? 200.0 : 0.0);
        failed += check("diagonal", rows[i][i], diagonal);
        if (i + 1 < SIZE)
            failed += check("beside it", rows[i][i + 1], -400.0 * x[i]) + check("symmetric", rows[i + 1][i], rows[i][i + 1]);
        failed += check("product", product[i], corpus_dot(rows[i].data(), v.data(), SIZE));
    }
    const auto small = enzyme::hessian(quadratic, std::array<double, 3>{1.0, 2.0, 3.0});
    failed += check("array", small[0][0] + small[0][1] + small[0][2] + small[2][2], 6.0 + std::cos(3.0) - std::sin(3.0));
    // By rows where there are fewer of them, else by columns.
    Vector few(3), many(5);
    const auto by_rows = enzyme::jacobian(system_of, x, few), by_columns = enzyme::jacobian(system_of, x, many);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < SIZE; j++)
            failed += check("jacobian", by_rows[i][j], by_columns[i][j]);
    return failed + check("first entry", by_rows[0][1], x[0]);
}

static void setup(void)
{
    corpus_seed(65);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double tangent(const double *x, const double *v)
{
    return enzyme::directional_derivative(rosenbrock, Vector(x, x + SIZE), Vector(v, v + SIZE));
}

static void gradient(const double *x, double *g)
{
    Vector all = enzyme::gradient(rosenbrock, Vector(x, x + SIZE));
    corpus_copy(g, all.data(), SIZE);
}

static int extra(void)
{
    return values() + structures() + callables() + class_results() + higher();
}

static const struct corpus_problem problem = {
    .name = "activities_as_types",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = of_point,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
