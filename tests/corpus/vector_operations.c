// An integrator for vectors of any kind, as libraries of solvers in C have it: what can be done with a vector stands in a
// table of functions, and so does what a method does in a step. Functions of one type lie in different members, and take
// memory of different kinds: a call of one must not be taken for a call of another. Counters of work lie beside arrays of
// floats; some calls are never made.
// Source of the idea: Hindmarsh et al., "SUNDIALS", ACM TOMS 31 (2005), the structure of its vectors.
#include "corpus.h"

enum { N = 4, STEPS = 12, ORDER = 3 };

struct vector;

struct operations {
    struct vector *(*clone)(const struct vector *);
    void (*destroy)(struct vector *);
    long (*length)(const struct vector *);
    void (*space)(const struct vector *, long *, long *);
    double *(*data)(struct vector *);
    void (*set_data)(double *, struct vector *);
    void (*absolute)(struct vector *, struct vector *);
    void (*invert)(struct vector *, struct vector *);
    void (*sum)(double, struct vector *, double, struct vector *, struct vector *);
    double (*weighted_norm)(struct vector *, struct vector *);
};

struct vector {
    void *content;
    struct operations *operations;
};

struct serial {
    long length;
    int owns;
    double *data;
};

static struct vector *serial_new(long length);

static struct vector *serial_clone(const struct vector *v)
{
    return serial_new(((struct serial *)v->content)->length);
}

static void serial_destroy(struct vector *v)
{
    struct serial *content = v->content;
    if (content->owns)
        free(content->data);
    free(content);
    free(v->operations);
    free(v);
}

static long serial_length(const struct vector *v)
{
    return ((struct serial *)v->content)->length;
}

static void serial_space(const struct vector *v, long *reals, long *integers)
{
    *reals = ((struct serial *)v->content)->length;
    *integers = 1;
}

static double *serial_data(struct vector *v)
{
    return ((struct serial *)v->content)->data;
}

static void serial_set_data(double *data, struct vector *v)
{
    struct serial *content = v->content;
    if (content->owns)
        free(content->data);
    content->owns = 0;
    content->data = data;
}

static void serial_absolute(struct vector *x, struct vector *z)
{
    const struct serial *from = x->content, *to = z->content;
    for (long i = 0; i < from->length; i++)
        to->data[i] = fabs(from->data[i]);
}

static void serial_invert(struct vector *x, struct vector *z)
{
    const struct serial *from = x->content, *to = z->content;
    for (long i = 0; i < from->length; i++)
        to->data[i] = 1.0 / from->data[i];
}

static void serial_sum(double a, struct vector *x, double b, struct vector *y, struct vector *z)
{
    const struct serial *one = x->content, *other = y->content, *to = z->content;
    for (long i = 0; i < one->length; i++)
        to->data[i] = a * one->data[i] + b * other->data[i];
}

static double serial_weighted_norm(struct vector *x, struct vector *w)
{
    const struct serial *values = x->content, *weights = w->content;
    double sum = 0.0;
    for (long i = 0; i < values->length; i++) {
        double part = values->data[i] * weights->data[i];
        sum += part * part;
    }
    return sqrt(sum / (double)values->length);
}

static struct vector *serial_new(long length)
{
    struct vector *v = malloc(sizeof *v);
    v->operations = calloc(1, sizeof *v->operations);
    v->operations->clone = serial_clone;
    v->operations->destroy = serial_destroy;
    v->operations->length = serial_length;
    v->operations->space = serial_space;
    v->operations->data = serial_data;
    v->operations->set_data = serial_set_data;
    v->operations->absolute = serial_absolute;
    v->operations->invert = serial_invert;
    v->operations->sum = serial_sum;
    v->operations->weighted_norm = serial_weighted_norm;
    struct serial *content = malloc(sizeof *content);
    content->length = length;
    content->owns = 1;
    content->data = calloc((size_t)length, sizeof(double));
    v->content = content;
    return v;
}

struct projection {
    int (*apply)(double, struct vector *, struct vector *, double, void *);
    double tolerance;
};

