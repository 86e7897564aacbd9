// error[E0203]: "memory that the caller of the derivative owns"
#include <stdlib.h>

extern int enzyme_dup, enzyme_out;
extern double __enzyme_autodiff(void *, ...);

struct list {
    double *values;
    int count;
};

__attribute__((noinline)) static void push(struct list *list, double x)
{
    list->values = realloc(list->values, sizeof(double) * (unsigned long)(list->count + 1));
    list->values[list->count++] = x;
}

static double grown(struct list *list, double x)
{
    push(list, x * list->values[0]);
    return list->values[list->count - 1] * list->values[0];
}

double gradient(struct list *list, struct list *shadow, double x)
{
    return __enzyme_autodiff((void *)grown, enzyme_dup, list, shadow, enzyme_out, x);
}
