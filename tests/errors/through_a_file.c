// error[E0203]: "written to a file"
// A state goes to a scratch file and comes back: nothing follows it there.
#include <stdio.h>

double __enzyme_autodiff(void *, ...);

static double stored(double *x)
{
    double y[4], sum = 0.0;
    FILE *scratch = tmpfile();
    fwrite(x, sizeof *x, 4, scratch);
    rewind(scratch);
    if (fread(y, sizeof *y, 4, scratch) != 4)
        return 0.0;
    fclose(scratch);
    for (int i = 0; i < 4; i++)
        sum += y[i] * y[i];
    return sum;
}

void gradient(double *x, double *dx) { __enzyme_autodiff((void *)stored, x, dx); }