struct integrator {
    int (*rhs)(double, struct vector *, struct vector *, void *);
    void *user;
    double time, step, coefficients[ORDER + 1], taken[ORDER + 2];
    struct vector *stages[ORDER], *state, *weights, *scratch;
    int order, stage;
    long reals, integers, reals_of_one, integers_of_one, evaluations;
    int (*prepare)(void *, int);
    int (*advance)(void *, int *);
    void (*report)(int, const char *, void *);
    struct projection *projection;
};

static int set_weights(void *memory, int order)
{
    struct integrator *m = memory;
    m->order = order;
    m->state->operations->absolute(m->state, m->scratch);
    m->state->operations->sum(1e-2, m->scratch, 1.0, m->scratch, m->weights);
    double *w = m->weights->operations->data(m->weights);
    for (long i = 0; i < m->weights->operations->length(m->weights); i++)
        w[i] += 0.1;
    m->weights->operations->invert(m->weights, m->weights);
    m->reals += (m->order + 2) * m->reals_of_one;
    m->integers += (m->order + 2) * m->integers_of_one;
    return 0;
}

static int project(struct integrator *m)
{
    if (!m->projection)
        return 0;
    return m->projection->apply(m->time, m->state, m->scratch, m->projection->tolerance, m->user);
}

static int advance_stages(void *memory, int *flag)
{
    struct integrator *m = memory;
    for (m->stage = 0; m->stage < m->order; m->stage++) {
        struct vector *from = m->stage ? m->scratch : m->state;
        *flag = m->rhs(m->time, from, m->stages[m->stage], m->user);
        m->evaluations++;
        if (*flag && m->report)
            m->report(*flag, "the right-hand side failed", m->user);
        m->state->operations->sum(1.0, m->state, m->coefficients[m->stage] * m->step, m->stages[m->stage], m->scratch);
    }
    double size = m->scratch->operations->weighted_norm(m->stages[m->order - 1], m->weights);
    m->taken[m->order] += size * m->step;
    m->state->operations->sum(0.0, m->state, 1.0, m->scratch, m->state);
    m->time += m->step;
    return project(m);
}

static struct integrator *integrator_new(int (*rhs)(double, struct vector *, struct vector *, void *),
                                         struct vector *start, void *user)
{
    struct integrator *m = calloc(1, sizeof *m);
    m->rhs = rhs;
    m->user = user;
    m->state = start;
    start->operations->space(start, &m->reals_of_one, &m->integers_of_one);
    m->weights = start->operations->clone(start);
    m->scratch = start->operations->clone(start);
    for (int i = 0; i < ORDER; i++) {
        m->stages[i] = start->operations->clone(start);
        m->reals += m->reals_of_one;
        m->integers += m->integers_of_one;
        m->coefficients[i] = 1.0 / (ORDER - i);
    }
    m->prepare = set_weights;
    m->advance = advance_stages;
    return m;
}

static double integrator_run(struct integrator *m, double end, int steps)
{
    m->step = (end - m->time) / steps;
    if (!m->prepare || m->prepare(m, ORDER))
        return NAN;
    for (int i = 0, flag = 0; i < steps; i++)
        if (m->advance(m, &flag))
            return NAN;
    return m->taken[m->order] + 0.0 * (double)m->reals;
}

static void integrator_free(struct integrator *m)
{
    for (int i = 0; i < ORDER; i++)
        m->stages[i]->operations->destroy(m->stages[i]);
    m->weights->operations->destroy(m->weights);
    m->scratch->operations->destroy(m->scratch);
    free(m);
}

static int oscillator(double time, struct vector *state, struct vector *change, void *user)
{
    const double *p = user, *y = state->operations->data(state);
    double *d = change->operations->data(change);
    d[0] = y[1];
    d[1] = -p[0] * y[0] - p[1] * y[1] + 0.1 * sin(time);
    return 0;
}

static double swing(const double *x)
{
    double parameters[2] = {x[2], x[3]}, start[2] = {x[0], x[1]};
    struct vector *state = serial_new(2);
    state->operations->set_data(start, state);
    struct integrator *m = integrator_new(oscillator, state, parameters);
    double way = integrator_run(m, 2.0, STEPS);
    double end = start[0] + 0.5 * start[1] * start[1] + 0.1 * way;
    integrator_free(m);
    state->operations->destroy(state);
    return end;
}

static double point[N] = {1.2, 0.3, 2.5, 0.4};

static double value(const double *x)
{
    return swing(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)swing, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)swing, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "vector_operations",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
