// Records of a union of a number and a pointer to one, moved about as wholes: by memmove, insertion sort, exchange, as
// the best of several, through rings, lists, stacks and growing arrays; copied and looked at as well. What compilers
// copy has the type of the union's first member, which is the number here and the pointer in `unions_moved_pointers`.
// corpus: native
// (From optimised bitcode LLVM 22's code generator for -O0 makes a load through the register of the number, in `ring`.)
#include "corpus.h"

enum { SIZE = 6 };

struct record {
    long tag;
    union {
#ifdef POINTER_FIRST
        double *box;
        double number;
#else
        double number;
        double *box;
#endif
    } u;
};

#define KIND static __attribute__((noinline)) double

static void fill(struct record *v, const double *x, double *boxes)
{
    for (int i = 0; i < SIZE; i++) {
        v[i].tag = i % 2;
        if (v[i].tag) {
            boxes[i] = x[i] * x[(i + 1) % SIZE];
            v[i].u.box = &boxes[i];
        } else {
            v[i].u.number = sin(x[i]);
        }
    }
}

static double one(struct record r)
{
    double a = r.tag ? *r.u.box * 1.5 : r.u.number;
    return a * a;
}

static double all(const struct record *v)
{
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++)
        sum += one(v[i]) * (i + 1);
    return sum;
}

KIND shifted(const double *x)
{
    struct record v[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    struct record first = v[0];
    memmove(&v[0], &v[1], (SIZE - 1) * sizeof(*v));
    v[SIZE - 1] = first;
    return all(v);
}

KIND sorted(const double *x)
{
    struct record v[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    for (int i = 1; i < SIZE; i++) {
        struct record r = v[i];
        int j = i;
        for (; j > 0 && v[j - 1].tag < r.tag; j--)
            v[j] = v[j - 1];
        v[j] = r;
    }
    return all(v);
}

static void exchange(struct record *a, struct record *b)
{
    struct record r = *a;
    *a = *b;
    *b = r;
}

KIND bubbled(const double *x)
{
    struct record v[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j + 1 < SIZE; j++)
            if (v[j].tag < v[j + 1].tag)
                exchange(v + j, v + j + 1);
    return all(v);
}

// A number takes the place of a box, and a box that of a number.
KIND changed(const double *x)
{
    struct record v[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    double before = all(v);
    for (int i = 0; i < SIZE; i++) {
        if (v[i].tag) {
            double t = *v[i].u.box;
            v[i].tag = 0;
            v[i].u.number = t * x[0];
        } else {
            boxes[i] = v[i].u.number * x[1];
            v[i].tag = 1;
            v[i].u.box = &boxes[i];
        }
    }
    return before * all(v);
}

KIND grown(const double *x)
{
    int room = 2, n = 0;
    struct record *v = malloc(2 * sizeof(*v)), w[SIZE];
    double boxes[SIZE];
    fill(w, x, boxes);
    for (int i = 0; i < SIZE; i++) {
        if (n == room)
            v = realloc(v, (size_t)(room *= 2) * sizeof(*v));
        v[n++] = w[i];
    }
    double sum = all(v);
    free(v);
    return sum * x[2];
}

KIND best(const double *x)
{
    struct record v[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    struct record b = v[0];
    for (int i = 1; i < SIZE; i++)
        if ((double)v[i].tag * x[i] > (double)b.tag)
            b = v[i];
    v[0] = b;
    return all(v) * one(b);
}

// A word of which something is asked, as sanitizers do, and that is moved nevertheless.
KIND asked(const double *x)
{
    struct record v[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    struct record b = v[0];
    for (int i = 1; i < SIZE; i++)
        if ((double)v[i].tag * x[i] > (double)b.tag)
            b = v[i];
    v[0] = b;
    if (b.tag && !b.u.box)
        return 0.0;
    return all(v) * one(b);
}

KIND chosen(const double *x)
{
    struct record v[SIZE], w[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    for (int i = 0; i < SIZE; i++)
        w[i] = x[i] > 1.0 ? v[i] : v[(i + 1) % SIZE];
    return all(w) + all(v);
}

// Copied, and looked at as what it is.
KIND looked_at(const double *x)
{
    struct record v[SIZE], w[SIZE];
    double boxes[SIZE], sum = 0.0;
    fill(v, x, boxes);
    for (int i = 0; i < SIZE; i++) {
        struct record r = v[i];
        w[SIZE - 1 - i] = r;
        if (r.tag)
            sum += *r.u.box;
        else
            sum *= r.u.number;
    }
    return sum * all(w);
}

// New records where others come, too.
KIND made(const double *x)
{
    struct record v[SIZE], w[SIZE];
    double boxes[SIZE];
    fill(v, x, boxes);
    for (int i = 0; i < SIZE; i++) {
        struct record r = v[i];
        if (x[i] > 1.2) {
            r.tag = 0;
            r.u.number = x[i] * x[i];
        } else if (x[i] < 0.5) {
            r.tag = 1;
            r.u.box = &boxes[1];
        }
        w[i] = r;
    }
    boxes[1] *= x[1] * x[2];
    return all(w);
}

KIND ring(const double *x)
{
    struct record v[SIZE], q[4];
    double boxes[SIZE], sum = 0.0;
    int head = 0, tail = 0;
    fill(v, x, boxes);
    for (int i = 0; i < 3 * SIZE; i++) {
        q[tail++ % 4] = v[i % SIZE];
        if (tail - head < 4)
            continue;
        struct record r = q[head++ % 4];
        sum += one(r) * i;
        if (!r.tag) {
            r.u.number *= x[i % SIZE];
            v[i % SIZE] = r;
        }
    }
    return sum;
}

struct node {
    struct record record;
    struct node *next;
};

KIND listed(const double *x)
{
    struct record v[SIZE];
    double boxes[SIZE], sum = 0.0;
    fill(v, x, boxes);
    struct node *list = NULL;
    for (int i = 0; i < SIZE; i++) {
        struct node *node = malloc(sizeof(*node));
        node->record = v[i];
        node->next = list;
        list = node;
    }
    for (int k = 1; list; k++) {
        struct node *next = list->next;
        sum += one(list->record) * k;
        free(list);
        list = next;
    }
    return sum * x[0];
}

#define EACH(DO)                                                                                                       \
    DO(shifted)                                                                                                        \
    DO(sorted) DO(bubbled) DO(changed) DO(grown) DO(best) DO(asked) DO(chosen) DO(looked_at) DO(made) DO(ring) DO(listed)

static double point[SIZE];

static void setup(void)
{
    const double start[SIZE] = {1.1, 0.7, 1.9, 0.4, 1.3, 0.9};
    memcpy(point, start, sizeof(point));
}

static double value(const double *x)
{
    double sum = 0.0;
#define VALUE(KIND_) sum += KIND_(x);
    EACH(VALUE)
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0;
#define TANGENT(KIND_) sum += __enzyme_fwddiff((void *)KIND_, enzyme_dup, x, v);
    EACH(TANGENT)
    return sum;
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
#define GRADIENT(KIND_) __enzyme_autodiff((void *)KIND_, enzyme_dup, x, g);
    EACH(GRADIENT)
}

#ifndef NAME
#define NAME "unions_moved"
#endif

static const struct corpus_problem problem = {
    .name = NAME,
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
