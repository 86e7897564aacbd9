// error[E0111]: what memory the result of a function with a rule points to is not known
extern double __enzyme_autodiff(void *, ...);

struct both {
    double *result, *shadow;
};

__attribute__((noinline)) static double *choose(double *a, double *b, int n) // refused here
{
    return n > 2 ? a : b;
}

static struct both augmented(double *a, double *da, double *b, double *db, int n)
{
    struct both chosen = {n > 2 ? a : b, n > 2 ? da : db};
    return chosen;
}

static void reverse(double *a, double *da, double *b, double *db, int n)
{
    (void)a, (void)da, (void)b, (void)db, (void)n;
}

void *__enzyme_register_gradient_choose[] = {(void *)choose, (void *)augmented, (void *)reverse};

static double square(double *x, int n)
{
    double *chosen = choose(x, x + 1, n);
    return *chosen * *chosen;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)square, x, dx, n);
}
