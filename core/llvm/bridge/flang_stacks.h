// What `forall`, and `where` within it, put aside until all of a statement has been evaluated: values, and the places
// that they are for, by descriptors of one rank and type. Part of flang.c.

#ifndef ENZYME_FLANG_STACKS_H
#define ENZYME_FLANG_STACKS_H

#include "flang_values.h"

typedef struct {
  wide count, capacity;
  char **bases;
  // Those of each descriptor, one after the other.
  dimension *dims;
  // The first one, for what all have in common.
  descriptor like;
  const char *file;
  int line;
} stack;

INLINE stack *empty_stack(const char *file, int line) {
  stack *s = malloc(sizeof(stack));
  s->count = 0;
  s->capacity = 0;
  s->bases = 0;
  s->dims = 0;
  s->like.rank = 0;
  s->file = file;
  s->line = line;
  return s;
}

// An entry for what is shaped like `d` and lies at `base`.
INLINE void put_aside(stack *s, const descriptor *d, char *base) {
  if (s->count == 0)
    establish(&s->like, d, d->rank);
  if (s->count == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 8;
    s->bases = realloc(s->bases, (size)s->capacity * sizeof(char *));
    if (d->rank > 0)
      s->dims = realloc(s->dims, (size)(s->capacity * d->rank) * sizeof(dimension));
  }
  s->bases[s->count] = base;
  DIMENSIONS(r, 0, d->rank)
  move_dimension(&s->dims[s->count * d->rank + r], &d->dims[r]);
  s->count++;
}

// Entry `k`, as a descriptor in the caller's memory that owns nothing.
INLINE void take_up(const stack *s, wide k, descriptor *result) {
  establish(result, &s->like, s->like.rank);
  result->attribute = 0;
  DIMENSIONS(r, 0, s->like.rank)
  move_dimension(&result->dims[r], &s->dims[k * s->like.rank + r]);
  result->base = s->bases[k];
}

INLINE void give_back(stack *s) {
  free(s->bases);
  free(s->dims);
  free(s);
}

// A copy of all elements, one after the other.
INLINE void put_value_aside(stack *s, const descriptor *d) {
  if (owns(d))
    REFUSE("values with allocatable components that forall puts aside", s->file, s->line);
  descriptor packed;
  establish(&packed, d, d->rank);
  wide bytes = (wide)d->length;
  DIMENSIONS(r, 0, d->rank)
  shape(&packed, r, d->dims[r].extent, &bytes);
  char *base = fresh(bytes);
  copy(base, 0, d, count_of(d), d->length);
  put_aside(s, &packed, base);
}

#endif
