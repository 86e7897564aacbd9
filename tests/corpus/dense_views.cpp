// Entries of a sparse Jacobian by dense views: the shadow of the input is a column of the unit matrix that a function computes, the
// shadow of the output a function that collects what is not zero. Upwards and downwards, in single precision, with an offset in
// the view, through a function that is called, a loop with a pointer, and a fill. The results themselves are wanted by nobody and
// have no memory (enzyme_dupnoneed with an address that is none); another time the input itself is a view.
//
// loss = sum of the squares of the results / 2.
// Source: the explicit form of the heat equation with a nonlinear source, as in LeVeque, "Finite Difference Methods", chapter 9.
#include "corpus.h"

#include <cstdint>
#include <vector>

enum { N = CORPUS_SIZE(12, 5) };

template <typename T> struct entry {
    std::size_t row, column;
    T value;
};

template <typename T, typename... A> extern T __enzyme_todense(A...) noexcept;
template <typename T, typename... A> extern T __enzyme_post_sparse_todense(A...) noexcept;
template <typename T, typename... A> extern T __enzyme_sum(A...) noexcept;
template <typename T, typename... A> extern T __enzyme_product(A...) noexcept;
extern "C" void __enzyme_fwddiff_step(void *, ...);

template <typename T> static T unit(std::int64_t offset, std::size_t column)
{
    return offset == static_cast<std::int64_t>(column * sizeof(T)) ? T(1) : T(0);
}

template <typename T> static T element(std::int64_t offset, const T *u) { return u[offset / static_cast<std::int64_t>(sizeof(T))]; }
template <typename T> static void never(T, std::int64_t, const T *) { abort(); }

template <typename T> static void nowhere(T, std::int64_t, std::size_t) {}

template <typename T> static T nothing(std::int64_t, std::size_t, std::vector<entry<T>> *) { return T(0); }

template <typename T> static void collect(T value, std::int64_t offset, std::size_t column, std::vector<entry<T>> *entries)
{
    if (value != T(0))
        entries->push_back({static_cast<std::size_t>(offset) / sizeof(T), column, value});
}

// The other order of arguments, offset first: memory in reverse order.
static void write_back(long offset, double value, double *places) { places[3 - offset / 8] = value; }
static double read_back(long offset, double *places) { return places[3 - offset / 8]; }

template <typename T> __attribute__((noinline)) static T source(const T *u, int i)
{
    return __enzyme_sum<T>(__enzyme_product<T>(u[i], u[i], u[i]), T(0));
}

template <typename T> static void step(const T *u, T *next, int n)
{
    for (int i = 0; i < n; i++)
        next[i] = T(0);
    const T *left = u;
    for (int i = 1; i < n - 1; i++, left++)
        next[i] = u[i] + T(0.25) * (left[0] - 2 * u[i] + u[i + 1]) + T(0.125) * source(u, i);
    for (int i = n - 1; i >= n - 2; i--)
        next[i] += u[0] * u[i];
}

// Writes where there is something to write to.
static void perhaps(const double *x, double *y)
{
    if (y)
        y[0] = x[0] * x[0];
}

static double loss(const double *u, int n)
{
    double next[N], sum = 0.0;
    step(u, next, n);
    for (int i = 0; i < n; i++)
        sum += 0.5 * next[i] * next[i];
    return sum;
}

static double point[N];

static void setup()
{
    corpus_seed(151);
    corpus_fill(point, N, 0.2, 0.9);
}

static double value(const double *x) { return loss(x, N); }

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g, enzyme_const, N);
}

template <typename T> static double jacobian(double tolerance_of_entries)
{
    T u[N], next[N], direction[N], column[N];
    for (int i = 0; i < N; i++)
        u[i] = static_cast<T>(point[i]);
    std::vector<entry<T>> entries;
    T *view = __enzyme_post_sparse_todense<T *>((void *)element<T>, (void *)never<T>, (const T *)u);
    for (std::size_t j = 0; j < N; j++)
        __enzyme_fwddiff_step((void *)step<T>, enzyme_dup, view, __enzyme_todense<T *>((void *)unit<T>, (void *)nowhere<T>, j),
                              enzyme_dupnoneed, (T *)1, __enzyme_todense<T *>((void *)nothing<T>, (void *)collect<T>, j, &entries),
                              enzyme_const, N);
    double error = 0.0;
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++)
            direction[i] = static_cast<T>(i == j);
        __enzyme_fwddiff_step((void *)step<T>, enzyme_dup, u, direction, enzyme_dup, next, column, enzyme_const, N);
        for (const entry<T> &e : entries)
            if (e.column == static_cast<std::size_t>(j))
                column[e.row] -= e.value;
        // The last two places are written twice: first with what comes from their neighbours, or zero, then with all.
        for (int i = 0; i < N - 2; i++)
            error = fmax(error, fabs(static_cast<double>(column[i])));
    }
    return error > tolerance_of_entries ? error : entries.size() < 3 * (N - 4) || entries.size() > 8 * N ? 1.0 : 0.0;
}

static int extra()
{
    int failed = corpus_check("entries", "in double precision", jacobian<double>(0.0), 0.0);
    failed += corpus_check("entries", "in single precision", jacobian<float>(0.0), 0.0);
    // A view of its own, by a pointer that moves.
    double places[4] = {0.5, 0.0, 0.0, 0.0};
    double *view = __enzyme_todense<double *>((void *)read_back, (void *)write_back, (double *)places);
    for (int i = 0; i < 3; i++)
        *view++ = 1.5 * (i + 1);
    view -= 2;
    *view = view[1] + view[2] + 4.0;
    double wrong = fabs(places[3] - 1.5) + fabs(places[2] - 9.0) + fabs(places[1] - 4.5) + fabs(places[0] - 0.5);
    failed += corpus_check("view", "by offset", wrong, 0.0);
    // No memory is something else than a null pointer to who asks.
    double x = 1.5, v = 1.0, t = 7.0;
    __enzyme_fwddiff_step((void *)perhaps, enzyme_dup, &x, &v, enzyme_dupnoneed, (double *)1, &t);
    wrong = fabs(t - 3.0);
    __enzyme_fwddiff_step((void *)perhaps, enzyme_dup, &x, &v, enzyme_dupnoneed, (double *)nullptr, &t);
    return failed + corpus_check("no memory", "or a null pointer", wrong + fabs(t - 3.0), 0.0);
}

static const corpus_problem problem = {
    .name = "dense_views",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
