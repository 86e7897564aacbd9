// Virtual functions: bodies with a mass and a moment of inertia, made on the heap and kept by pointers to their base class,
// scaled through a virtual function that changes them, deleted through a virtual destructor. One class has two bases, and is
// used through each of them.
#include "corpus.hpp"

struct Body {
    double density;
    explicit Body(double d) : density(d) {}
    virtual ~Body() {}
    virtual double volume() const = 0;
    virtual double inertia() const { return 0.4 * mass() * volume(); }
    virtual void scale(double factor) = 0;
    double mass() const { return density * volume(); }
};

struct Ball : Body {
    double radius;
    Ball(double d, double r) : Body(d), radius(r) {}
    double volume() const override { return 4.0 / 3.0 * 3.14159265358979 * radius * radius * radius; }
    void scale(double factor) override { radius *= factor; }
};

struct Box : Body {
    double a, b, c;
    Box(double d, double x, double y, double z) : Body(d), a(x), b(y), c(z) {}
    double volume() const override { return a * b * c; }
    double inertia() const override { return mass() * (a * a + b * b) / 12.0; }
    void scale(double factor) override
    {
        a *= factor;
        b *= factor;
    }
};

struct Charged {
    double charge;
    explicit Charged(double q) : charge(q) {}
    virtual double potential(double distance) const { return charge / distance; }
};

struct Ion : Ball, Charged {
    double screening;
    Ion(double d, double r, double q, double s) : Ball(d, r), Charged(q), screening(s) {}
    double potential(double distance) const override
    {
        return charge * exp(-screening * distance) / (distance + radius);
    }
    void scale(double factor) override
    {
        Ball::scale(factor);
        charge *= factor;
    }
};

enum { BODIES = 6, SIZE = 8 };

__attribute__((noinline)) static double energy(Body *const *bodies, double spin)
{
    double sum = 0.0;
    for (int i = 0; i < BODIES; i++)
        sum += bodies[i]->mass() + 0.5 * bodies[i]->inertia() * spin * spin;
    return sum;
}

__attribute__((noinline)) static double field(const Charged &source, double distance)
{
    return source.potential(distance);
}

static double world(const double *x)
{
    Body *bodies[BODIES];
    for (int i = 0; i < BODIES; i++) {
        if (i % 3 == 0)
            bodies[i] = new Ball(x[i], x[1]);
        else if (i % 3 == 1)
            bodies[i] = new Box(x[i], x[2], x[3], x[4]);
        else
            bodies[i] = new Ion(x[i], x[1], x[5], x[6]);
    }
    double before = energy(bodies, x[7]);
    for (int i = 0; i < BODIES; i++)
        bodies[i]->scale(0.5 + x[i] * x[7]);
    double after = energy(bodies, x[7]);
    const Charged plain(x[5]);
    double sum = field(*static_cast<Ion *>(bodies[2]), x[3]) + field(plain, x[4]);
    for (int i = 0; i < BODIES; i++)
        delete bodies[i];
    return before + log(after) + sum;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(310);
    corpus_fill(point, SIZE, 0.4, 1.1);
}

// Objects that the caller made, with objects of the same classes as shadows: their virtual tables are ordinary ones.
static double swing(Body *body, Charged *charged, double spin)
{
    body->scale(spin);
    return body->inertia() * charged->potential(spin);
}

static int extra()
{
    double worst = 0.0;
    for (int which = 0; which < 2; which++) {
        double gradient[2], step = 0x1p-16;
        Ion ion(0.7, 0.9, 0.5, 0.3), shadow(0.0, 0.0, 0.0, 0.0);
        Box box(0.6, 0.8, 1.1, 0.9), box_shadow(0.0, 0.0, 0.0, 0.0);
        Body *body = which ? static_cast<Body *>(&box) : &ion, *body_shadow = which ? static_cast<Body *>(&box_shadow) : &shadow;
        gradient[0] = __enzyme_autodiff<double>((void *)swing, enzyme_dup, body, body_shadow, enzyme_dup,
                                                static_cast<Charged *>(&ion), static_cast<Charged *>(&shadow), enzyme_out, 1.2);
        gradient[1] = which ? box_shadow.a : shadow.radius;
        for (int k = 0; k < 2; k++) {
            double sides[2];
            for (int side = 0; side < 2; side++) {
                double h = side ? -step : step;
                Ion i(0.7, 0.9 + (k == 1 && !which ? h : 0.0), 0.5, 0.3);
                Box b(0.6, 0.8 + (k == 1 && which ? h : 0.0), 1.1, 0.9);
                sides[side] = swing(which ? static_cast<Body *>(&b) : &i, &i, 1.2 + (k == 0 ? h : 0.0));
            }
            worst = fmax(worst, fabs(gradient[k] - (sides[0] - sides[1]) / (2.0 * step)));
        }
    }
    return corpus_check("calls_shapes", "objects of the caller", worst, 1e-7);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("calls_shapes", world, SIZE, point, setup, .extra = extra, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
