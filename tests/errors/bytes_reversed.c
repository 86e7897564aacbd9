// error[E0301]: the bytes of a double are put in another order, and back: a byte has no derivative of its own
extern double __enzyme_autodiff(void *, ...);

static void turn(void *to, const void *from, unsigned long size)
{
    unsigned char *p = to;
    const unsigned char *q = from;
    for (unsigned long i = 0; i < size; i++)
        p[i] = q[size - 1 - i]; // refused here
}

static double turned(double *x, unsigned long size)
{
    double there[8], back[8];
    turn(there, x, size);
    turn(back, there, size);
    return back[0] * back[0] * back[1];
}

void gradient(double *x, double *dx, unsigned long size)
{
    __enzyme_autodiff((void *)turned, x, dx, size);
}
