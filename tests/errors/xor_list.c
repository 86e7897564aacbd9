// error[E0203]: "computed as an integer"
// A list whose nodes hold the exclusive or of their neighbours' addresses: nothing leads to the shadow of such an address.
#include <stdint.h>
#include <stdlib.h>

double __enzyme_autodiff(void *, ...);

struct node {
    double value;
    uintptr_t neighbours;
};

static double walk(double *x)
{
    struct node *head = 0, *last = 0, *before = 0;
    for (int i = 0; i < 5; i++) {
        struct node *added = malloc(sizeof *added);
        added->value = x[i] * x[i];
        added->neighbours = (uintptr_t)last;
        if (last)
            last->neighbours ^= (uintptr_t)added;
        else
            head = added;
        last = added;
    }
    double sum = 0.0;
    for (struct node *n = head; n;) {
        sum += n->value;
        struct node *next = (struct node *)(n->neighbours ^ (uintptr_t)before);
        before = n;
        n = next;
    }
    return sum;
}

void gradient(double *x, double *dx) { __enzyme_autodiff((void *)walk, x, dx); }
