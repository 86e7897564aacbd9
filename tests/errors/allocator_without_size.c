// error[E0111]: must hold an allocator, the number of its argument with the size
extern double __enzyme_autodiff(void *, ...);
extern void *take(void *pool, double bytes);
extern void give(void *memory);

void *__enzyme_allocation_like_pool[4] = {(void *)take, (void *)1, (void *)"-1", (void *)give};

static double through(double x)
{
    double *place = (double *)take(0, 8.0);
    *place = x * x;
    double y = *place;
    give(place);
    return y;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)through, x);
}
