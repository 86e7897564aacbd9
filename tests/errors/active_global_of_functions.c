// error[E0305]: one function writes a variable that other files see, a callee of another reads it
extern double __enzyme_autodiff(void *, ...);
extern int enzyme_out, enzyme_const;

extern double kept[4];

__attribute__((noinline)) static void keep(double x, int i)
{
    kept[i] = x;
}

__attribute__((noinline)) static double taken(int i)
{
    return kept[i];
}

__attribute__((noinline)) static double taken_twice(int i)
{
    return 2.0 * taken(i);
}

static double through_global(double x, int i, int j)
{
    keep(x, i);
    return taken_twice(j) * x;
}

double gradient(double x, int i, int j)
{
    return __enzyme_autodiff((void *)through_global, enzyme_out, x, enzyme_const, i, enzyme_const, j);
}
