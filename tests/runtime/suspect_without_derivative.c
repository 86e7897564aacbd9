// aborts[E0202]: a pointer may lead to a function that has no derivative; where it leads to another one, all is well
// says: it may be 'opaque', refused: 
extern int enzyme_const, enzyme_out;
extern double __enzyme_autodiff(void *, ...);

static double square(double x)
{
    return x * x;
}

static double opaque(double x)
{
    __asm__ volatile("fsin" : "+t"(x));
    return 2.0 * x;
}

static double opaque_twice(double x)
{
    return opaque(opaque(x));
}

double (*const registry[3])(double) = {square, opaque, opaque_twice};

static double apply(double (*function)(double), double x)
{
    return x * function(x);
}

static double gradient(double (*function)(double), double x)
{
    return __enzyme_autodiff((void *)apply, enzyme_const, function, enzyme_out, x);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (gradient(registry[argc - 1], 1.5) != 3.0 * 1.5 * 1.5)
        return 1;
    gradient(registry[argc], 1.5);
    return 2;
}
