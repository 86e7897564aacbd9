// Fortran's descriptors as flang lays them out, and values behind them: where elements lie, which kind they are of, how
// values of derived types are copied and owned, and assignment. Part of flang.c.

#ifndef ENZYME_FLANG_VALUES_H
#define ENZYME_FLANG_VALUES_H

typedef __SIZE_TYPE__ size;
typedef __INT64_TYPE__ wide;
typedef _Complex double complex16;
typedef _Complex float complex8;

typedef struct {
  wide lower, extent, stride;
} dimension;

typedef struct {
  char *base;
  size length;
  int version;
  signed char rank, type, attribute, extra;
  dimension dims[15];
} descriptor;

enum { HEADER = 24, ALLOCATABLE = 2, VERSION = 20240719 };
enum { INTEGER4 = 9, INTEGER8 = 10, REAL4 = 27, REAL8 = 28, COMPLEX4 = 34, COMPLEX8 = 35, DERIVED = 42 };

void *malloc(size);
void free(void *);
void *realloc(void *, size);
_Noreturn void _FortranAReportFatalUserError(const char *, const char *, int);
double sqrt(double);
float sqrtf(float);
double fmod(double, double);
float fmodf(float, float);
double floor(double);
float floorf(float);

#define INLINE __attribute__((always_inline)) static inline
#define SHARED __attribute__((noinline)) static
// Loops over dimensions: none is left where the rank is known.
#define DIMENSIONS(r, from, rank) _Pragma("clang loop unroll(full)") for (int r = from; r < (rank); r++)
#define REFUSE(what, file, line) _FortranAReportFatalUserError("no derivative: " what, file, line)

SHARED wide count_of(const descriptor *d) {
  wide n = 1;
  DIMENSIONS(r, 0, d->rank)
  n *= d->dims[r].extent;
  return n > 0 ? n : 0;
}

// Whether elements follow each other without gaps.
SHARED int is_dense(const descriptor *d) {
  wide expected = (wide)d->length;
  int dense = 1;
  DIMENSIONS(r, 0, d->rank) {
    dense &= d->dims[r].stride == expected || d->dims[r].extent <= 1;
    expected *= d->dims[r].extent;
  }
  return dense;
}

// Where element `k` lies, in the order of elements of the standard.
SHARED wide place(const descriptor *d, int dense, wide k) {
  if (d->rank == 0)
    return 0;
  if (dense)
    return k * (wide)d->length;
  if (d->rank == 1)
    return k * d->dims[0].stride;
  wide at = k % d->dims[0].extent * d->dims[0].stride;
  k /= d->dims[0].extent;
  if (d->rank == 2)
    return at + k * d->dims[1].stride;
  at += k % d->dims[1].extent * d->dims[1].stride;
  k /= d->dims[1].extent;
  if (d->rank == 3)
    return at + k * d->dims[2].stride;
  DIMENSIONS(r, 2, d->rank) {
    at += k % d->dims[r].extent * d->dims[r].stride;
    k /= d->dims[r].extent;
  }
  return at;
}

// The place of element `k` of what is left of an array when dimension `along` is taken out.
SHARED wide place_without(const descriptor *d, int along, wide k) {
  wide at = 0;
  DIMENSIONS(r, 0, d->rank) {
    if (r == along)
      continue;
    at += k % d->dims[r].extent * d->dims[r].stride;
    k /= d->dims[r].extent;
  }
  return at;
}

SHARED int is_true(const descriptor *mask, wide at) {
  const char *p = mask->base + at;
  switch (mask->length) {
  case 1:
    return *p != 0;
  case 2:
    return *(const short *)p != 0;
  case 4:
    return *(const int *)p != 0;
  default:
    return *(const wide *)p != 0;
  }
}

// Whether a mask, which may be absent or a scalar, holds for element `k`.
SHARED int holds(const descriptor *mask, wide k) { return !mask || is_true(mask, place(mask, 0, k)); }

// One element is taken from one place to another.
#define EACH_KIND(type, length, LOOP)                                                                                  \
  switch (type) {                                                                                                      \
  case REAL8:                                                                                                          \
    LOOP(double) break;                                                                                                \
  case REAL4:                                                                                                          \
    LOOP(float) break;                                                                                                 \
  case COMPLEX8:                                                                                                       \
    LOOP(complex16) break;                                                                                             \
  case COMPLEX4:                                                                                                       \
    LOOP(complex8) break;                                                                                              \
  case INTEGER4:                                                                                                       \
    LOOP(int) break;                                                                                                   \
  case INTEGER8:                                                                                                       \
    LOOP(wide) break;                                                                                                  \
  default:                                                                                                             \
    LOOP(any) break;                                                                                                   \
  }

