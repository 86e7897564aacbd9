// error[E0111]: only a reverse rule is registered
extern double __enzyme_fwddiff(void *, ...);

__attribute__((noinline)) static double cube(double x) // refused here
{
    return x * x * x;
}

static double augmented(double x)
{
    return cube(x);
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

double tangent(double x)
{
    return __enzyme_fwddiff((void *)shifted, x, 1.0);
}
