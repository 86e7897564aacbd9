// error[E0111]: the rules of 'cube' have no reverse rule
extern double __enzyme_fwdsplit(void *, ...);
extern double __enzyme_autodiff(void *, ...);

double cube(double x)
{
    return x * x * x;
}

static void *cube_augmented(double x)
{
    (void)x;
    return 0;
}

static double cube_tangent(double x, double dx, void *tape)
{
    (void)tape;
    return 3.0 * x * x * dx;
}

void *__enzyme_register_splitderivative_cube[] = {(void *)cube, (void *)cube_augmented, (void *)cube_tangent};

double twice(double x)
{
    return 2.0 * cube(x);
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)twice, x);
}