#define MOVE(T)                                                                                                        \
  INLINE void move_##T(char *to, const char *from, size n) { (void)n, *(T *)to = *(const T *)from; }
MOVE(double)
MOVE(float)
MOVE(complex16)
MOVE(complex8)
MOVE(int)
MOVE(wide)
INLINE void move_any(char *to, const char *from, size n) { __builtin_memcpy(to, from, n); }

// `n` elements from where `from` says to where `to` says, in memory that begins at `base`; one after the other if it is
// null.
#define COPY(T)                                                                                                        \
  SHARED void copy_##T(char *base, const descriptor *to, const descriptor *from, wide n, size length) {                \
    const int flat_to = !to || is_dense(to), flat_from = is_dense(from);                                               \
    for (wide k = 0; k < n; k++)                                                                                       \
      move_##T(base + (to ? place(to, flat_to, k) : k * (wide)length), from->base + place(from, flat_from, k),         \
               length);                                                                                                \
  }
COPY(double)
COPY(float)
COPY(complex16)
COPY(complex8)
COPY(int)
COPY(wide)
COPY(any)

// What is known of derived types at run time: flang's module __fortran_type_info.
typedef struct {
  char binding[64], name[24];
  wide bytes;
  char others[136];
  char *components;
  char skipped[24];
  wide count;
  char rest[152];
  int special;
  char has_parent, no_initialization, no_destruction, no_finalization;
} derived_type;
typedef struct {
  char name[24];
  char genre, category, kind, rank;
  wide offset;
  wide length_kind, characters;
  const derived_type *derived;
  char others[96];
  const wide *bounds;
  char rest[80];
  const char *initial;
} component;
enum { GENRE_DATA = 1, GENRE_POINTER, GENRE_ALLOCATABLE, GENRE_AUTOMATIC };
enum { CATEGORY_INTEGER = 0, CATEGORY_REAL = 2, CATEGORY_COMPLEX = 3, CATEGORY_CHARACTER = 4, CATEGORY_DERIVED = 6 };

INLINE const derived_type *derived_of(const descriptor *d) {
  if (d->type != DERIVED || !(d->extra & 1))
    return 0;
  return *(const derived_type *const *)((const char *)d + HEADER + d->rank * (wide)sizeof(dimension));
}

// Whether values own memory behind them.
INLINE int owns(const descriptor *d) {
  const derived_type *type = derived_of(d);
  return type && !type->no_destruction;
}

// Memory from malloc, of one byte at least.
INLINE char *fresh(wide bytes) { return malloc(bytes > 0 ? (size)bytes : 1); }

INLINE void establish(descriptor *d, const descriptor *like, int rank) {
  d->length = like->length;
  d->version = VERSION;
  d->rank = (signed char)rank;
  d->type = like->type;
  d->attribute = ALLOCATABLE;
  d->extra = 0;
}

INLINE void shape(descriptor *d, int r, wide extent, wide *bytes) {
  d->dims[r].lower = 1;
  d->dims[r].extent = extent;
  d->dims[r].stride = *bytes;
  *bytes *= extent;
}

INLINE void move_dimension(dimension *to, const dimension *from) {
  to->lower = from->lower;
  to->extent = from->extent;
  to->stride = from->stride;
}

INLINE int same_shape(const descriptor *a, const descriptor *b) {
  int same = 1;
  DIMENSIONS(r, 0, b->rank)
  same &= a->dims[r].extent == b->dims[r].extent;
  return same;
}

// Values of derived types go component by component, each of its kind; structures in structures three deep.
#define COMPONENTS(c, type) _Pragma("clang loop unroll(full)") for (wide c = 0; c < (type)->count; c++)
#define ELEMENTS(T)                                                                                                    \
  for (wide k = 0; k < n; k++)                                                                                         \
    ((T *)(to + part->offset))[k] = ((const T *)(from + part->offset))[k];

INLINE wide elements_of(const component *part) {
  // Bounds are pairs of a kind of value and a value, lower before upper.
  wide n = 1;
  DIMENSIONS(r, 0, part->rank)
  n *= part->bounds[4 * r + 3] - part->bounds[4 * r + 1] + 1;
  return n;
}

