// Coroutines: a generator of the terms of a series, one that integrates an equation step by step and is asked for as many
// steps as it takes, and one that reads from another. Their frames are on the heap and hold what is differentiated.
//
// corpus: libc++ O0 O2
#include <coroutine>
#include <utility>

#include "corpus.hpp"

namespace {

class Generator {
public:
    struct promise_type {
        double current = 0.0;
        Generator get_return_object() { return Generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(double value) noexcept
        {
            current = value;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };

    explicit Generator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    Generator(Generator &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Generator(const Generator &) = delete;
    Generator &operator=(const Generator &) = delete;
    ~Generator()
    {
        if (handle_)
            handle_.destroy();
    }

    bool next()
    {
        handle_.resume();
        return !handle_.done();
    }
    double value() const { return handle_.promise().current; }

private:
    std::coroutine_handle<promise_type> handle_;
};

Generator exponential(double x, int terms)
{
    double term = 1.0;
    for (int n = 1; n <= terms; n++) {
        co_yield term;
        term *= x / n;
    }
}

Generator oscillator(double position, double speed, double stiffness)
{
    for (;;) {
        speed -= 0.1 * stiffness * sin(position);
        position += 0.1 * speed;
        co_yield position;
    }
}

Generator running_mean(double start, double speed, double stiffness, double weight)
{
    Generator source = oscillator(start, speed, stiffness);
    double mean = start;
    while (source.next()) {
        mean = weight * mean + (1.0 - weight) * source.value();
        co_yield mean;
    }
}

constexpr int SIZE = 5;

double total(const double *x)
{
    double sum = 0.0;
    int n = 1;
    for (Generator series = exponential(x[0], 8); series.next(); n++)
        sum += series.value() * x[1] / n;
    Generator mean = running_mean(x[2], x[3], x[4], 0.5 + 0.1 * x[0]);
    for (int step = 0; step < 20 && mean.next(); step++)
        sum += mean.value() * mean.value();
    return sum;
}

double point[SIZE];

void setup()
{
    corpus_seed(77);
    corpus_fill(point, SIZE, 0.4, 1.3);
}

const corpus_problem problem = CORPUS_OF_ARRAY("generator", total, SIZE, point, setup, .coordinates = CORPUS_ALL);

} // namespace

CORPUS_MAIN(&problem)
