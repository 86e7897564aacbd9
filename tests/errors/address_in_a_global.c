// error[E0203]: "may change active data"
// A library finds the address of the state where it told the program to leave it.
void library_step(void);
extern double *library_state;
double __enzyme_autodiff(void *, ...);

static double stepped(double x)
{
    double state = x;
    library_state = &state;
    library_step();
    return state;
}

double gradient(double x) { return __enzyme_autodiff((void *)stepped, x); }