#define COPY_VALUE(NAME, INNER)                                                                                        \
  SHARED void NAME(char *to, const char *from, const derived_type *type) {                                             \
    COMPONENTS(c, type) {                                                                                              \
      const component *part = (const component *)type->components + c;                                                 \
      if (part->genre != GENRE_DATA) {                                                                                 \
        descriptor *d = (descriptor *)(to + part->offset);                                                             \
        const descriptor *e = (const descriptor *)(from + part->offset);                                               \
        d->base = e->base;                                                                                             \
        d->length = e->length;                                                                                         \
        d->version = e->version;                                                                                       \
        d->rank = e->rank;                                                                                             \
        d->type = e->type;                                                                                             \
        d->attribute = e->attribute;                                                                                   \
        d->extra = e->extra;                                                                                           \
        DIMENSIONS(r, 0, part->rank) move_dimension(&d->dims[r], &e->dims[r]);                                         \
        continue;                                                                                                      \
      }                                                                                                                \
      const wide n = elements_of(part);                                                                                \
      const int double_size = part->kind == 8;                                                                         \
      if (part->category == CATEGORY_DERIVED) {                                                                        \
        const wide bytes = part->derived->bytes;                                                                       \
        for (wide k = 0; k < n; k++)                                                                                   \
          INNER(to + part->offset + k * bytes, from + part->offset + k * bytes, part->derived);                        \
      } else if (part->category == CATEGORY_REAL && double_size) {                                                     \
        ELEMENTS(double)                                                                                               \
      } else if (part->category == CATEGORY_REAL && part->kind == 4) {                                                 \
        ELEMENTS(float)                                                                                                \
      } else if (part->category == CATEGORY_COMPLEX && double_size) {                                                  \
        ELEMENTS(complex16)                                                                                            \
      } else if (part->category == CATEGORY_COMPLEX && part->kind == 4) {                                              \
        ELEMENTS(complex8)                                                                                             \
      } else if (part->category == CATEGORY_CHARACTER) {                                                               \
        __builtin_memcpy(to + part->offset, from + part->offset, (size)(n * part->characters));                        \
      } else if (double_size) {                                                                                        \
        ELEMENTS(wide)                                                                                                 \
      } else if (part->kind == 4) {                                                                                    \
        ELEMENTS(int)                                                                                                  \
      } else {                                                                                                         \
        __builtin_memcpy(to + part->offset, from + part->offset, (size)(n * part->kind));                              \
      }                                                                                                                \
    }                                                                                                                  \
  }
INLINE void copy_innermost(char *to, const char *from, const derived_type *type) {
  __builtin_memcpy(to, from, (size)type->bytes);
}
COPY_VALUE(copy_value_inner, copy_innermost)
COPY_VALUE(copy_value_middle, copy_value_inner)
COPY_VALUE(copy_value, copy_value_middle)

SHARED void copy_derived(char *base, const descriptor *to, const descriptor *from, wide n, size length) {
  const int flat_to = !to || is_dense(to), flat_from = is_dense(from);
  const derived_type *type = derived_of(from);
  for (wide k = 0; k < n; k++)
    copy_value(base + (to ? place(to, flat_to, k) : k * (wide)length), from->base + place(from, flat_from, k), type);
}

INLINE void copy(char *base, const descriptor *to, const descriptor *from, wide n, size length) {
  if (derived_of(from)) {
    copy_derived(base, to, from, n, length);
    return;
  }
#define LOOP(T) copy_##T(base, to, from, n, length);
  EACH_KIND(from->type, length, LOOP)
#undef LOOP
}

INLINE int kind_of(const component *part) {
  const int two = part->kind == 8;
  switch (part->category) {
  case CATEGORY_REAL:
    return two ? REAL8 : part->kind == 4 ? REAL4 : 0;
  case CATEGORY_COMPLEX:
    return two ? COMPLEX8 : part->kind == 4 ? COMPLEX4 : 0;
  case CATEGORY_INTEGER:
    return two ? INTEGER8 : part->kind == 4 ? INTEGER4 : 0;
  default:
    return 0;
  }
}

// Memory that values own is made anew, after their bytes were copied.
SHARED void own_again(char *value, const derived_type *type, const char *file, int line) {
  COMPONENTS(c, type) {
    const component *part = (const component *)type->components + c;
    if (part->genre != GENRE_ALLOCATABLE)
      continue;
    descriptor *d = (descriptor *)(value + part->offset);
    if (!d->base)
      continue;
    if (part->category == CATEGORY_DERIVED)
      REFUSE("assignment of nested derived types with allocatable components", file, line);
    const wide n = count_of(d);
    const size length = d->length;
    char *to = fresh(n * (wide)length);
    // The kind that the component's type states is known before the descriptor's is.
    switch (kind_of(part)) {
    case REAL8:
      copy_double(to, 0, d, n, length);
      break;
    case REAL4:
      copy_float(to, 0, d, n, length);
      break;
    case COMPLEX8:
      copy_complex16(to, 0, d, n, length);
      break;
    case COMPLEX4:
      copy_complex8(to, 0, d, n, length);
      break;
    case INTEGER4:
      copy_int(to, 0, d, n, length);
      break;
    case INTEGER8:
      copy_wide(to, 0, d, n, length);
      break;
    default:
      copy_any(to, 0, d, n, length);
      break;
    }
    d->base = to;
  }
}

