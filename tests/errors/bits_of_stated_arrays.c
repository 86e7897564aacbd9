// error[E0205]: arrays of floats by a statement alone: the function reads and writes integers at fixed places
extern void __enzyme_autodiff(void *, long *, long *, long *, long *, long);
extern void __enzyme_double(void *, unsigned long);

static void triple_bits(long *in, long *out, long n)
{
    __enzyme_double(in, 8 * n);
    __enzyme_double(out, 8 * n);
    out[1] = in[2] * 3; // refused here
}

void gradient(long *in, long *d_in, long *out, long *d_out, long n)
{
    __enzyme_autodiff((void *)triple_bits, in, d_in, out, d_out, n);
}
