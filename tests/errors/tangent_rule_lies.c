// error[E0111]: a rule has other parameters than its function asks for: 'cube_tangent' is double (double, ptr), the function 'cube' is double (double)
extern double __enzyme_fwdsplit(void *, ...);

double cube(double x)
{
    return x * x * x;
}

static struct {
    void *tape;
    double value;
} cube_augmented(double x)
{
    return (__typeof__(cube_augmented(x))){0, x * x * x};
}

static double cube_tangent(double x, void *tape)
{
    (void)tape;
    return 3.0 * x * x;
}

void *__enzyme_register_splitderivative_cube[] = {(void *)cube, (void *)cube_augmented, (void *)cube_tangent};

double tangent(double x, void *tape)
{
    return __enzyme_fwdsplit((void *)cube, x, 1.0, tape);
}
