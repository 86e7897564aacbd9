// error[E0203]: no derivative for an address that is kept as the distance from where it lies
#include <stdint.h>
#include <stdlib.h>

extern void __enzyme_autodiff(void *, ...);
extern int enzyme_const;

// As in memory that several processes share: boost::interprocess::offset_ptr.
struct node {
    double value;
    intptr_t next;
};

static struct node *next_of(struct node *n)
{
    return n->next == 1 ? 0 : (struct node *)((intptr_t)&n->next + n->next);
}

static double sum_of_squares(const double *x, int n)
{
    struct node *first = 0;
    for (int i = 0; i < n; i++) {
        struct node *one = malloc(sizeof *one);
        one->value = x[i] * x[i];
        one->next = first ? (intptr_t)first - (intptr_t)&one->next : 1; // refused here
        first = one;
    }
    double sum = 0.0;
    while (first) {
        struct node *next = next_of(first);
        sum += first->value * first->value;
        free(first);
        first = next;
    }
    return sum;
}

void gradient(const double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)sum_of_squares, x, dx, enzyme_const, n);
}
