// A projectile with drag in the standard atmosphere, which is a constant table of layers interpolated by logarithms,
// and a constant table of the drag coefficient over the Mach number. Loss = distance of the landing point from a
// target.
// Source: U.S. Standard Atmosphere (1976), table of layers; RK2 steps, the last one shortened to end on the ground.
#include "corpus.h"

struct layer {
    double base, temperature, lapse, pressure;
};

static const struct layer layers[] = {
    {0.0, 288.15, -0.0065, 101325.0},
    {11000.0, 216.65, 0.0, 22632.1},
    {20000.0, 216.65, 0.001, 5474.89},
};

static const double mach_table[][2] = {
    {0.0, 0.22}, {0.6, 0.22}, {0.9, 0.30}, {1.0, 0.46}, {1.1, 0.50}, {1.5, 0.42}, {2.0, 0.36}, {3.0, 0.31}, {9.0, 0.28},
};

static void air(double height, double *density, double *sound)
{
    size_t i = CORPUS_COUNT(layers) - 1;
    while (i > 0 && height < layers[i].base)
        i--;
    const struct layer *l = &layers[i];
    double t = l->temperature + l->lapse * (height - l->base), p;
    if (l->lapse != 0.0)
        p = l->pressure * pow(t / l->temperature, -9.80665 / (287.053 * l->lapse));
    else
        p = l->pressure * exp(-9.80665 * (height - l->base) / (287.053 * l->temperature));
    *density = p / (287.053 * t);
    *sound = sqrt(1.4 * 287.053 * t);
}

static double drag_coefficient(double mach)
{
    for (size_t i = 1; i < CORPUS_COUNT(mach_table); i++)
        if (mach < mach_table[i][0]) {
            double s = (mach - mach_table[i - 1][0]) / (mach_table[i][0] - mach_table[i - 1][0]);
            return (1.0 - s) * mach_table[i - 1][1] + s * mach_table[i][1];
        }
    return mach_table[CORPUS_COUNT(mach_table) - 1][1];
}

static void slope(const double *s, double ballistic, double *d)
{
    double density, sound, speed = sqrt(s[2] * s[2] + s[3] * s[3]);
    air(s[1], &density, &sound);
    double drag = 0.5 * density * speed * drag_coefficient(speed / sound) / ballistic;
    d[0] = s[2];
    d[1] = s[3];
    d[2] = -drag * s[2];
    d[3] = -drag * s[3] - 9.80665;
}

static double range_loss(const double *launch, double target, double dt)
{
    double s[4] = {0.0, launch[2], launch[0] * cos(launch[1]), launch[0] * sin(launch[1])};
    double d[4], middle[4], last_x = 0.0, last_y = 0.0;
    do {
        last_x = s[0];
        last_y = s[1];
        slope(s, launch[3], d);
        for (int i = 0; i < 4; i++)
            middle[i] = s[i] + 0.5 * dt * d[i];
        slope(middle, launch[3], d);
        for (int i = 0; i < 4; i++)
            s[i] += dt * d[i];
    } while (s[1] > 0.0);
    double range = last_x + (s[0] - last_x) * last_y / (last_y - s[1]);
    double miss = (range - target) / 1000.0;
    return miss * miss;
}

enum { SIZE = 4 };

static double point[SIZE] = {820.0, 0.82, 5.0, 600.0}; // speed, elevation, height, mass over area

static void setup(void)
{
}

static double value(const double *x)
{
    return range_loss(x, 18000.0, CORPUS_SIZE(0.25, 4.0));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)range_loss, enzyme_dup, x, v, enzyme_const, 18000.0, enzyme_const, CORPUS_SIZE(0.25,
                            4.0));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)range_loss, enzyme_dup, x, g, enzyme_const, 18000.0, enzyme_const, CORPUS_SIZE(0.25,
                      4.0));
}

static const struct corpus_problem problem = {
    .name = "atmosphere",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-18, // no step crosses an entry of the tables
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
