// Powers in flang's library: of real and complex numbers with exponents that are integers, and powers of two (part of
// flang.c). Numbers to the power of an integer are squared again and again, as the library does (Knuth, The Art of
// Computer Programming, volume 2, section 4.6.3).
#ifndef ENZYME_FLANG_POWERS_H
#define ENZYME_FLANG_POWERS_H

#include "flang_values.h"

double pow(double, double);
float powf(float, float);

double _FortranAFPow8i(double x, int n) { return __builtin_powi(x, n); }
float _FortranAFPow4i(float x, int n) { return __builtin_powif(x, n); }
double _FortranAFPow8k(double x, wide n) { return pow(x, (double)n); }
float _FortranAFPow4k(float x, wide n) { return powf(x, (float)n); }

// x times a power of two.
double ldexp(double, int);
float ldexpf(float, int);
INLINE int clamped(wide n) { return n < -5000 ? -5000 : n > 5000 ? 5000 : (int)n; }
double _FortranAScale8(double x, wide n) { return ldexp(x, clamped(n)); }
float _FortranAScale4(float x, wide n) { return ldexpf(x, clamped(n)); }

// The same number with another power of two.
int ilogb(double);
int ilogbf(float);
double _FortranASetExponent8(double x, wide n) { return x != 0 ? ldexp(x, clamped(n - 1 - ilogb(x))) : x; }
float _FortranASetExponent4(float x, wide n) { return x != 0 ? ldexpf(x, clamped(n - 1 - ilogbf(x))) : x; }

// The next number above or below.
double nextafter(double, double);
float nextafterf(float, float);
double _FortranANearest8(double x, _Bool above) { return nextafter(x, above ? __builtin_inf() : -__builtin_inf()); }
float _FortranANearest4(float x, _Bool above) { return nextafterf(x, above ? __builtin_inff() : -__builtin_inff()); }

#define COMPLEX_POWER(NAME, COMPLEX, REAL, INTEGER)                                                                    \
  COMPLEX NAME(COMPLEX z, INTEGER n) {                                                                                 \
    REAL re = 1, im = 0, a = __real__ z, b = __imag__ z;                                                               \
    for (size left = n < 0 ? -(size)n : (size)n; left; left >>= 1) {                                                   \
      if (left & 1) {                                                                                                  \
        const REAL next = re * a - im * b;                                                                             \
        im = re * b + im * a;                                                                                          \
        re = next;                                                                                                     \
      }                                                                                                                \
      if (left > 1) {                                                                                                  \
        const REAL square = a * a - b * b;                                                                             \
        b = 2 * a * b;                                                                                                 \
        a = square;                                                                                                    \
      }                                                                                                                \
    }                                                                                                                  \
    if (n < 0) {                                                                                                       \
      const REAL norm = re * re + im * im;                                                                             \
      re = re / norm;                                                                                                  \
      im = -im / norm;                                                                                                 \
    }                                                                                                                  \
    COMPLEX out;                                                                                                       \
    __real__ out = re;                                                                                                 \
    __imag__ out = im;                                                                                                 \
    return out;                                                                                                        \
  }
COMPLEX_POWER(_FortranAzpowi, complex16, double, int)
COMPLEX_POWER(_FortranAzpowk, complex16, double, wide)
COMPLEX_POWER(_FortranAcpowi, complex8, float, int)
COMPLEX_POWER(_FortranAcpowk, complex8, float, wide)

#endif
