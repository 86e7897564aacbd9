// error[E0111]: tangents from a tape are made from the reverse rule, which is missing
extern double __enzyme_fwdsplit(void *, ...);

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

double tangent(double x, void *tape)
{
    return __enzyme_fwdsplit((void *)cube, x, 1.0, tape);
}
