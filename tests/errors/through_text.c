// error[E0203]: "numbers are made of text"
// A value is rounded by way of its text.
#include <stdio.h>
#include <stdlib.h>

double __enzyme_autodiff(void *, ...);

static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.6f", x * x); // refused here
    return atof(text);
}

double gradient(double x) { return __enzyme_autodiff((void *)rounded, x); }
