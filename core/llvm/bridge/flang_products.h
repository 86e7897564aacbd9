// Products of vectors and matrices: dot_product and matmul, also of numbers of different kinds. Part of flang.c.

#ifndef ENZYME_FLANG_PRODUCTS_H
#define ENZYME_FLANG_PRODUCTS_H

#include "flang_values.h"

// One of both has the kind of the result, the other one any kind of number.
#define EACH_REAL(type, DO)                                                                                            \
  switch (type) {                                                                                                      \
  case REAL8:                                                                                                          \
    DO(double) break;                                                                                                  \
  case REAL4:                                                                                                          \
    DO(float) break;                                                                                                   \
  case INTEGER1:                                                                                                       \
    DO(signed char) break;                                                                                             \
  case INTEGER2:                                                                                                       \
    DO(short) break;                                                                                                   \
  case INTEGER4:                                                                                                       \
    DO(int) break;                                                                                                     \
  case INTEGER8:                                                                                                       \
    DO(wide) break;                                                                                                    \
  default:                                                                                                             \
    REFUSE("dot_product of these kinds", file, line);                                                                  \
  }

#define EACH_PRODUCT(X, Y, ADD)                                                                                        \
  for (wide k = 0; k < x->dims[0].extent; k++) {                                                                       \
    const X *a = (const X *)(x->base + k * x->dims[0].stride);                                                         \
    const Y *b = (const Y *)(y->base + k * y->dims[0].stride);                                                         \
    ADD                                                                                                                \
  }

#define DOT(NAME, T, TYPE, RIGHT, LEFT)                                                                                \
  T NAME(const descriptor *x, const descriptor *y, const char *file, int line) {                                       \
    T out = 0;                                                                                                         \
    if (x->type == TYPE)                                                                                               \
      EACH_REAL(y->type, RIGHT)                                                                                        \
    else if (y->type == TYPE)                                                                                          \
      EACH_REAL(x->type, LEFT)                                                                                         \
    else                                                                                                               \
      REFUSE("dot_product of these kinds", file, line);                                                                \
    return out;                                                                                                        \
  }

#define BY_DOUBLE(X) EACH_PRODUCT(X, double, out += (double)*a * *b;)
#define OF_DOUBLE(Y) EACH_PRODUCT(double, Y, out += *a * (double)*b;)
#define BY_FLOAT(X) EACH_PRODUCT(X, float, out += (float)*a * *b;)
#define OF_FLOAT(Y) EACH_PRODUCT(float, Y, out += *a * (float)*b;)
DOT(_FortranADotProductReal8, double, REAL8, OF_DOUBLE, BY_DOUBLE)
DOT(_FortranADotProductReal4, float, REAL4, OF_FLOAT, BY_FLOAT)

// The conjugate of the first one's.
#define COMPLEX_DOT(NAME, T, PART, TYPE, RIGHT, LEFT)                                                                  \
  void NAME(T *result, const descriptor *x, const descriptor *y, const char *file, int line) {                         \
    PART re = 0, im = 0;                                                                                               \
    if (x->type == TYPE && y->type == TYPE)                                                                            \
      EACH_PRODUCT(PART, PART, re += a[0] * b[0] + a[1] * b[1]; im += a[0] * b[1] - a[1] * b[0];)                      \
    else if (x->type == TYPE)                                                                                          \
      EACH_REAL(y->type, RIGHT)                                                                                        \
    else if (y->type == TYPE)                                                                                          \
      EACH_REAL(x->type, LEFT)                                                                                         \
    else                                                                                                               \
      REFUSE("dot_product of these kinds", file, line);                                                                \
    ((PART *)result)[0] = re;                                                                                          \
    ((PART *)result)[1] = im;                                                                                          \
  }

#define BY_COMPLEX8(X) EACH_PRODUCT(X, double, re += (double)*a * b[0]; im += (double)*a * b[1];)
#define OF_COMPLEX8(Y) EACH_PRODUCT(double, Y, re += a[0] * (double)*b; im -= a[1] * (double)*b;)
#define BY_COMPLEX4(X) EACH_PRODUCT(X, float, re += (float)*a * b[0]; im += (float)*a * b[1];)
#define OF_COMPLEX4(Y) EACH_PRODUCT(float, Y, re += a[0] * (float)*b; im -= a[1] * (float)*b;)
COMPLEX_DOT(_FortranACppDotProductComplex8, complex16, double, COMPLEX8, OF_COMPLEX8, BY_COMPLEX8)
COMPLEX_DOT(_FortranACppDotProductComplex4, complex8, float, COMPLEX4, OF_COMPLEX4, BY_COMPLEX4)

// What a sum over the inner dimension adds, of elements of the kinds A and B: complex numbers are two of their parts.
#define REAL_REAL(A, B) re += *(const A *)p * *(const B *)q;
#define COMPLEX_COMPLEX(A, B)                                                                                          \
  re += ((const A *)p)[0] * ((const B *)q)[0] - ((const A *)p)[1] * ((const B *)q)[1];                                 \
  im += ((const A *)p)[0] * ((const B *)q)[1] + ((const A *)p)[1] * ((const B *)q)[0];
#define COMPLEX_REAL(A, B)                                                                                             \
  re += ((const A *)p)[0] * *(const B *)q;                                                                             \
  im += ((const A *)p)[1] * *(const B *)q;
