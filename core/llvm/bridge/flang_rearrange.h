// Rearrangements of arrays: transposes, new shapes, copies along a new dimension, packing. Part of flang.c.

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

INLINE wide integer_in(const descriptor *d, wide at) {
  const char *p = d->base + at;
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

INLINE wide integer_at(const descriptor *d, wide k) { return integer_in(d, d->rank == 0 ? 0 : k * d->dims[0].stride); }

void _FortranAReshape(descriptor *result, const descriptor *x, const descriptor *to, const descriptor *pad,
                      const descriptor *order, const char *file, int line) {
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
  // Where elements go in turn: along the dimensions in the order that is asked for.
  descriptor turns;
  establish(&turns, result, rank);
  DIMENSIONS(r, 0, rank) {
    const wide along = order ? integer_at(order, r) - 1 : r;
    move_dimension(&turns.dims[r], &result->dims[along]);
  }
  turns.base = base;
  const int flat = !order;
  const wide more = pad ? count_of(pad) : 0;
  if (flat)
    copy(base, 0, x, first, length);
#define LOOP(T)                                                                                                        \
  for (wide k = flat ? first : 0; k < n; k++) {                                                                        \
    const char *from = k < first ? x->base + place(x, 0, k) : pad->base + place(pad, 0, (k - first) % more);           \
    move_##T(base + place_in(&turns, rank, flat, k), from, length);                                                    \
  }
  if (!flat || first < n)
    EACH_KIND(x->type, length, LOOP)
#undef LOOP
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

// Bits taken for those of another type: a scalar or a vector of the type of `mold`, as large as `size` says if it is
// not negative, and as what is copied otherwise.
INLINE void transfer(descriptor *result, const descriptor *from, const descriptor *mold, wide given, const char *file,
                     int line) {
  if (owns(from) || owns(mold))
    REFUSE("transfer of derived types with allocatable components", file, line);
  if (!is_dense(from))
    REFUSE("transfer of a section with gaps", file, line);
  const wide length = (wide)mold->length, bytes = count_of(from) * (wide)from->length;
  const int rank = mold->rank > 0 || given >= 0;
  establish(result, mold, rank);
  const wide count = given >= 0 ? given : rank == 0 ? 1 : length > 0 ? (bytes + length - 1) / length : 0;
  wide room = length;
  if (rank > 0)
    shape(result, 0, count, &room);
  char *base = fresh(room);
  __builtin_memcpy(base, from->base, (size)(bytes < room ? bytes : room));
  result->base = base;
}

void _FortranATransfer(descriptor *result, const descriptor *from, const descriptor *mold, const char *file, int line) {
  transfer(result, from, mold, -1, file, line);
}

void _FortranATransferSize(descriptor *result, const descriptor *from, const descriptor *mold, const char *file,
                           int line, wide given) {
  transfer(result, from, mold, given, file, line);
}

#endif
