// error[E0101]: a marker without even a function
extern double __enzyme_autodiff_of_nothing(void);

double gradient(void)
{
    return __enzyme_autodiff_of_nothing(); // refused here
}
