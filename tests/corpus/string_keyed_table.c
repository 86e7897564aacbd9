// Text and numbers in one structure: a hash table of named parameters with chains, names put together by snprintf, units
// copied and extended by the string functions, and rows found again by name.
#include "corpus.h"

enum { N = CORPUS_SIZE(8, 5), BUCKETS = 7 };

struct parameter {
    char name[12];
    double value;
    int uses;
    char unit[8];
    struct parameter *next;
};

struct row {
    char label[10];
    double weight;
};

static struct row rows[N];

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h;
}

static struct parameter *find(struct parameter **table, const char *name)
{
    for (struct parameter *p = table[hash(name) % BUCKETS]; p; p = p->next)
        if (!strcmp(p->name, name))
            return p;
    return NULL;
}

static void insert(struct parameter **table, const char *name, double value, const char *unit)
{
    struct parameter *p = malloc(sizeof *p);
    strcpy(p->name, name);
    strncpy(p->unit, unit, sizeof p->unit - 1);
    p->unit[sizeof p->unit - 1] = 0;
    p->value = value;
    p->uses = 0;
    p->next = table[hash(name) % BUCKETS];
    table[hash(name) % BUCKETS] = p;
}

static double lookups(double *x)
{
    struct parameter *table[BUCKETS] = {0};
    char name[12];
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "p%d", i);
        insert(table, name, x[i] * x[(i + 1) % N], i % 3 ? "m" : "kg");
        snprintf(rows[i].label, sizeof rows[i].label, "p%d", (3 * i + 1) % N);
        rows[i].weight = sin(x[i]);
    }
    for (int k = 0; k < 2 * N; k++) {
        struct parameter *p = find(table, rows[k % N].label);
        if (!p)
            continue;
        strcat(p->unit, "2");
        sum += p->value * rows[k % N].weight * (double)strlen(p->unit) * (p->unit[0] == 'k' ? 1000.0 : 1.0) * 1e-3;
        p->value = 0.5 * p->value + x[k % N];
        p->uses++;
    }
    for (int b = 0; b < BUCKETS; b++)
        for (struct parameter *p = table[b]; p;) {
            struct parameter *next = p->next;
            sum += p->value * p->uses;
            free(p);
            p = next;
        }
    return sum;
}

static double point[N], work[N], shadow[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.5 + 0.1 * ((5 * i + 3) % N) + 0.013 * i;
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return lookups(work);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)lookups, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)lookups, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "string_keyed_table",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
