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

enum { HEADER = 24, POINTER = 1, ALLOCATABLE = 2, VERSION = 20240719 };
enum {
  INTEGER1 = 7,
  INTEGER2 = 8,
  INTEGER4 = 9,
  INTEGER8 = 10,
  LOGICAL2 = 13,
  LOGICAL4 = 14,
  LOGICAL8 = 15,
  REAL4 = 27,
  REAL8 = 28,
  COMPLEX4 = 34,
  COMPLEX8 = 35,
  LOGICAL1 = 39,
  CHARACTER = 40,
  DERIVED = 42
};

void *malloc(size);
void free(void *);
void *realloc(void *, size);
_Noreturn void _FortranAReportFatalUserError(const char *, const char *, int);
double sqrt(double);
float sqrtf(float);
double fmod(double, double);
float fmodf(float, float);

#define INLINE __attribute__((always_inline)) static inline
#define SHARED __attribute__((noinline)) static
// Loops over dimensions: none is left where the rank is known.
#define DIMENSIONS(r, from, rank) _Pragma("clang loop unroll(full)") for (int r = from; r < (rank); r++)
#define REFUSE(what, file, line) _FortranAReportFatalUserError("no derivative: " what, file, line)

// The functions below that take a rank are for descriptors in memory that is not seen through, beside one that is.
SHARED wide count_in(const descriptor *d, int rank) {
  wide n = 1;
  DIMENSIONS(r, 0, rank)
  n *= d->dims[r].extent;
  return n > 0 ? n : 0;
}
INLINE wide count_of(const descriptor *d) { return count_in(d, d->rank); }

// Whether elements follow each other without gaps.
SHARED int is_dense_in(const descriptor *d, int rank) {
  wide expected = (wide)d->length;
  int dense = 1;
  DIMENSIONS(r, 0, rank) {
    dense &= d->dims[r].stride == expected || d->dims[r].extent <= 1;
    expected *= d->dims[r].extent;
  }
  return dense;
}

INLINE int is_dense(const descriptor *d) { return is_dense_in(d, d->rank); }

// Where element `k` lies, in the order of elements of the standard.
SHARED wide place_in(const descriptor *d, int rank, int dense, wide k) {
  if (rank == 0)
    return 0;
  if (dense)
    return k * (wide)d->length;
  if (rank == 1)
    return k * d->dims[0].stride;
  wide at = k % d->dims[0].extent * d->dims[0].stride;
  k /= d->dims[0].extent;
  if (rank == 2)
    return at + k * d->dims[1].stride;
  at += k % d->dims[1].extent * d->dims[1].stride;
  k /= d->dims[1].extent;
  if (rank == 3)
    return at + k * d->dims[2].stride;
  DIMENSIONS(r, 2, rank) {
    at += k % d->dims[r].extent * d->dims[r].stride;
    k /= d->dims[r].extent;
  }
  return at;
}
INLINE wide place(const descriptor *d, int dense, wide k) { return place_in(d, d->rank, dense, k); }

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
// The rank of what is assigned to is that of its value, unless that is a scalar.
INLINE int rank_of(const descriptor *to, const descriptor *from) {
  return from->rank > 0 || !to ? from->rank : to->rank;
}

#define COPY(T)                                                                                                        \
  SHARED void copy_##T(char *base, const descriptor *to, const descriptor *from, wide n, size length) {                \
    const int rank = rank_of(to, from);                                                                                \
    const int flat_to = !to || is_dense_in(to, rank), flat_from = is_dense(from);                                      \
    for (wide k = 0; k < n; k++)                                                                                       \
      move_##T(base + (to ? place_in(to, rank, flat_to, k) : k * (wide)length),                                        \
               from->base + place(from, flat_from, k), length);                                                        \
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
  char between[24];
  char *procedures;
  char behind[24];
  wide procedure_count;
  char rest[88];
  int special;
  char has_parent, no_initialization, no_destruction, no_finalization, no_defined_assignment;
} derived_type;

