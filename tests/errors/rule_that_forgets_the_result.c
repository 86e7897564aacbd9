// error[E0111]: the augmented rule does not return what the function returns
extern double __enzyme_autodiff(void *, ...);

__attribute__((noinline)) static double cube(double x) // refused here
{
    return x * x * x;
}

static void augmented(double x)
{
    (void)x;
}

static double reverse(double x, double seed)
{
    return 3.0 * x * x * seed;
}

void *__enzyme_register_gradient_cube[] = {(void *)cube, (void *)augmented, (void *)reverse};

static double shifted(double x)
{
    return cube(x) + x;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)shifted, x);
}
