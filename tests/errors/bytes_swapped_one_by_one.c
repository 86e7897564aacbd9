// error[E0301]: doubles are exchanged byte by byte: a byte has no derivative of its own
extern double __enzyme_autodiff(void *, ...);

static void swap(void *a, void *b, unsigned long size)
{
    unsigned char *p = a, *q = b;
    for (unsigned long i = 0; i < size; i++) {
        unsigned char byte = p[i]; // refused here
        p[i] = q[i];
        q[i] = byte;
    }
}

static double swapped(double *x)
{
    swap(x, x + 1, sizeof(*x));
    return x[0] * x[0] * x[1];
}

void gradient(double *x, double *dx)
{
    __enzyme_autodiff((void *)swapped, x, dx);
}
