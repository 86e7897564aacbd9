// error[E0106]: two structures of a short float and counts, of which a function that calls itself finds one
extern int enzyme_dup;

struct found {
    short at;
    _Float16 value;
    int other;
};

extern void __enzyme_autodiff(void *, int, const struct found *, struct found *, int);

static struct found largest(const struct found *x, int n)
{
    if (n == 1)
        return x[0];
    struct found best = largest(x + 1, n - 1);
    return x[0].value > best.value ? x[0] : best;
}

void gradient(const struct found *x, struct found *shadow)
{
    __enzyme_autodiff((void *)largest, enzyme_dup, x, shadow, 7);
}
