// Steps between containers that change places, under limits that let few of the states be kept: vectors of a class that
// are swapped, arrays behind std::unique_ptr, two halves of one vector by the parity of the step, a vector that is copied in
// each step, stages that functions return, and assignment to a vector that is long enough, or is so from the first step on.
// All have lengths that are known only when the program runs, so that they may be empty as far as is known.
#include "corpus.h"

#include <memory>
#include <utility>
#include <vector>

namespace
{

struct Field {
    std::vector<double> values;
    double operator()(int i) const { return values[static_cast<size_t>(i)]; }
    double &operator()(int i) { return values[static_cast<size_t>(i)]; }
};

class Rod
{
    Field now_, next_;
    double rate_, lost_ = 0.0;

public:
    Rod(const double *start, int n, double rate)
        : now_{std::vector<double>(start, start + n)}, next_{std::vector<double>(static_cast<size_t>(n))}, rate_(rate)
    {
    }

    void step()
    {
        const int n = static_cast<int>(now_.values.size());
        next_(0) = now_(0);
        next_(n - 1) = now_(n - 1);
        for (int i = 1; i < n - 1; i++)
            next_(i) = now_(i) + rate_ * (now_(i - 1) - 2.0 * now_(i) + now_(i + 1)) - 0.02 * std::pow(now_(i), 3);
        lost_ += 0.01 * (now_(n / 2) - next_(n / 2)) * now_(1);
        std::swap(now_, next_);
    }

    double energy() const
    {
        double sum = lost_;
        for (double value : now_.values)
            sum += value * value;
        return sum;
    }
};

double swapped(const double *start, int n, int steps, double rate)
{
    Rod rod(start, n, rate);
    for (int t = 0; t < steps; t++)
        rod.step();
    return rod.energy();
}

double owned(const double *start, int n, int steps, double rate)
{
    const auto count = static_cast<size_t>(n);
    auto before = std::make_unique<double[]>(count), now = std::make_unique<double[]>(count),
         after = std::make_unique<double[]>(count);
    for (size_t i = 0; i < count; i++)
        before[i] = now[i] = start[i];
    for (int t = 0; t < steps / 3; t++) {
        after[0] = after[count - 1] = 0.0;
        for (size_t i = 1; i + 1 < count; i++)
            after[i] = 1.9 * now[i] - 0.92 * before[i] + rate * (now[i - 1] - 2.0 * now[i] + now[i + 1]) -
                       0.01 * std::sin(now[i]);
        std::swap(before, now);
        std::swap(now, after);
    }
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += now[i] * now[i] + 0.5 * before[i];
    return sum;
}

double halves(const double *start, int n, int steps, double rate)
{
    std::vector<double> both(static_cast<size_t>(2 * n));
    for (int i = 0; i < n; i++)
        both[static_cast<size_t>(i)] = start[i];
    for (int t = 0; t < steps; t++) {
        const double *now = both.data() + (t % 2) * n;
        double *next = both.data() + (t + 1) % 2 * n;
        for (int i = 0; i < n; i++)
            next[i] = now[i] + 0.1 * rate * (now[n - 1 - i] * now[i] - now[i]);
    }
    const double *last = both.data() + (steps % 2) * n;
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += last[i] * last[i] * (1.0 + 0.1 * i);
    return sum;
}

double copied(const double *start, int n, int steps, double rate)
{
    std::vector<double> now(start, start + n);
    for (int t = 0; t < steps; t++) {
        const std::vector<double> old = now;
        for (size_t i = 1; i + 1 < now.size(); i++)
            now[i] += rate * (old[i - 1] - 2.0 * old[i] + old[i + 1]) - 0.02 * old[i] * old[i] * old[i];
    }
    double sum = 0.0;
    for (double value : now)
        sum += value * value;
    return sum;
}

std::vector<double> slopes(const std::vector<double> &u, double rate)
{
    std::vector<double> out(u.size());
    for (size_t i = 1; i + 1 < u.size(); i++)
        out[i] = rate * (u[i - 1] - 2.0 * u[i] + u[i + 1]) - 0.02 * u[i] * u[i] * u[i];
    return out;
}

double stages(const double *start, int n, int steps, double rate)
{
    std::vector<double> now(start, start + n);
    for (int t = 0; t < steps; t++) {
        const std::vector<double> first = slopes(now, rate);
        std::vector<double> middle(now.size());
        for (size_t i = 0; i < now.size(); i++)
            middle[i] = now[i] + 0.5 * first[i];
        const std::vector<double> second = slopes(middle, rate);
        for (size_t i = 0; i < now.size(); i++)
            now[i] += second[i];
    }
    double sum = 0.0;
    for (double value : now)
        sum += value * value;
    return sum;
}

// It is long enough, so that no step gives it other memory; or the first one does.
template <bool ready> double assigned(const double *start, int n, int steps, double rate)
{
    std::vector<double> now(start, start + n), old;
    if (ready)
        old = now;
    for (int t = 0; t < steps; t++) {
        old = now;
        for (size_t i = 1; i + 1 < now.size(); i++)
            now[i] += rate * (old[i - 1] - 2.0 * old[i] + old[i + 1]) - 0.02 * old[i] * old[i] * old[i];
    }
    double sum = 0.0;
    for (double value : now)
        sum += value * value;
    return sum + old[1];
}

enum { N = CORPUS_SIZE(24, 6), SIZE = N + 1 };

double point[SIZE];
volatile int length = N, steps = CORPUS_SIZE(101, 9);

void setup()
{
    corpus_seed(38);
    corpus_fill(point, N, 0.2, 1.0);
    point[N] = 0.2;
}

using Model = double (*)(const double *, int, int, double);

template <Model model> double value(const double *x)
{
    return model(x, length, steps, x[N]);
}

template <Model model> double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff(reinterpret_cast<void *>(model), enzyme_dup, x, v, enzyme_const, int{length}, enzyme_const,
                            int{steps}, enzyme_dup, x[N], v[N]);
}

