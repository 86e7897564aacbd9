// corpus: levels O1 O2 O3 Og
// A C++20 coroutine as a generator of iterates: the arithmetic-geometric mean, which gives the period of a pendulum.
#include <coroutine>
#include <exception>

#include "corpus.hpp"

struct Means {
    struct promise_type {
        double arithmetic = 0.0, geometric = 0.0;
        Means get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(double value) noexcept
        {
            arithmetic = value;
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() { std::terminate(); }
    };

    std::coroutine_handle<promise_type> handle;

    Means(std::coroutine_handle<promise_type> h) : handle(h) {}
    Means(const Means &) = delete;
    ~Means() { handle.destroy(); }
    double next()
    {
        handle.resume();
        return handle.promise().arithmetic;
    }
};

static Means means(double a, double g)
{
    for (int i = 0; i < 8; i++) {
        double a1 = 0.5 * (a + g);
        g = sqrt(a * g);
        a = a1;
        co_yield a;
    }
}

static double period(const double *x)
{
    Means sequence = means(1.0, cos(0.5 * x[0]));
    double last = 0.0;
    for (int i = 0; i < 6; i++)
        last = sequence.next();
    return 6.283185307179586 / last * sqrt(x[1] / x[2]);
}

static double point[3] = {1.2, 0.7, 9.81};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_coroutine", period, 3, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
