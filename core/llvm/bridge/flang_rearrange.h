// Rearrangements of arrays: transposes, new shapes, copies along a new dimension, shifts, packing. Part of flang.c.

#ifndef ENZYME_FLANG_REARRANGE_H
#define ENZYME_FLANG_REARRANGE_H

#include "flang_values.h"

// The result of a rearrangement, whose elements own nothing.
INLINE void rearranged(descriptor *result, const descriptor *x, int rank, const char *file, int line) {
  if (owns(x))
    REFUSE("rearrangement of derived types with allocatable components", file, line);
  establish(result, x, rank);
}

void _FortranATranspose(descriptor *result, const descriptor *x, const char *file, int line) {
  rearranged(result, x, 2, file, line);
  const wide rows = x->dims[0].extent, columns = x->dims[1].extent;
  const size length = x->length;
  wide bytes = (wide)length;
  shape(result, 0, columns, &bytes);
  shape(result, 1, rows, &bytes);
  char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
  for (wide i = 0; i < rows; i++)                                                                                      \
    for (wide j = 0; j < columns; j++)                                                                                 \
      move_##T(base + (j + i * columns) * (wide)length, x->base + i * x->dims[0].stride + j * x->dims[1].stride,       \
               length);
  EACH_KIND(x->type, length, LOOP)
#undef LOOP
  result->base = base;
}

INLINE wide integer_at(const descriptor *d, wide k) {
  const char *p = d->base + (d->rank == 0 ? 0 : k * d->dims[0].stride);
  switch (d->length) {
  case 1:
    return *(const signed char *)p;
  case 2:
    return *(const short *)p;
  case 4:
    return *(const int *)p;
  default:
    return *(const wide *)p;
  }
}

void _FortranAReshape(descriptor *result, const descriptor *x, const descriptor *to, const descriptor *pad,
                      const descriptor *order, const char *file, int line) {
  if (order)
    REFUSE("reshape with an order", file, line);
  const int rank = (int)to->dims[0].extent;
  rearranged(result, x, rank, file, line);
  const size length = x->length;
  wide bytes = (wide)length, n = 1;
  DIMENSIONS(r, 0, rank) {
    const wide extent = integer_at(to, r);
    shape(result, r, extent, &bytes);
    n *= extent;
  }
  const wide given = count_of(x);
  const wide first = n < given ? n : given;
  char *base = fresh(bytes);
  if (first < n && !pad)
    REFUSE("reshape of too few elements", file, line);
  copy(base, 0, x, first, length);
  if (first < n) {
    const wide more = count_of(pad);
#define LOOP(T)                                                                                                        \
  for (wide k = first; k < n; k++)                                                                                     \
    move_##T(base + k * (wide)length, pad->base + place(pad, 0, (k - first) % more), length);
    EACH_KIND(x->type, length, LOOP)
#undef LOOP
  }
  result->base = base;
}

void _FortranASpread(descriptor *result, const descriptor *x, int dim, wide copies, const char *file, int line) {
  rearranged(result, x, x->rank + 1, file, line);
  const size length = x->length;
  const wide extent = copies > 0 ? copies : 0;
  wide bytes = (wide)length, below = 1;
  DIMENSIONS(r, 0, x->rank + 1) {
    if (r < dim - 1)
      below *= x->dims[r].extent;
    shape(result, r, r == dim - 1 ? extent : x->dims[r < dim - 1 ? r : r - 1].extent, &bytes);
  }
  const wide n = count_of(x);
  const int flat = is_dense(x);
  char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
  for (wide k = 0; k < n; k++)                                                                                         \
    for (wide c = 0; c < extent; c++)                                                                                  \
      move_##T(base + (k % below + (c + k / below * extent) * below) * (wide)length, x->base + place(x, flat, k),      \
               length);
  EACH_KIND(x->type, length, LOOP)
#undef LOOP
  result->base = base;
}

void _FortranACshiftVector(descriptor *result, const descriptor *x, wide shift, const char *file, int line) {
  rearranged(result, x, 1, file, line);
  const size length = x->length;
  const wide n = x->dims[0].extent;
  wide bytes = (wide)length;
  shape(result, 0, n, &bytes);
  char *base = fresh(bytes);
  const wide by = n > 0 ? (shift % n + n) % n : 0;
#define LOOP(T)                                                                                                        \
  for (wide k = 0; k < n; k++)                                                                                         \
    move_##T(base + k * (wide)length, x->base + (k + by < n ? k + by : k + by - n) * x->dims[0].stride, length);
  EACH_KIND(x->type, length, LOOP)
#undef LOOP
  result->base = base;
}

