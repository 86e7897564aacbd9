// error[E0105]: takes a value and the constant widths of two formats, not the same
extern double __enzyme_truncate_mem_value(double, ...);

double rounded(double x, int bits)
{
    return __enzyme_truncate_mem_value(x, 64, bits); // refused here
}
