// error[E0203]: "numbers are made of text"
// One function prints, another reads.
#include <stdio.h>

double __enzyme_autodiff(void *, ...);

__attribute__((noinline)) static void print(char *text, double x)
{
    snprintf(text, 32, "%.17g", x); // refused here
}

__attribute__((noinline)) static double read_back(const char *text)
{
    double y = 0.0;
    sscanf(text, "%lf", &y);
    return y;
}

static double rounded(double x)
{
    char text[32];
    print(text, x * x);
    return x * read_back(text);
}

double gradient(double x) { return __enzyme_autodiff((void *)rounded, x); }
