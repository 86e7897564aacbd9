// Narrower formats: what programs name beside `__enzyme_truncate_op_func` and `__enzyme_truncate_mem_func`.
//
//   double __enzyme_truncate_mem_value_d(double x, int from, int to);      x as memory of a narrower function holds it
//   double __enzyme_expand_mem_value_d(double x, int from, int to);        and back
//   double __enzyme_fprt_64_52_new(double x, int64_t exponent, int64_t digits, int64_t mode, const char *place);
//   double __enzyme_fprt_64_52_get(double x, ...);                         the same with a format that is known at run time
//
// Memory of a narrower function holds numbers of the wider type which the narrower format has, so no number has a handle that must
// be freed, and no run-time library stands behind this. Rounding is to nearest, ties to even; what is too large becomes infinite.
// C11 and C++17.
#ifndef ENZYME_FPRT_FPRT_H
#define ENZYME_FPRT_FPRT_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

double __enzyme_truncate_mem_value_d(double, int, int);
float __enzyme_truncate_mem_value_f(float, int, int);
double __enzyme_expand_mem_value_d(double, int, int);
float __enzyme_expand_mem_value_f(float, int, int);

// `value` in a format of so many bits of exponent and of digits behind the point.
static inline double __enzyme_fprt_64_52_new(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)mode;
    (void)place;
    if (value == 0.0 || !isfinite(value) || exponent < 2 || exponent > 11 || digits < 1 || digits > 52)
        return value;
    // Numbers below the smallest normal one have fewer digits.
    const int most = (1 << (exponent - 1)) - 1;
    int power;
    (void)frexp(value, &power);
    power = power - 1 < 1 - most ? 1 - most : power - 1;
    const double unit = ldexp(1.0, power - (int)digits), rounded = copysign(nearbyint(fabs(value) / unit) * unit, value);
    return fabs(rounded) > ldexp(2.0 - ldexp(1.0, -(int)digits), most) ? copysign(HUGE_VAL, value) : rounded;
}

static inline double __enzyme_fprt_64_52_get(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)exponent;
    (void)digits;
    (void)mode;
    (void)place;
    return value;
}

static inline void __enzyme_fprt_64_52_delete(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)value;
    (void)exponent;
    (void)digits;
    (void)mode;
    (void)place;
}

static inline void __enzyme_fprt_delete_all(void) {}

#ifdef __cplusplus
}
#endif

#endif
