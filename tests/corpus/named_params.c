// A model configured by text, "rate=1.5;order=3;...", with names duplicated by strdup into a table of settings, values
// parsed digit by digit, messages formatted by snprintf into a log while the active computation runs.
#include "corpus.h"

struct setting {
    char *name;
    double number;
};

struct config {
    int count;
    struct setting settings[8];
    char log[64];
};

static void configure(struct config *c, const char *text)
{
    char name[16];
    memset(c, 0, sizeof(*c));
    while (*text && c->count < 8) {
        size_t length = strcspn(text, "=");
        memcpy(name, text, length);
        name[length] = '\0';
        text += length + 1;
        double number = 0.0, scale = 1.0;
        int point_seen = 0;
        for (; *text && *text != ';'; text++) {
            if (*text == '.') {
                point_seen = 1;
                continue;
            }
            number = 10.0 * number + (*text - '0');
            if (point_seen)
                scale *= 10.0;
        }
        c->settings[c->count].name = strdup(name);
        c->settings[c->count++].number = number / scale;
        if (*text)
            text++;
    }
}

static double lookup(const struct config *c, const char *name, double otherwise)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->settings[i].name, name) == 0)
            return c->settings[i].number;
    return otherwise;
}

static double growth_loss(const char *text, const double *x, int count)
{
    struct config *c = malloc(sizeof(*c));
    double state = 0.1, loss = 0.0;
    configure(c, text);
    double rate = lookup(c, "rate", 1.0), capacity = lookup(c, "capacity", 10.0), lag = lookup(c, "lag", 0.0);
    int order = (int)lookup(c, "order", 1.0);
    for (int t = 0; t < count; t++) {
        double crowding = 1.0;
        for (int k = 0; k < order; k++)
            crowding *= state / capacity;
        state += 0.1 * (rate * x[t] * state * (1.0 - crowding) - lag * state);
        if (t % 10 == 0)
            snprintf(c->log, sizeof(c->log), "step %d of %s: %.3f", t, c->settings[0].name, state);
        loss += (state - 1.0) * (state - 1.0);
    }
    loss += c->log[0] == 's' ? 0.0 : 1.0;
    for (int i = 0; i < c->count; i++)
        free(c->settings[i].name);
    free(c);
    return loss;
}

enum { SIZE = CORPUS_SIZE(60, 8) };

static double point[SIZE];
static const char text[] = "rate=1.5;capacity=2.25;order=2;lag=0.05";

static void setup(void)
{
    corpus_seed(213);
    corpus_fill(point, SIZE, 0.2, 1.0);
}

static double value(const double *x)
{
    return growth_loss(text, x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)growth_loss, enzyme_const, text, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)growth_loss, enzyme_const, text, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "named_params",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
