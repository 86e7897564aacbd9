// Intrusive lists as in kernels: the list node is a member of the object, which is found again by offsetof. Vehicles
// on two lanes follow the one in front (intelligent driver model) and change lanes, so they move between the lists.
// Source: Treiber, Hennecke, Helbing, Phys. Rev. E 62 (2000).
#include "corpus.h"

struct list {
    struct list *previous, *next;
};

struct vehicle {
    double position, speed;
    struct list link;
    int lane;
    double wish;
};

#define VEHICLE(node) ((struct vehicle *)(void *)((char *)(node) - offsetof(struct vehicle, link)))

static void list_remove(struct list *node)
{
    node->previous->next = node->next;
    node->next->previous = node->previous;
}

static void list_insert(struct list *node, struct list *before)
{
    node->next = before;
    node->previous = before->previous;
    before->previous->next = node;
    before->previous = node;
}

static double acceleration(const struct vehicle *v, double gap, double approach, const double *p)
{
    double ratio = v->speed / v->wish;
    double wanted = p[0] + v->speed * p[1] + v->speed * approach / (2.0 * sqrt(p[2] * p[3]));
    ratio *= ratio;
    return p[2] * (1.0 - ratio * ratio - (wanted / gap) * (wanted / gap));
}

// Lists are ordered from the front to the rear of the queue.
static double traffic_loss(const double *wishes, const double *p, int count, int steps)
{
    struct list lanes[2];
    struct vehicle *vehicles = malloc(sizeof(struct vehicle) * (size_t)count);
    double loss = 0.0, dt = 0.1;
    for (int l = 0; l < 2; l++)
        lanes[l].previous = lanes[l].next = &lanes[l];
    for (int i = 0; i < count; i++) {
        struct vehicle *v = &vehicles[i];
        v->position = -12.0 * i;
        v->speed = 8.0;
        v->lane = i % 3 == 1;
        v->wish = wishes[i];
        list_insert(&v->link, &lanes[v->lane]);
    }
    for (int t = 0; t < steps; t++) {
        for (int l = 0; l < 2; l++)
            for (struct list *node = lanes[l].next; node != &lanes[l]; node = node->next) {
                struct vehicle *v = VEHICLE(node);
                double gap = 200.0, approach = 0.0;
                if (node->previous != &lanes[l]) {
                    const struct vehicle *front = VEHICLE(node->previous);
                    gap = front->position - v->position - 4.0;
                    approach = v->speed - front->speed;
                }
                v->speed += dt * acceleration(v, gap > 5.0 ? gap : 5.0, approach, p);
                if (v->speed < 0.0)
                    v->speed = 0.0;
                loss += 1e-3 * approach * approach;
            }
        for (int i = 0; i < count; i++)
            vehicles[i].position += dt * vehicles[i].speed;
        if (t % 8 == 7) {
            struct vehicle *v = &vehicles[(t / 8) % count];
            struct list *head = &lanes[1 - v->lane], *at = head->next;
            while (at != head && VEHICLE(at)->position > v->position)
                at = at->next;
            list_remove(&v->link);
            list_insert(&v->link, at);
            v->lane = 1 - v->lane;
        }
    }
    for (int i = 0; i < count; i++)
        loss += (vehicles[i].speed - wishes[i]) * (vehicles[i].speed - wishes[i]) / count;
    free(vehicles);
    return loss;
}

enum { COUNT = CORPUS_SIZE(12, 4), STEPS = CORPUS_SIZE(80, 10), SIZE = COUNT + 4 };

static double point[SIZE];

static void setup(void)
{
    static const double driver[4] = {2.0, 1.3, 1.1, 1.8};
    corpus_seed(216);
    corpus_fill(point, COUNT, 9.0, 15.0);
    corpus_copy(point + COUNT, driver, 4);
}

static double value(const double *x)
{
    return traffic_loss(x, x + COUNT, COUNT, STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)traffic_loss, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_const,
                            COUNT, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)traffic_loss, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_const, COUNT,
                      enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "intrusive_list",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-18, // the same vehicles pass and gaps are cut
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
