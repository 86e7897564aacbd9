// Shifts of arrays along a dimension: cshift, around the ends, and eoshift, which lets in a boundary. Part of flang.c.

#ifndef ENZYME_FLANG_SHIFTS_H
#define ENZYME_FLANG_SHIFTS_H

#include "flang_rearrange.h"

// The number for row `k` of those that lie along a dimension: of an array with one for each, or the same for all.
INLINE wide shift_of(const descriptor *shift, wide k) {
  if (shift->rank == 0)
    return integer_at(shift, 0);
  return integer_in(shift, place(shift, 0, k));
}

// The result, of the same shape; how many elements a step along dimension `along` passes in it.
INLINE wide shifted(descriptor *result, const descriptor *x, int along, const char *file, int line) {
  rearranged(result, x, x->rank, file, line);
  wide bytes = (wide)x->length, below = 1;
  DIMENSIONS(r, 0, x->rank) {
    if (r < along)
      below *= x->dims[r].extent;
    shape(result, r, x->dims[r].extent, &bytes);
  }
  result->base = fresh(bytes);
  return below;
}

INLINE wide around(wide at, wide extent) { return (at % extent + extent) % extent; }

// Element `k` in turn is number `i` along the dimension, in row `row` of those along it.
#define EACH_SHIFTED(BODY)                                                                                             \
  for (wide k = 0; k < n; k++) {                                                                                       \
    const int flat = x->rank == 1;                                                                                     \
    const wide i = flat ? k : k / below % extent, row = flat ? 0 : k % below + k / (below * extent) * below;           \
    BODY                                                                                                               \
  }

INLINE void shift_around(descriptor *result, const descriptor *x, const descriptor *shift, wide constant, int along,
                         const char *file, int line) {
  const wide below = shifted(result, x, along, file, line), n = count_of(x), extent = x->dims[along].extent;
  const size length = x->length;
  char *base = result->base;
#define LOOP(T)                                                                                                        \
  EACH_SHIFTED(const wide to = i + around(shift ? shift_of(shift, row) : constant, extent);                            \
               const wide from = k + (to - (to < extent ? 0 : extent) - i) * below;                                    \
               move_##T(base + k * (wide)length, x->base + place(x, 0, from), length);)
  EACH_KIND(x->type, length, LOOP)
#undef LOOP
}

void _FortranACshiftVector(descriptor *result, const descriptor *x, wide shift, const char *file, int line) {
  shift_around(result, x, 0, shift, 0, file, line);
}

void _FortranACshift(descriptor *result, const descriptor *x, const descriptor *shift, int dim, const char *file,
                     int line) {
  shift_around(result, x, shift, 0, dim - 1, file, line);
}

INLINE void shift_off(descriptor *result, const descriptor *x, const descriptor *shift, wide constant,
                      const descriptor *boundary, int along, const char *file, int line) {
  const wide below = shifted(result, x, along, file, line), n = count_of(x), extent = x->dims[along].extent;
  char *base = result->base;
#define SHIFT(T)                                                                                                       \
  EACH_SHIFTED(const wide by = shift ? shift_of(shift, row) : constant; T out = 0;                                     \
               if (i + by >= 0 && i + by < extent) out = *(const T *)(x->base + place(x, 0, k + by * below));          \
               else if (boundary) out = *(const T *)(boundary->base + place(boundary, 0, row)); ((T *)base)[k] = out;)
  switch (x->type) {
  case REAL8:
    SHIFT(double) break;
  case REAL4:
    SHIFT(float) break;
  case COMPLEX8:
    SHIFT(complex16) break;
  case COMPLEX4:
    SHIFT(complex8) break;
  case INTEGER4:
    SHIFT(int) break;
  case INTEGER8:
    SHIFT(wide) break;
  default:
    REFUSE("eoshift of other kinds than numbers", file, line);
  }
#undef SHIFT
}

void _FortranAEoshiftVector(descriptor *result, const descriptor *x, wide shift, const descriptor *boundary,
                            const char *file, int line) {
  shift_off(result, x, 0, shift, boundary, 0, file, line);
}

void _FortranAEoshift(descriptor *result, const descriptor *x, const descriptor *shift, const descriptor *boundary,
                      int dim, const char *file, int line) {
  shift_off(result, x, shift, 0, boundary, dim - 1, file, line);
}

#endif
