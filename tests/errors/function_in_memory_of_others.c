// error[E0103]: "read from memory that others may write to"
extern double __enzyme_autodiff(void *, ...);

struct model {
    double (*function)(double);
};

static double square(double x)
{
    return x * x;
}

double gradient(struct model *model, double x)
{
    if (!model->function)
        model->function = square;
    return __enzyme_autodiff((void *)model->function, x); // refused here
}
