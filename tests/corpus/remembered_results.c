// Functions that remember their last results in variables of their own, as ephemerides and equations of state do. Who
// asks for the value and then for the gradient at the same place must not be given what was remembered before the
// derivative began, which has none. A state that moves on at most once for each time is left as it is.
// Source of the idea: Meeus, "Astronomical Algorithms", chapter 32, as libraries of it are written.
#include "corpus.h"

enum { N = 5, TERMS = 12 };

struct position {
    double longitude, latitude, distance;
};

static double series(double t, double phase)
{
    double sum = 0.0;
    for (int i = 1; i <= TERMS; i++)
        sum += cos(phase + t * i) / (i * i);
    return sum;
}

static void planet(double day, struct position *out)
{
    static double last_day, longitude, latitude, distance;
    if (day == last_day) {
        out->longitude = longitude;
        out->latitude = latitude;
        out->distance = distance;
        return;
    }
    out->longitude = series(day, 0.3);
    out->latitude = series(2.0 * day, 0.7);
    out->distance = 1.0 + 0.1 * series(3.0 * day, 1.1);
    last_day = day;
    longitude = out->longitude;
    latitude = out->latitude;
    distance = out->distance;
}

static double pressure(double temperature, double density)
{
    static double last_temperature = -1.0, last_density = -1.0, attraction, repulsion;
    if (temperature != last_temperature || density != last_density) {
        attraction = exp(-density / temperature) * sqrt(temperature);
        repulsion = 0.0;
        for (int i = 1; i < 4; i++)
            repulsion += series(temperature * i, density);
        last_temperature = temperature;
        last_density = density;
    }
    return attraction * density + repulsion;
}

// Moves on when the time is another one.
static double now, level;

static double advance(double time)
{
    if (time != now) {
        level = level + 0.1 * sin(time) * level;
        now = time;
    }
    return level;
}

static double observed(const double *x)
{
    struct position here, there;
    planet(x[0], &here);
    double sum = here.longitude * here.distance;
    planet(x[0], &there);
    sum += there.latitude * x[1];
    double p = pressure(x[1], x[2]), q = pressure(x[1], x[2]);
    now = -1.0;
    level = x[3];
    double a = advance(x[4]), b = advance(x[4]);
    return sum + p * q + a * b;
}

// What happens once for each new argument is no result: a flag that is raised, a sum that starts anew, and what is
// changed afterwards. None of it may happen again in a derivative.
static double seen_time = -1.0, seen_day = -1.0, seen_angle = -1.0, travelled, sum_of_day, sine;
static int is_new;

static double events(const double *x)
{
    if (x[4] != seen_time) {
        is_new = 1;
        seen_time = x[4];
    }
    if (is_new) {
        travelled += x[1];
        is_new = 0;
    }
    if (x[0] != seen_day) {
        sum_of_day = 0.0;
        seen_day = x[0];
    }
    sum_of_day += x[1];
    if (x[2] != seen_angle) {
        sine = sin(x[2]);
        seen_angle = x[2];
    }
    sine *= 1.01;
    return travelled * sum_of_day * sine;
}

static int are_left_alone(const double *x)
{
    double g[N] = {0.0};
    events(x);
    double way = travelled, sum = sum_of_day + x[1], last = sine * 1.01;
    __enzyme_autodiff((void *)events, enzyme_dup, x, g);
    return travelled == way && sum_of_day == sum && sine == last;
}

static double point[N] = {0.7, 1.3, 0.4, 2.1, 0.9};

static double value(const double *x)
{
    return observed(x);
}

static double tangent(const double *x, const double *v)
{
    observed(x);
    return __enzyme_fwddiff((void *)observed, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    observed(x);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)observed, enzyme_dup, x, g);
    if (!are_left_alone(x))
        g[0] = NAN;
}

static const struct corpus_problem problem = {
    .name = "remembered_results",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
