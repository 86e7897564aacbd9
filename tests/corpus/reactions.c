// Mass-action kinetics of a reaction network that is read from strings like "2A+B>C": species are looked up by letter,
// stoichiometry is kept in signed chars, rates by Arrhenius's law with an active temperature that the heat of reaction
// changes. Loss = misfit of the concentrations on a time grid.
#include "corpus.h"

enum { SPECIES = 5, MAXIMUM = 6 };

struct reaction {
    signed char consumed[SPECIES], produced[SPECIES];
    double factor, activation;
    float heat;
};

struct network {
    int count;
    struct reaction reaction[MAXIMUM];
};

static void parse(struct reaction *r, const char *text)
{
    signed char *side = r->consumed;
    int times = 1;
    memset(r->consumed, 0, sizeof(r->consumed));
    memset(r->produced, 0, sizeof(r->produced));
    for (; *text; text++) {
        if (*text == '>')
            side = r->produced;
        else if (*text >= '1' && *text <= '9')
            times = *text - '0';
        else if (*text >= 'A' && *text < 'A' + SPECIES) {
            side[*text - 'A'] = (signed char)(side[*text - 'A'] + times);
            times = 1;
        }
    }
}

static void rates(const struct network *net, const double *state, double *change)
{
    memset(change, 0, sizeof(double) * (SPECIES + 1));
    for (const struct reaction *r = net->reaction; r < net->reaction + net->count; r++) {
        double speed = r->factor * exp(-r->activation / state[SPECIES]);
        for (int s = 0; s < SPECIES; s++)
            for (int k = 0; k < r->consumed[s]; k++)
                speed *= state[s];
        for (int s = 0; s < SPECIES; s++)
            change[s] += speed * (r->produced[s] - r->consumed[s]);
        change[SPECIES] += speed * r->heat;
    }
}

static double kinetics_loss(const double *x, const char *const *equations, int count, const double *data, int steps)
{
    struct network net;
    double state[SPECIES + 1], change[SPECIES + 1], middle[SPECIES + 1], loss = 0.0, dt = 0.05;
    net.count = count;
    for (int i = 0; i < count; i++) {
        parse(&net.reaction[i], equations[i]);
        net.reaction[i].factor = exp(x[2 * i]);
        net.reaction[i].activation = x[2 * i + 1];
        net.reaction[i].heat = 0.125f * (float)(i - 1);
    }
    memcpy(state, x + 2 * count, sizeof(state));
    for (int t = 0; t < steps; t++) {
        rates(&net, state, change);
        for (int s = 0; s <= SPECIES; s++)
            middle[s] = state[s] + 0.5 * dt * change[s];
        rates(&net, middle, change);
        for (int s = 0; s <= SPECIES; s++)
            state[s] += dt * change[s];
        for (int s = 0; s < SPECIES; s++)
            loss += (state[s] - data[t * SPECIES + s]) * (state[s] - data[t * SPECIES + s]);
    }
    return loss / steps;
}

enum { REACTIONS = 4, STEPS = CORPUS_SIZE(80, 4), SIZE = 2 * REACTIONS + SPECIES + 1 };

static double point[SIZE], data[STEPS * SPECIES];
static const char *const equations[REACTIONS] = {"2A+B>C", "C>A+D", "D+B>2E", "E+A>C"};

static void setup(void)
{
    corpus_seed(186);
    corpus_fill(point, SIZE, 0.3, 1.0);
    point[SIZE - 1] = 1.0;
    corpus_fill(data, STEPS * SPECIES, 0.0, 1.0);
}

static double value(const double *x)
{
    return kinetics_loss(x, equations, REACTIONS, data, STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)kinetics_loss, enzyme_dup, x, v, enzyme_const, equations, enzyme_const, REACTIONS,
                            enzyme_const, data, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)kinetics_loss, enzyme_dup, x, g, enzyme_const, equations, enzyme_const, REACTIONS,
                      enzyme_const, data, enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "reactions",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
