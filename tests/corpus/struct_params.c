// An array of structs with integer, float, double and array fields and padding between them, read and written through
// pointers, copied by assignment and by memcpy. Each struct is a damped oscillator or a polynomial, by its kind; the list
// is walked through an integer `next`, so that order is data.
#include "corpus.h"

enum kind { OSCILLATOR, POLYNOMIAL };

struct term {
    enum kind kind;
    double scale;
    char name;
    double coefficients[3];
    float offset;
    short next;
};

struct summary {
    int visited;
    double total;
    struct term strongest;
};

static double evaluate(const struct term *term, double t)
{
    const double *c = term->coefficients;
    switch (term->kind) {
    case OSCILLATOR:
        return term->scale * exp(-c[0] * t) * cos(c[1] * t + c[2]) + term->offset;
    case POLYNOMIAL:
        return term->scale * (c[0] + t * (c[1] + t * c[2])) + term->offset;
    }
    return 0.0;
}

// Terms are changed as they are visited: each passes a tenth of its scale on to the next one.
static void walk(struct term *terms, int first, double t, struct summary *summary)
{
    double strongest = -1.0;
    for (int i = first; i >= 0; i = terms[i].next) {
        struct term copy = terms[i];
        double here = evaluate(&copy, t);
        summary->total += here * here;
        summary->visited++;
        if (copy.scale > strongest) {
            strongest = copy.scale;
            memcpy(&summary->strongest, &terms[i], sizeof(struct term));
        }
        if (copy.next >= 0) {
            struct term *next = &terms[copy.next];
            next->scale += 0.1 * copy.scale;
            terms[i].scale -= 0.1 * copy.scale;
        }
    }
}

static double struct_loss(struct term *terms, int first, const double *times, int count)
{
    struct summary summary;
    memset(&summary, 0, sizeof(summary));
    for (int k = 0; k < count; k++)
        walk(terms, first, times[k], &summary);
    return summary.total / summary.visited + summary.strongest.scale * summary.strongest.coefficients[1];
}

enum { TERMS = CORPUS_SIZE(12, 3), TIMES = CORPUS_SIZE(20, 3), SIZE = 4 * TERMS };

static double point[SIZE], times[TIMES];
static struct term terms[TERMS], shadows[TERMS];

static void setup(void)
{
    corpus_seed(23);
    for (int i = 0; i < TERMS; i++) {
        corpus_fill(point + 4 * i, 4, 0.3, 1.0);
        point[4 * i] = 0.5 + 0.05 * i;
    }
    for (int k = 0; k < TIMES; k++)
        times[k] = 0.1 * k;
}

// The chain visits every other term, then ends; the float offsets are constants of the problem.
static void pack(struct term *to, const double *x, int shadow)
{
    memset(to, 0, sizeof(struct term) * TERMS);
    for (int i = 0; i < TERMS; i++) {
        to[i].kind = i % 3 == 1 ? POLYNOMIAL : OSCILLATOR;
        to[i].name = (char)('a' + i % 26);
        to[i].next = (short)(i + 2 < TERMS ? i + 2 : -1);
        to[i].offset = shadow ? 0.0f : 0.125f * (float)(i % 4);
        to[i].scale = x[4 * i];
        for (int k = 0; k < 3; k++)
            to[i].coefficients[k] = x[4 * i + 1 + k];
    }
}

static void unpack(const struct term *from, double *g)
{
    for (int i = 0; i < TERMS; i++) {
        g[4 * i] = from[i].scale;
        for (int k = 0; k < 3; k++)
            g[4 * i + 1 + k] = from[i].coefficients[k];
    }
}

static double value(const double *x)
{
    pack(terms, x, 0);
    return struct_loss(terms, 0, times, TIMES);
}

static double tangent(const double *x, const double *v)
{
    pack(terms, x, 0);
    pack(shadows, v, 1);
    return __enzyme_fwddiff((void *)struct_loss, enzyme_dup, terms, shadows, enzyme_const, 0, enzyme_const, times,
                            enzyme_const, TIMES);
}

static void gradient(const double *x, double *g)
{
    pack(terms, x, 0);
    memset(shadows, 0, sizeof(shadows));
    __enzyme_autodiff((void *)struct_loss, enzyme_dup, terms, shadows, enzyme_const, 0, enzyme_const, times,
                      enzyme_const, TIMES);
    unpack(shadows, g);
}

static void gradient_no_need(const double *x, double *g)
{
    pack(terms, x, 0);
    memset(shadows, 0, sizeof(shadows));
    __enzyme_autodiff((void *)struct_loss, enzyme_dupnoneed, terms, shadows, 0, enzyme_const, times, TIMES);
    unpack(shadows, g);
}

static const struct corpus_problem problem = {
    .name = "struct_params",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient with enzyme_dupnoneed", .gradient = gradient_no_need}},
    .coordinates = CORPUS_ALL,
    .step = 0x1p-10, // small enough that the strongest term stays the same
};

CORPUS_MAIN(&problem)