template <Model model, size_t limit> void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    g[N] = __enzyme_autodiff(reinterpret_cast<void *>(model), enzyme_max_tape, limit, enzyme_dup, x, g, enzyme_const,
                             int{length}, enzyme_const, int{steps}, enzyme_out, x[N]);
}

template <Model model> constexpr corpus_problem problem(const char *name)
{
    corpus_problem out{};
    out.name = name;
    out.size = SIZE;
    out.point = point;
    out.setup = setup;
    out.value = value<model>;
    out.tangent = tangent<model>;
    out.gradient = gradient<model, size_t{1} << 40>;
    out.variants[0] = {"room for one state", gradient<model, 1>, nullptr, 0, 0};
    out.variants[1] = {"for few", gradient<model, 3000>, nullptr, 0, 0};
    out.variants[2] = {"for some", gradient<model, 9000>, nullptr, 0, 0};
    return out;
}

const corpus_problem swapped_problem = problem<swapped>("cpp_checkpoint_containers_swapped");
const corpus_problem owned_problem = problem<owned>("cpp_checkpoint_containers_owned");
const corpus_problem halves_problem = problem<halves>("cpp_checkpoint_containers_halves");
const corpus_problem copied_problem = problem<copied>("cpp_checkpoint_containers_copied");
const corpus_problem stages_problem = problem<stages>("cpp_checkpoint_containers_stages");
const corpus_problem assigned_problem = problem<assigned<true>>("cpp_checkpoint_containers_assigned");
const corpus_problem late_problem = problem<assigned<false>>("cpp_checkpoint_containers_late");

} // namespace

CORPUS_MAIN(&swapped_problem, &owned_problem, &halves_problem, &copied_problem, &stages_problem, &assigned_problem,
            &late_problem)