#define REAL_COMPLEX(A, B)                                                                                             \
  re += *(const A *)p * ((const B *)q)[0];                                                                             \
  im += *(const A *)p * ((const B *)q)[1];

#define REAL_RESULT(T) ((T *)base)[i + j * rows] = re;
#define COMPLEX_RESULT(T)                                                                                              \
  ((T *)base)[2 * (i + j * rows)] = re;                                                                                \
  ((T *)base)[2 * (i + j * rows) + 1] = im;

#define MATMUL(NAME, ADD, A, B, RESULT, T, TYPE, LENGTH, TRANSPOSED)                                                   \
  void NAME(descriptor *result, const descriptor *a, const descriptor *b, const char *file, int line) {                \
    (void)file, (void)line;                                                                                            \
    const int first = TRANSPOSED;                                                                                      \
    const wide a_row = a->rank == 2 ? a->dims[first].stride : 0;                                                       \
    const wide a_column = a->rank == 2 ? a->dims[1 - first].stride : a->dims[0].stride;                                \
    const wide rows = a->rank == 2 ? a->dims[first].extent : 1;                                                        \
    const wide inner = b->dims[0].extent;                                                                              \
    const wide b_row = b->dims[0].stride, b_column = b->rank == 2 ? b->dims[1].stride : 0;                             \
    const wide columns = b->rank == 2 ? b->dims[1].extent : 1;                                                         \
    establish(result, a, a->rank + b->rank - 2);                                                                       \
    result->type = TYPE;                                                                                               \
    result->length = LENGTH;                                                                                           \
    wide bytes = LENGTH;                                                                                               \
    if (a->rank == 2)                                                                                                  \
      shape(result, 0, rows, &bytes);                                                                                  \
    if (b->rank == 2)                                                                                                  \
      shape(result, a->rank - 1, columns, &bytes);                                                                     \
    char *base = fresh(bytes);                                                                                         \
    for (wide j = 0; j < columns; j++)                                                                                 \
      for (wide i = 0; i < rows; i++) {                                                                                \
        T re = 0, im = 0;                                                                                              \
        for (wide k = 0; k < inner; k++) {                                                                             \
          const char *p = a->base + i * a_row + k * a_column, *q = b->base + k * b_row + j * b_column;                 \
          ADD(A, B)                                                                                                    \
        }                                                                                                              \
        RESULT(T)                                                                                                      \
        (void)im;                                                                                                      \
      }                                                                                                                \
    result->base = base;                                                                                               \
  }

#define REAL_MATMUL(KINDS, A, B, T, TYPE, LENGTH)                                                                      \
  MATMUL(_FortranAMatmul##KINDS, REAL_REAL, A, B, REAL_RESULT, T, TYPE, LENGTH, 0)                                     \
  MATMUL(_FortranAMatmulTranspose##KINDS, REAL_REAL, A, B, REAL_RESULT, T, TYPE, LENGTH, 1)
#define COMPLEX_MATMUL(KINDS, HOW, A, B, T, TYPE, LENGTH)                                                              \
  MATMUL(_FortranAMatmul##KINDS, HOW, A, B, COMPLEX_RESULT, T, TYPE, LENGTH, 0)                                        \
  MATMUL(_FortranAMatmulTranspose##KINDS, HOW, A, B, COMPLEX_RESULT, T, TYPE, LENGTH, 1)

REAL_MATMUL(Real8Real8, double, double, double, REAL8, 8)
REAL_MATMUL(Real4Real4, float, float, float, REAL4, 4)
REAL_MATMUL(Real8Real4, double, float, double, REAL8, 8)
REAL_MATMUL(Real4Real8, float, double, double, REAL8, 8)
REAL_MATMUL(Real8Integer4, double, int, double, REAL8, 8)
REAL_MATMUL(Integer4Real8, int, double, double, REAL8, 8)
REAL_MATMUL(Real8Integer8, double, wide, double, REAL8, 8)
REAL_MATMUL(Integer8Real8, wide, double, double, REAL8, 8)
REAL_MATMUL(Real4Integer4, float, int, float, REAL4, 4)
REAL_MATMUL(Integer4Real4, int, float, float, REAL4, 4)
COMPLEX_MATMUL(Complex8Complex8, COMPLEX_COMPLEX, double, double, double, COMPLEX8, 16)
COMPLEX_MATMUL(Complex4Complex4, COMPLEX_COMPLEX, float, float, float, COMPLEX4, 8)
COMPLEX_MATMUL(Complex8Complex4, COMPLEX_COMPLEX, double, float, double, COMPLEX8, 16)
COMPLEX_MATMUL(Complex4Complex8, COMPLEX_COMPLEX, float, double, double, COMPLEX8, 16)
COMPLEX_MATMUL(Complex8Real8, COMPLEX_REAL, double, double, double, COMPLEX8, 16)
COMPLEX_MATMUL(Real8Complex8, REAL_COMPLEX, double, double, double, COMPLEX8, 16)
COMPLEX_MATMUL(Complex8Real4, COMPLEX_REAL, double, float, double, COMPLEX8, 16)
COMPLEX_MATMUL(Real4Complex8, REAL_COMPLEX, float, double, double, COMPLEX8, 16)
COMPLEX_MATMUL(Complex8Integer4, COMPLEX_REAL, double, int, double, COMPLEX8, 16)
COMPLEX_MATMUL(Integer4Complex8, REAL_COMPLEX, int, double, double, COMPLEX8, 16)

#endif
