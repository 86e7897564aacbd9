// error[E0302]: a pointer to active memory is kept in constant memory, where its shadow has no place
extern int enzyme_const, enzyme_dup;
extern double __enzyme_autodiff(void *, ...);

struct holder {
    double *values;
};

static double through_holder(struct holder *holders, double *values, int i, int j)
{
    holders[i].values = values;
    return holders[j].values[0] * holders[j].values[1];
}

double gradient(struct holder *holders, double *values, double *adjoints, int i, int j)
{
    return __enzyme_autodiff((void *)through_holder, enzyme_const, holders, enzyme_dup, values, adjoints, enzyme_const,
                             i, enzyme_const, j);
}