// Memory that values own is given back.
SHARED void disown(char *value, const derived_type *type) {
  COMPONENTS(c, type) {
    const component *part = (const component *)type->components + c;
    if (part->genre != GENRE_ALLOCATABLE && part->genre != GENRE_AUTOMATIC)
      continue;
    descriptor *d = (descriptor *)(value + part->offset);
    free(d->base);
    d->base = 0;
  }
}

// What values hold before anything is assigned to them: nothing in what is allocatable, and what their types say.
INLINE void begin(char *value, const derived_type *type, const char *file, int line) {
  COMPONENTS(c, type) {
    const component *part = (const component *)type->components + c;
    const wide each = part->category == CATEGORY_COMPLEX ? 2 * part->kind : part->kind;
    if (part->genre == GENRE_DATA) {
      if (!part->initial)
        continue;
      if (part->category == CATEGORY_DERIVED)
        REFUSE("initial values of nested derived types", file, line);
      const wide n = elements_of(part);
      if (part->category == CATEGORY_REAL && part->kind == 8)
        for (wide k = 0; k < n; k++)
          ((double *)(value + part->offset))[k] = ((const double *)part->initial)[k];
      else
        __builtin_memcpy(value + part->offset, part->initial, (size)(n * each));
      continue;
    }
    if (part->category == CATEGORY_DERIVED && part->genre != GENRE_POINTER)
      REFUSE("derived types with allocatable components of derived type", file, line);
    if (part->genre == GENRE_POINTER && part->initial)
      REFUSE("pointer components with initial targets", file, line);
    descriptor *d = (descriptor *)(value + part->offset);
    d->base = 0;
    if (part->category == CATEGORY_DERIVED)
      continue;
    d->length = (size)each;
    d->version = VERSION;
    d->rank = part->rank;
    d->type = (signed char)kind_of(part);
    if (!d->type)
      REFUSE("initial values of components of this kind", file, line);
    d->attribute = part->genre == GENRE_POINTER ? 1 : ALLOCATABLE;
    d->extra = 0;
  }
}

// What overlaps its source is assigned by way of memory of its own.
SHARED int overlap(const descriptor *a, const descriptor *b) {
  wide low[2] = {0, 0}, high[2] = {(wide)a->length, (wide)b->length};
  DIMENSIONS(r, 0, a->rank) {
    const wide reach = (a->dims[r].extent - 1) * a->dims[r].stride;
    if (reach < 0)
      low[0] += reach;
    else
      high[0] += reach;
  }
  DIMENSIONS(r, 0, b->rank) {
    const wide reach = (b->dims[r].extent - 1) * b->dims[r].stride;
    if (reach < 0)
      low[1] += reach;
    else
      high[1] += reach;
  }
  return a->base + low[0] < b->base + high[1] && b->base + low[1] < a->base + high[0];
}

SHARED void assign(descriptor *to, const descriptor *from, const char *file, int line, int may_overlap) {
  const int type = from->type;
  const derived_type *derived = derived_of(from);
  const int owning = derived && !derived->no_destruction;
  if (to->type != type && !(to->type == DERIVED && type == DERIVED))
    REFUSE("assignment that converts kinds", file, line);
  if (to->attribute == ALLOCATABLE && (!to->base || (from->rank > 0 && !same_shape(to, from)))) {
    // A new array, of which the old one may be the source.
    char *old = to->base;
    if (owning && old)
      REFUSE("assignment that reshapes an array of derived type with allocatable components", file, line);
    to->length = from->length;
    wide bytes = (wide)from->length;
    DIMENSIONS(r, 0, from->rank)
    shape(to, r, from->dims[r].extent, &bytes);
    char *base = fresh(bytes);
    copy(base, 0, from, count_of(from), from->length);
    to->base = base;
    free(old);
  } else if (may_overlap && from->rank > 0 && overlap(to, from)) {
    const wide n = count_of(from);
    const size length = from->length;
    if (owning)
      REFUSE("assignment of overlapping arrays of derived type with allocatable components", file, line);
    descriptor middle;
    establish(&middle, from, 1);
    wide bytes = (wide)length;
    shape(&middle, 0, n, &bytes);
    char *between = fresh(bytes);
    middle.base = between;
    copy(between, 0, from, n, length);
    copy(to->base, to, &middle, n, length);
    free(between);
    return;
  } else {
    if (owning) {
      if (to->base == from->base)
        return;
      const int flat = is_dense(to);
      for (wide k = 0; k < count_of(to); k++)
        disown(to->base + place(to, flat, k), derived);
    }
    copy(to->base, to, from, count_of(to), to->length);
  }
  if (owning) {
    const int flat = is_dense(to);
    for (wide k = 0; k < count_of(to); k++)
      own_again(to->base + place(to, flat, k), derived, file, line);
  }
}

#endif
