// error[E0201]: no derivative for a function without body that reaches active memory through memory which another made
#include <cmath>
#include <new>

template <class Result, class... Arguments> Result __enzyme_autodiff(void *, Arguments...);

// A task of a scheduler, in memory of its own, that holds the address of a closure beside that of a table of functions:
// as parallel loops of libraries do it.
struct task {
    virtual void execute() = 0;
};

template <class Body> struct task_of : task {
    const Body &body;
    explicit task_of(const Body &body) : body(body) {}
    void execute() override
    {
        for (int i = 0; i < 4; i++)
            body(i);
    }
};

extern "C" void *allocate(void *&pool, std::size_t size);
extern "C" void run(task &t);

static double sines(const double *x)
{
    double y[4];
    auto body = [&](int i) { y[i] = std::sin(x[i]); };
    void *pool = nullptr;
    auto *made = new (allocate(pool, sizeof(task_of<decltype(body)>))) task_of(body);
    run(*made); // refused here
    return y[0] + 2.0 * y[1] + 3.0 * y[2] * y[3];
}

void gradient(const double *x, double *dx)
{
    __enzyme_autodiff<void>((void *)sines, x, dx);
}
