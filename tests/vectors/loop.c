// A sum over a function of the mathematical library, or its derivative: -DREAL=double -DFUNCTION=tanh, and -DTANGENT or -DGRADIENT.
// What is looked at is the assembly: which vector functions the loop calls.
#include <math.h>

#if defined(TANGENT) || defined(GRADIENT)
#define PRIMAL static
#else
#define PRIMAL
#endif

PRIMAL REAL sum(const REAL *x, int n)
{
    REAL total = 0;
    for (int i = 0; i < n; i++)
        total += FUNCTION(x[i]);
    return total;
}

extern REAL __enzyme_fwddiff(void *function, ...);
extern void __enzyme_autodiff(void *function, ...);
extern int enzyme_dup, enzyme_const;

#ifdef TANGENT
REAL tangent(const REAL *x, const REAL *dx, int n)
{
    return __enzyme_fwddiff((void *)sum, enzyme_dup, x, dx, enzyme_const, n);
}
#endif

#ifdef GRADIENT
void gradient(const REAL *restrict x, REAL *restrict dx, int n)
{
    __enzyme_autodiff((void *)sum, enzyme_dup, x, dx, enzyme_const, n);
}
#endif
