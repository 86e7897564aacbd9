// Other formats: what programs name beside `__enzyme_truncate_op_func` and `__enzyme_truncate_mem_func`.
//
//   double __enzyme_truncate_mem_value_d(double x, int from, int to);      x as memory of such a function holds it
//   double __enzyme_expand_mem_value_d(double x, int from, int to);        and back
//   double __enzyme_fprt_64_52_new(double x, int64_t exponent, int64_t digits, int64_t mode, const char *place);
//   double __enzyme_fprt_64_52_get(double x, ...);                         the same with a format that is known at run time
//   void __enzyme_fprt_64_52_delete(double x, ...);                        x is not needed any more
//   void __enzyme_fprt_delete_all(void);                                   no number is
//
// The functions are defined by <enzyme/fprt/mpfr.h>, which one source of a program includes. C11 and C++17.
#ifndef ENZYME_FPRT_FPRT_H
#define ENZYME_FPRT_FPRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

double __enzyme_truncate_mem_value_d(double, int, int);
float __enzyme_truncate_mem_value_f(float, int, int);
double __enzyme_expand_mem_value_d(double, int, int);
float __enzyme_expand_mem_value_f(float, int, int);

// `value` in a format of so many bits of exponent and of digits behind the point.
double __enzyme_fprt_64_52_new(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place);
double __enzyme_fprt_64_52_get(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place);
void __enzyme_fprt_64_52_delete(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place);
void __enzyme_fprt_delete_all(void);

#ifdef __cplusplus
}
#endif

#endif