// The same along one dimension, by one number or by as many as there are rows.
void _FortranACshift(descriptor *result, const descriptor *x, const descriptor *shift, int dim, const char *file,
                     int line) {
  if (x->rank != 2 || shift->rank > 1)
    REFUSE("cshift of arrays of more than two dimensions", file, line);
  rearranged(result, x, 2, file, line);
  const size length = x->length;
  const wide rows = x->dims[0].extent, columns = x->dims[1].extent;
  wide bytes = (wide)length;
  shape(result, 0, rows, &bytes);
  shape(result, 1, columns, &bytes);
  char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
  for (wide j = 0; j < columns; j++)                                                                                   \
    for (wide i = 0; i < rows; i++) {                                                                                  \
      const wide by = integer_at(shift, dim == 1 ? j : i);                                                             \
      const wide from_i = dim == 1 ? ((i + by) % rows + rows) % rows : i;                                              \
      const wide from_j = dim == 1 ? j : ((j + by) % columns + columns) % columns;                                     \
      move_##T(base + (i + j * rows) * (wide)length,                                                                   \
               x->base + from_i * x->dims[0].stride + from_j * x->dims[1].stride, length);                             \
    }
  EACH_KIND(x->type, length, LOOP)
#undef LOOP
  result->base = base;
}

void _FortranAEoshiftVector(descriptor *result, const descriptor *x, wide shift, const descriptor *boundary,
                            const char *file, int line) {
  rearranged(result, x, 1, file, line);
  const size length = x->length;
  const wide n = x->dims[0].extent;
  wide bytes = (wide)length;
  shape(result, 0, n, &bytes);
  char *base = fresh(bytes);
  if (x->type != REAL8 && x->type != REAL4)
    REFUSE("eoshift of other kinds than real", file, line);
#define SHIFT(T)                                                                                                       \
  {                                                                                                                    \
    const T edge = boundary ? *(const T *)boundary->base : 0;                                                          \
    for (wide k = 0; k < n; k++)                                                                                       \
      ((T *)base)[k] =                                                                                                 \
          k + shift >= 0 && k + shift < n ? *(const T *)(x->base + (k + shift) * x->dims[0].stride) : edge;            \
  }
  if (x->type == REAL8)
    SHIFT(double)
  else
    SHIFT(float)
  result->base = base;
}

// How many elements come before `k` is counted anew for each: a pure function, as places are.
void _FortranAPack(descriptor *result, const descriptor *x, const descriptor *mask, const descriptor *vector,
                   const char *file, int line) {
  rearranged(result, x, 1, file, line);
  const size length = x->length;
  const wide n = count_of(x);
  const int flat = is_dense(x);
  wide chosen = 0;
  for (wide k = 0; k < n; k++)
    chosen += holds(mask, k);
  const wide extent = vector ? vector->dims[0].extent : chosen;
  wide bytes = (wide)length;
  shape(result, 0, extent, &bytes);
  char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
  {                                                                                                                    \
    wide at = 0;                                                                                                       \
    for (wide k = 0; k < n; k++)                                                                                       \
      if (holds(mask, k))                                                                                              \
        move_##T(base + at++ * (wide)length, x->base + place(x, flat, k), length);                                     \
    for (wide k = chosen; k < extent; k++)                                                                             \
      move_##T(base + k * (wide)length, vector->base + k * vector->dims[0].stride, length);                            \
  }
  EACH_KIND(x->type, length, LOOP)
#undef LOOP
  result->base = base;
}

void _FortranAUnpack(descriptor *result, const descriptor *vector, const descriptor *mask, const descriptor *field,
                     const char *file, int line) {
  rearranged(result, vector, mask->rank, file, line);
  const size length = vector->length;
  wide bytes = (wide)length;
  DIMENSIONS(r, 0, mask->rank)
  shape(result, r, mask->dims[r].extent, &bytes);
  const wide n = count_of(mask);
  char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
  {                                                                                                                    \
    wide at = 0;                                                                                                       \
    for (wide k = 0; k < n; k++)                                                                                       \
      if (holds(mask, k))                                                                                              \
        move_##T(base + k * (wide)length, vector->base + at++ * vector->dims[0].stride, length);                       \
      else                                                                                                             \
        move_##T(base + k * (wide)length, field->base + place(field, 0, k), length);                                   \
  }
  EACH_KIND(vector->type, length, LOOP)
#undef LOOP
  result->base = base;
}

#endif
