// A volatility smile from option quotes: implied volatilities by Newton's method on the Black-Scholes formula
// (bisection when it leaves the bracket), then a weighted least-squares parabola by normal equations. Active: prices,
// spot, rate.
// Source: Hull, "Options, Futures, and Other Derivatives", chapters 15 and 20.
#include "corpus.h"

struct quote {
    char type; // 'C' or 'P'
    unsigned char liquid;
    float strike, years;
    double price;
};

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.7071067811865476);
}

static double black_scholes(const struct quote *q, double spot, double rate, double volatility, double *vega)
{
    double deviation = volatility * sqrt(q->years), discounted = q->strike * exp(-rate * q->years);
    double d1 = log(spot / discounted) / deviation + 0.5 * deviation, d2 = d1 - deviation;
    *vega = spot * sqrt(q->years) * exp(-0.5 * d1 * d1) * 0.3989422804014327;
    if (q->type == 'C')
        return spot * normal_cdf(d1) - discounted * normal_cdf(d2);
    return discounted * normal_cdf(-d2) - spot * normal_cdf(-d1);
}

static int implied(const struct quote *q, double spot, double rate, double *volatility)
{
    double low = 0.01, high = 2.0, v = 0.3;
    for (int i = 0; i < 100; i++) {
        double vega, error = black_scholes(q, spot, rate, v, &vega) - q->price;
        if (error > 0.0)
            high = v;
        else
            low = v;
        double next = v - error / vega;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        int converged = fabs(next - v) < 1e-12;
        v = next;
        if (converged) {
            // One more Newton step: its derivative is that of the root, however the last bracket was halved.
            error = black_scholes(q, spot, rate, v, &vega) - q->price;
            *volatility = v - error / vega;
            return 1;
        }
    }
    return 0;
}

static double smile_loss(const struct quote *quotes, int count, double spot, double rate)
{
    double m[3][4] = {{0.0}}, residual = 0.0;
    for (int i = 0; i < count; i++) {
        double v;
        if (!quotes[i].liquid || !implied(&quotes[i], spot, rate, &v))
            continue;
        double k = log(quotes[i].strike / spot), basis[4] = {1.0, k, k * k, v};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                m[r][c] += basis[r] * basis[c];
        residual += v * v;
    }
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) {
            double f = m[r][k] / m[k][k];
            if (r != k)
                for (int c = k; c < 4; c++)
                    m[r][c] -= f * m[k][c];
        }
    for (int r = 0; r < 3; r++)
        residual += (r + 1) * m[r][3] / m[r][r];
    return residual;
}

enum { COUNT = CORPUS_SIZE(20, 6), SIZE = COUNT + 2 };

static double point[SIZE];
static struct quote params[COUNT], shadow[COUNT];

static void fill_quote(struct quote *q, int i)
{
    *q = (struct quote){i % 2 ? 'C' : 'P', i % 6 != 4, 80.0f + 40.0f * (float)i / COUNT, 0.25f + 0.25f * (float)(i % 3),
                        0.0};
}

static void setup(void)
{
    double vega;
    corpus_seed(210);
    point[COUNT] = 101.0;
    point[COUNT + 1] = 0.03;
    for (int i = 0; i < COUNT; i++) {
        fill_quote(&params[i], i);
        point[i] = black_scholes(&params[i], 101.0, 0.03, 0.25 + corpus_uniform(-0.03, 0.03), &vega);
    }
}

static void pack(struct quote *to, const double *x)
{
    for (int i = 0; i < COUNT; i++) {
        fill_quote(&to[i], i);
        if (to == shadow)
            to[i].strike = to[i].years = 0.0f;
        to[i].price = x[i];
    }
}

static void unpack(const struct quote *from, double *g)
{
    for (int i = 0; i < COUNT; i++)
        g[i] = from[i].price;
}

static double value(const double *x)
{
    pack(params, x);
    return smile_loss(params, COUNT, x[COUNT], x[COUNT + 1]);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)smile_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_dup, x[COUNT],
                            v[COUNT], enzyme_dup, x[COUNT + 1], v[COUNT + 1]);
}

struct two {
    double spot, rate;
};

CORPUS_MARKER(struct two, __enzyme_autodiff_two)

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    struct two d = __enzyme_autodiff_two((void *)smile_loss, enzyme_dup, params, shadow, enzyme_const, COUNT,
                                         enzyme_out, x[COUNT], enzyme_out, x[COUNT + 1]);
    unpack(shadow, g);
    g[COUNT] = d.spot;
    g[COUNT + 1] = d.rate;
}

static const struct corpus_problem problem = {
    .name = "implied_vol",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 1024.0,  // a rate of three per cent, prices below one
    .fd_tolerance = 1e-6,  // prices far out of the money have little vega
    .dot_tolerance = 1e-8, // likewise
};

CORPUS_MAIN(&problem)
