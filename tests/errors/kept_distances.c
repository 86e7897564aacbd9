// error[E0203]: no derivative for an address that is kept as the distance from another object
#include <stdint.h>
#include <stdlib.h>

extern void __enzyme_autodiff(void *, ...);
extern int enzyme_const;

// Where the values lie is told from where a handle lies, which has no shadow that lies so.
struct entry {
    int64_t at[2];
};

__attribute__((noinline)) static double look_up(const struct entry *all, const char *handle, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double *value = (const double *)(handle + all[i].at[i % 2]);
        sum += *value * *value;
    }
    return sum;
}

static double sum_of_squares(const double *x, int n)
{
    struct entry *all = malloc(sizeof *all * (size_t)n);
    double *values = malloc(sizeof *values * (size_t)n);
    char *handle = malloc(1);
    for (int i = 0; i < n; i++) {
        values[i] = x[i] * x[i];
        all[i].at[0] = (char *)&values[i] - handle; // refused here
        all[i].at[1] = (char *)&values[n - 1 - i] - handle;
    }
    double sum = look_up(all, handle, n);
    free(handle);
    free(values);
    free(all);
    return sum;
}

void gradient(const double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)sum_of_squares, x, dx, enzyme_const, n);
}
