// error[E0203]: "active data carried by an exception"
// One function throws the number, and gives nothing else; another, which is called through a pointer, reads it where it is caught.
extern "C" double __enzyme_autodiff(void *, ...);

struct Failure {
    int code;
    double at;
    Failure(int code, double at) : code(code), at(at) {}
    Failure(const Failure &) = default;
    virtual ~Failure() {}
    virtual double value() const { return at * at; }
};

__attribute__((noinline)) static void fail(double at) { throw Failure(3, at); }

static double checked(double x)
{
    if (x > 0.5)
        fail(x);
    return x;
}

static double model(double x)
{
    try {
        return checked(x);
    } catch (const Failure &failure) {
        return failure.value();
    }
}

double slope(double x) { return __enzyme_autodiff((void *)model, x); }
