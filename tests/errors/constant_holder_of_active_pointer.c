// error[E????]: a pointer to active memory is kept in constant memory, where its shadow has no place
extern int enzyme_const, enzyme_dup;
extern double __enzyme_autodiff(void *, ...);

struct holder {
    double *values;
};

__attribute__((noinline)) static double product(const struct holder *holder)
{
    return holder->values[0] * holder->values[1];
}

static double through_holder(struct holder *holder, double *values)
{
    holder->values = values;
    return product(holder);
}

double gradient(struct holder *holder, double *values, double *adjoints)
{
    return __enzyme_autodiff((void *)through_holder, enzyme_const, holder, enzyme_dup, values, adjoints);
}