// What types the program states, set where a body comes into it (library.cpp): whether one holds memory of its own, and
// the one with initial values if there is but one. So much is known of what is found behind pointers when the program
// runs.
extern const char holds_memory;
extern const derived_type *const only_begun;

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
typedef struct {
  char name[24];
  wide offset;
  const void *initial;
} procedure_pointer;
enum { GENRE_DATA = 1, GENRE_POINTER, GENRE_ALLOCATABLE, GENRE_AUTOMATIC };
enum {
  CATEGORY_INTEGER = 0,
  CATEGORY_REAL = 2,
  CATEGORY_COMPLEX = 3,
  CATEGORY_CHARACTER = 4,
  CATEGORY_LOGICAL = 5,
  CATEGORY_DERIVED = 6
};

// What stands behind the dimensions of a descriptor of derived type.
typedef struct {
  const derived_type *type;
  wide lengths;
} addendum;

INLINE addendum *addendum_of(const descriptor *d, int rank) {
  return (addendum *)((char *)d + HEADER + rank * (wide)sizeof(dimension));
}

INLINE const derived_type *derived_of(const descriptor *d) {
  if (d->type != DERIVED || !(d->extra & 1))
    return 0;
  return addendum_of(d, d->rank)->type;
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
  const derived_type *type = derived_of(like);
  d->extra = type != 0;
  if (type) {
    addendum_of(d, rank)->type = type;
    addendum_of(d, rank)->lengths = 0;
  }
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
#define PROCEDURES(p, type)                                                                                            \
  _Pragma("clang loop unroll(full)") for (const procedure_pointer *p = (const procedure_pointer *)(type)->procedures,  \
                                          *end = p + (type)->procedure_count;                                          \
                                          p < end; p++)
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

// How many bytes an element of a component has.
INLINE wide bytes_of(const component *part) {
  switch (part->category) {
  case CATEGORY_COMPLEX:
    return 2 * part->kind;
  case CATEGORY_CHARACTER:
    return part->kind * part->characters;
  case CATEGORY_DERIVED:
    return part->derived ? part->derived->bytes : 0;
  default:
    return part->kind;
  }
}

// The kind that a component's type states, as descriptors name it; 0 for those that have no name here.
INLINE int kind_of(const component *part) {
  const int two = part->kind == 8;
  switch (part->category) {
  case CATEGORY_REAL:
    return two ? REAL8 : part->kind == 4 ? REAL4 : 0;
  case CATEGORY_COMPLEX:
    return two ? COMPLEX8 : part->kind == 4 ? COMPLEX4 : 0;
  case CATEGORY_INTEGER:
    return two ? INTEGER8 : part->kind == 4 ? INTEGER4 : part->kind == 2 ? INTEGER2 : part->kind == 1 ? INTEGER1 : 0;
  case CATEGORY_LOGICAL:
    return two ? LOGICAL8 : part->kind == 4 ? LOGICAL4 : part->kind == 2 ? LOGICAL2 : part->kind == 1 ? LOGICAL1 : 0;
  case CATEGORY_CHARACTER:
    return part->kind == 1 ? CHARACTER : 0;
  case CATEGORY_DERIVED:
    return DERIVED;
  default:
    return 0;
  }
}

// A descriptor among the components of a value.
INLINE void copy_descriptor(descriptor *d, const descriptor *e, const component *part) {
  d->base = e->base;
  d->length = e->length;
  d->version = e->version;
  d->rank = e->rank;
  d->type = e->type;
  d->attribute = e->attribute;
  d->extra = e->extra;
  DIMENSIONS(r, 0, part->rank) move_dimension(&d->dims[r], &e->dims[r]);
  if (part->category == CATEGORY_DERIVED) {
    addendum_of(d, part->rank)->type = addendum_of(e, part->rank)->type;
    addendum_of(d, part->rank)->lengths = addendum_of(e, part->rank)->lengths;
  }
}

// Few structures in a structure are told apart from each other and from what stands beside them.
#define STRUCTURES(k, n) _Pragma("clang loop unroll(full)") for (wide k = 0; k < (n); k++)

#define COPY_VALUE(NAME, INNER)                                                                                        \
  SHARED void NAME(char *to, const char *from, const derived_type *type) {                                             \
    COMPONENTS(c, type) {                                                                                              \
      const component *part = (const component *)type->components + c;                                                 \
      if (part->genre != GENRE_DATA) {                                                                                 \
        copy_descriptor((descriptor *)(to + part->offset), (const descriptor *)(from + part->offset), part);           \
        continue;                                                                                                      \
      }                                                                                                                \
      const wide n = elements_of(part);                                                                                \
      const int double_size = part->kind == 8;                                                                         \
      if (part->category == CATEGORY_DERIVED) {                                                                        \
        const wide bytes = part->derived->bytes;                                                                       \
        STRUCTURES(k, n)                                                                                               \
        INNER(to + part->offset + k * bytes, from + part->offset + k * bytes, part->derived);                          \
      } else if (part->category == CATEGORY_REAL && double_size) {                                                     \
        ELEMENTS(double)                                                                                               \
      } else if (part->category == CATEGORY_REAL && part->kind == 4) {                                                 \
        ELEMENTS(float)                                                                                                \
      } else if (part->category == CATEGORY_COMPLEX && double_size) {                                                  \
        ELEMENTS(complex16)                                                                                            \
      } else if (part->category == CATEGORY_COMPLEX && part->kind == 4) {                                              \
        ELEMENTS(complex8)                                                                                             \
      } else if (part->category == CATEGORY_CHARACTER) {                                                               \
        __builtin_memcpy(to + part->offset, from + part->offset, (size)(n * bytes_of(part)));                          \
      } else if (double_size) {                                                                                        \
        ELEMENTS(wide)                                                                                                 \
      } else if (part->kind == 4) {                                                                                    \
        ELEMENTS(int)                                                                                                  \
      } else {                                                                                                         \
        __builtin_memcpy(to + part->offset, from + part->offset, (size)(n * part->kind));                              \
      }                                                                                                                \
    }                                                                                                                  \
    PROCEDURES(p, type) * (void **)(to + p->offset) = *(void *const *)(from + p->offset);                              \
  }
INLINE void copy_innermost(char *to, const char *from, const derived_type *type) {
  __builtin_memcpy(to, from, (size)type->bytes);
}
COPY_VALUE(copy_value_inner, copy_innermost)
COPY_VALUE(copy_value_middle, copy_value_inner)
COPY_VALUE(copy_value, copy_value_middle)

SHARED void copy_derived(char *base, const descriptor *to, const descriptor *from, wide n, size length) {
  const int rank = rank_of(to, from);
  const int flat_to = !to || is_dense_in(to, rank), flat_from = is_dense(from);
  const derived_type *type = derived_of(from);
  // The type's size is known where the descriptor's is not.
  const wide bytes = type->bytes;
  (void)length;
  for (wide k = 0; k < n; k++)
    copy_value(base + (to && !flat_to ? place_in(to, rank, 0, k) : k * bytes),
               from->base + (from->rank == 0 ? 0
                             : flat_from     ? k * bytes
                                             : place(from, 0, k)),
               type);
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

// Text is cut or filled with blanks.
SHARED void copy_text(const descriptor *to, const descriptor *from, wide n) {
  const int rank = rank_of(to, from);
  const int flat_to = is_dense_in(to, rank), flat_from = is_dense(from);
  const size length = to->length, given = from->length < length ? from->length : length;
  for (wide k = 0; k < n; k++) {
    char *text = to->base + place_in(to, rank, flat_to, k);
    __builtin_memcpy(text, from->base + place(from, flat_from, k), given);
    __builtin_memset(text + given, ' ', length - given);
  }
}

// What is done with memory that values own goes over what their components own, which is asked for again in what these
// hold: structures in structures, and arrays of structures, three deep.
#define EACH_OWNER(NAME, INNER, OWNED)                                                                                 \
  SHARED void NAME OWNER {                                                                                             \
    if (type->no_destruction)                                                                                          \
      return;                                                                                                          \
    COMPONENTS(c, type) {                                                                                              \
      const component *part = (const component *)type->components + c;                                                 \
      const derived_type *inner = part->category == CATEGORY_DERIVED ? part->derived : 0;                              \
      if (part->genre == GENRE_DATA && inner) {                                                                        \
        const wide n = elements_of(part);                                                                              \
        STRUCTURES(k, n)                                                                                               \
        INNER(value + part->offset + k * inner->bytes, inner, file, line);                                             \
      } else if (part->genre == GENRE_ALLOCATABLE || part->genre == GENRE_AUTOMATIC) {                                 \
        descriptor *d = (descriptor *)(value + part->offset);                                                          \
        if (!d->base)                                                                                                  \
          continue;                                                                                                    \
        const derived_type *inner = type_behind(type, part, d, file, line);                                            \
        wide n = 1;                                                                                                    \
        DIMENSIONS(r, 0, part->rank)                                                                                   \
        n *= d->dims[r].extent;                                                                                        \
        OWNED                                                                                                          \
      }                                                                                                                \
    }                                                                                                                  \
  }

// Whether a procedure is called when values end. Types say that one may be where a component is polymorphic, which then
// says so itself when its type is known.
#define FINALISES(NAME, INNER)                                                                                         \
  SHARED int NAME(const derived_type *type) {                                                                          \
    if (type->no_finalization)                                                                                         \
      return 0;                                                                                                        \
    int found = type->special >> FIRST_FINAL != 0;                                                                     \
    COMPONENTS(c, type) {                                                                                              \
      const component *part = (const component *)type->components + c;                                                 \
      if (part->genre != GENRE_POINTER && part->category == CATEGORY_DERIVED && part->derived)                         \
        found |= INNER(part->derived);                                                                                 \
    }                                                                                                                  \
    return found;                                                                                                      \
  }
enum { FIRST_FINAL = 7 };
INLINE int finalises_innermost(const derived_type *type) { return !type->no_finalization; }
FINALISES(finalises_inner, finalises_innermost)
FINALISES(finalises_middle, finalises_inner)
FINALISES(finalises_deep, finalises_middle)
// Most types are known to have none before it is looked for in their components.
INLINE int finalises(const derived_type *type) { return !type->no_finalization && finalises_deep(type); }

// The type of what lies behind a component: what is polymorphic has it in its descriptor.
INLINE const derived_type *type_behind(const derived_type *type, const component *part, const descriptor *d,
                                       const char *file, int line) {
  if (part->category != CATEGORY_DERIVED || type->no_finalization)
    return part->category == CATEGORY_DERIVED ? part->derived : 0;
  const derived_type *inner = derived_of(d);
  if (inner && !inner->no_finalization)
    REFUSE("finalisers, or polymorphic components in polymorphic components", file, line);
  return inner;
}

#define OWNER (char *value, const derived_type *type, const char *file, int line)
INLINE void too_deep OWNER {
  (void)value;
  if (!type->no_destruction)
    REFUSE("derived types with allocatable components, more than three deep", file, line);
}

// Memory that values own is made anew, after their bytes were copied.
#define OWN(INNER, COPY)                                                                                               \
  char *to;                                                                                                            \
  if (inner) {                                                                                                         \
    to = fresh(n * inner->bytes);                                                                                      \
    for (wide k = 0; k < n; k++)                                                                                       \
      COPY(to + k * inner->bytes, d->base + k * inner->bytes, inner);                                                  \
    for (wide k = 0; k < n; k++)                                                                                       \
      INNER(to + k * inner->bytes, inner, file, line);                                                                 \
  } else {                                                                                                             \
    const size length = d->length;                                                                                     \
    to = fresh(n * (wide)length);                                                                                      \
    EACH_KIND(kind_of(part), length, OWN_ELEMENTS)                                                                     \
  }                                                                                                                    \
  d->base = to;
#define OWN_ELEMENTS(T)                                                                                                \
  for (wide k = 0; k < n; k++)                                                                                         \
    move_##T(to + k * (wide)length, d->base + k * (wide)length, length);
EACH_OWNER(own_inner, too_deep, OWN(too_deep, copy_innermost))
EACH_OWNER(own_middle, own_inner, OWN(own_inner, copy_value_inner))
EACH_OWNER(own_again, own_middle, OWN(own_middle, copy_value_middle))

// Memory that values own is given back.
#define DISOWN(INNER)                                                                                                  \
  if (inner)                                                                                                           \
    for (wide k = 0; k < n; k++)                                                                                       \
      INNER(d->base + k * inner->bytes, inner, file, line);                                                            \
  free(d->base);                                                                                                       \
  d->base = 0;
EACH_OWNER(disown_inner, too_deep, DISOWN(too_deep))
EACH_OWNER(disown_middle, disown_inner, DISOWN(disown_inner))
EACH_OWNER(disown, disown_middle, DISOWN(disown_middle))

// All elements of an array.
#define ALL(NAME, DO)                                                                                                  \
  INLINE void NAME(const descriptor *d, int rank, const derived_type *type, const char *file, int line) {              \
    const int flat = is_dense_in(d, rank);                                                                             \
    const wide n = count_in(d, rank);                                                                                  \
    for (wide k = 0; k < n; k++)                                                                                       \
      DO(d->base + (flat ? k * type->bytes : place_in(d, rank, 0, k)), type, file, line);                              \
  }
ALL(disown_elements, disown)
ALL(own_elements, own_again)

// A component that is a descriptor, with nothing behind it.
INLINE void begin_descriptor(descriptor *d, const component *part, const char *file, int line) {
  d->base = 0;
  d->length = (size)bytes_of(part);
  d->version = VERSION;
  d->rank = part->rank;
  const int type = kind_of(part);
  if (!type)
    REFUSE("initial values of components of this kind", file, line);
  d->type = (signed char)type;
  d->attribute = part->genre == GENRE_POINTER ? POINTER : ALLOCATABLE;
  d->extra = type == DERIVED;
  if (type == DERIVED) {
    addendum_of(d, part->rank)->type = part->derived;
    addendum_of(d, part->rank)->lengths = 0;
  }
}

// What values hold before anything is assigned to them: nothing in what is allocatable, and what their types say.
#define BEGIN(NAME, INNER, COPY)                                                                                       \
  SHARED void NAME OWNER {                                                                                             \
    if (type->no_initialization)                                                                                       \
      return;                                                                                                          \
    COMPONENTS(c, type) {                                                                                              \
      const component *part = (const component *)type->components + c;                                                 \
      char *to = value + part->offset;                                                                                 \
      if (part->genre == GENRE_AUTOMATIC)                                                                              \
        REFUSE("derived types with length parameters", file, line);                                                    \
      if (part->genre == GENRE_ALLOCATABLE || (part->genre == GENRE_POINTER && !part->initial)) {                      \
        begin_descriptor((descriptor *)to, part, file, line);                                                          \
      } else if (part->genre == GENRE_POINTER) {                                                                       \
        copy_descriptor((descriptor *)to, (const descriptor *)part->initial, part);                                    \
      } else {                                                                                                         \
        const wide n = elements_of(part), bytes = bytes_of(part);                                                      \
        if (part->category == CATEGORY_DERIVED) {                                                                      \
          STRUCTURES(k, n)                                                                                             \
          if (part->initial)                                                                                           \
            COPY(to + k * bytes, part->initial + k * bytes, part->derived);                                            \
          else                                                                                                         \
            INNER(to + k * bytes, part->derived, file, line);                                                          \
        } else if (part->initial) {                                                                                    \
          if (part->category == CATEGORY_REAL && part->kind == 8)                                                      \
            for (wide k = 0; k < n; k++)                                                                               \
              ((double *)to)[k] = ((const double *)part->initial)[k];                                                  \
          else                                                                                                         \
            __builtin_memcpy(to, part->initial, (size)(n * bytes));                                                    \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    PROCEDURES(p, type) * (const void **)(value + p->offset) = p->initial;                                             \
  }
INLINE void begin_innermost OWNER {
  (void)value;
  if (!type->no_initialization)
    REFUSE("derived types with initial values, more than three deep", file, line);
}
BEGIN(begin_inner, begin_innermost, copy_innermost)
BEGIN(begin_middle, begin_inner, copy_value_inner)
BEGIN(begin, begin_middle, copy_value_middle)

// What overlaps its source is assigned by way of memory of its own.
SHARED int overlap(const descriptor *a, const descriptor *b, int rank) {
  wide low[2] = {0, 0}, high[2] = {(wide)a->length, (wide)b->length};
  DIMENSIONS(r, 0, rank) {
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

// Assignment; to a temporary, which holds nothing yet, overlaps with nothing, and for which no procedure is called.
SHARED void assign(descriptor *to, const descriptor *from, const char *file, int line, int temporary) {
  const int type = from->type;
  const int owning = owns(from), rank = rank_of(to, from);
  const derived_type *derived = derived_of(from);
  const size length = from->length;
  const int other_length = type == CHARACTER && to->length != length;
  if (to->type != type)
    REFUSE("assignment that converts kinds", file, line);
  if (derived && !temporary && (finalises(derived) || !derived->no_defined_assignment))
    REFUSE("assignment of derived types with finalisers or components with defined assignment", file, line);
  if (to->attribute == ALLOCATABLE && (!to->base || other_length || (from->rank > 0 && !same_shape(to, from)))) {
    // A new array, of which the old one may be the source.
    char *old = to->base;
    const wide old_count = old && owning ? count_in(to, rank) : 0, old_length = (wide)to->length;
    if (from->rank == 0 && to->rank > 0)
      REFUSE("assignment of a scalar to an array that is not allocated or has texts of another length", file, line);
    to->length = length;
    wide bytes = (wide)length;
    DIMENSIONS(r, 0, from->rank) {
      shape(to, r, from->dims[r].extent, &bytes);
      to->dims[r].lower = from->dims[r].lower;
    }
    char *base = fresh(bytes);
    copy(base, 0, from, count_of(from), length);
    to->base = base;
    if (owning)
      own_elements(to, rank, derived, file, line);
    for (wide k = 0; k < old_count; k++)
      disown(old + k * old_length, derived, file, line);
    free(old);
    return;
  }
  if (!temporary && (owning || (from->rank > 0 && overlap(to, from, rank)))) {
    // By way of memory of its own: what owners hold is copied before what it replaces is given back, of which it may
    // be a part.
    descriptor middle;
    establish(&middle, from, from->rank);
    wide bytes = (wide)length;
    DIMENSIONS(r, 0, from->rank)
    shape(&middle, r, from->dims[r].extent, &bytes);
    char *between = fresh(bytes);
    middle.base = between;
    copy(between, 0, from, count_of(from), length);
    if (owning) {
      own_elements(&middle, from->rank, derived, file, line);
      disown_elements(to, rank, derived, file, line);
    }
    if (other_length)
      copy_text(to, &middle, count_in(to, rank));
    else
      copy(to->base, to, &middle, count_in(to, rank), length);
    if (owning && from->rank < rank) {
      own_elements(to, rank, derived, file, line);
      disown_elements(&middle, 0, derived, file, line);
    }
    free(between);
    return;
  }
  if (other_length)
    copy_text(to, from, count_in(to, rank));
  else
    copy(to->base, to, from, count_in(to, rank), length);
  if (owning)
    own_elements(to, rank, derived, file, line);
}

#endif
