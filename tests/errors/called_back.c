// error[E0203]: "given a function which uses active data"
// A library calls back what the state is changed by.
void library_call(void (*step)(void));
double __enzyme_autodiff(void *, ...);

static double state;
static void square(void) { state *= state; }

static double stepped(double x)
{
    state = x;
    library_call(square);
    return state;
}

double gradient(double x) { return __enzyme_autodiff((void *)stepped, x); }
