// error[E0203]: "in the place of a pointer"
// Each of the caller's unions holds an address first, then a number in single precision.
extern float __enzyme_autodiff(void *, ...);
extern int enzyme_dup, enzyme_const;

union place {
    float *from;
    float value;
};

static float energy(union place *p, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        float x = *p[i].from;
        p[i].value = x * x; // refused here
    }
    for (int i = 0; i < n; i++)
        sum += p[i].value * p[i].value;
    return sum;
}

void gradient(union place *p, union place *dp, int n)
{
    __enzyme_autodiff((void *)energy, enzyme_dup, p, dp, enzyme_const, n);
}
