// Bodies for functions of flang's run-time library through which data moves: assignment, reductions, products of matrices,
// rearrangements, allocation. Programs reach their arrays there through descriptors, so that only a body can say what moves
// where. The build compiles this file to bitcode.
//
// What each does is said by the Fortran standard (ISO/IEC 1539-1:2023, clauses 10.2.1.3 and 16.9) and by flang's headers, which
// also give the layout of descriptors. An element's place is a pure function of its number, so that a reverse sweep finds it
// again without a tape. The kind of an element is asked for before any element is touched: where the caller has filled in the
// descriptor, as compiled code nearly always does, one kind is left after optimisation.
//
// Not here, so refused: class(*), derived types with length parameters, reductions of other kinds than real, double
// precision and (sums, products of matrices) complex, defined assignment, finalisers.

#include "flang_powers.h"
#include "flang_products.h"
#include "flang_rearrange.h"
#include "flang_shifts.h"
#include "flang_stacks.h"
#include "flang_values.h"

// Assignment.

void _FortranAAssign(descriptor *to, const descriptor *from, const char *file, int line)
{
    assign(to, from, file, line, 0);
}

// The caller has initialised what is assigned to.
void _FortranAAssignTemporary(descriptor *to, const descriptor *from, const char *file, int line)
{
    assign(to, from, file, line, 1);
}

// Sections that are not contiguous are passed by way of a copy, which owns nothing behind its elements.
void _FortranACopyInAssign(descriptor *to, const descriptor *from, const char *file, int line)
{
    (void)file, (void)line;
    establish(to, from, from->rank);
    wide bytes = (wide)from->length;
    DIMENSIONS(r, 0, from->rank) {
        shape(to, r, from->dims[r].extent, &bytes);
        to->dims[r].lower = from->dims[r].lower;
    }
    char *base = fresh(bytes);
    copy(base, 0, from, count_of(from), from->length);
    to->base = base;
}

void _FortranACopyOutAssign(descriptor *to, descriptor *from, const char *file, int line)
{
    (void)file, (void)line;
    if (to)
        copy(to->base, to, from, count_of(to), to->length);
    free(from->base);
    from->base = 0;
}

ALL(begin_all, begin)

INLINE void begin_elements(const descriptor *d, const char *file, int line)
{
    const derived_type *type = derived_of(d);
    if (!type || type->no_initialization)
        return;
    if (only_begun && type != only_begun)
        REFUSE("derived types of other files with initial values", file, line);
    begin_all(d, d->rank, only_begun ? only_begun : type, file, line);
}

void _FortranAInitialize(const descriptor *d, const char *file, int line) { begin_elements(d, file, line); }

void _FortranADestroyWithoutFinalization(const descriptor *d)
{
    if (!owns(d) || !d->base)
        return;
    // The type may be known only when the program runs.
    if (!holds_memory)
        REFUSE("derived types of other files with allocatable components", 0, 0);
    disown_elements(d, d->rank, derived_of(d), 0, 0);
}

INLINE void destroy(const descriptor *d, const char *file, int line)
{
    const derived_type *type = derived_of(d);
    if (type && d->base && finalises(type))
        REFUSE("finalisers", file, line);
    _FortranADestroyWithoutFinalization(d);
}

void _FortranADestroy(const descriptor *d) { destroy(d, 0, 0); }

_Bool _FortranAIsContiguous(const descriptor *d) { return is_dense(d); }

// Allocation.

INLINE int allocate(descriptor *d)
{
    wide bytes = (wide)d->length;
    DIMENSIONS(r, 0, d->rank) {
        const wide extent = d->dims[r].extent > 0 ? d->dims[r].extent : 0;
        d->dims[r].extent = extent;
        d->dims[r].stride = bytes;
        bytes *= extent;
    }
    d->base = fresh(bytes);
    return 0;
}

INLINE void set_bounds(descriptor *d, int r, wide lower, wide upper)
{
    d->dims[r].lower = lower;
    d->dims[r].extent = upper >= lower ? upper - lower + 1 : 0;
}

void _FortranAAllocatableSetBounds(descriptor *d, int r, wide lower, wide upper) { set_bounds(d, r, lower, upper); }
void _FortranAPointerSetBounds(descriptor *d, int r, wide lower, wide upper) { set_bounds(d, r, lower, upper); }

int _FortranAAllocatableAllocate(descriptor *d, wide *stream, _Bool stat, const descriptor *message, const char *file, int line,
                                 const void *device)
{
    (void)stream, (void)message, (void)device;
    if (d->base) {
        if (stat)
            return 105;
        REFUSE("an array is allocated twice", file, line);
    }
    allocate(d);
    begin_elements(d, file, line);
    return 0;
}

int _FortranAPointerAllocate(descriptor *d, _Bool stat, const descriptor *message, const char *file, int line, const descriptor *source)
{
    (void)stat, (void)message, (void)source;
    allocate(d);
    begin_elements(d, file, line);
    return 0;
}

INLINE int allocate_as(descriptor *d, const descriptor *source, const char *file, int line)
{
    if (d->type == CHARACTER && d->length != source->length)
        REFUSE("allocation by a text of another length", file, line);
    allocate(d);
    copy(d->base, d, source, count_of(d), d->length);
    if (owns(d))
        own_elements(d, d->rank, derived_of(d), file, line);
    return 0;
}

int _FortranAAllocatableAllocateSource(descriptor *d, const descriptor *source, _Bool stat, const descriptor *message,
                                       const char *file, int line)
{
    if (d->base) {
        if (stat)
            return 105;
        REFUSE("an array is allocated twice", file, line);
    }
    (void)message;
    return allocate_as(d, source, file, line);
}

int _FortranAPointerAllocateSource(descriptor *d, const descriptor *source, _Bool stat, const descriptor *message,
                                   const char *file, int line)
{
    (void)stat, (void)message;
    return allocate_as(d, source, file, line);
}

INLINE int deallocate(descriptor *d)
{
    free(d->base);
    d->base = 0;
    return 0;
}

int _FortranAAllocatableDeallocate(descriptor *d, _Bool stat, const descriptor *message, const char *file, int line)
{
    (void)stat, (void)message;
    destroy(d, file, line);
    return deallocate(d);
}

int _FortranAPointerDeallocate(descriptor *d, _Bool stat, const descriptor *message, const char *file, int line)
{
    (void)stat, (void)message;
    destroy(d, file, line);
    return deallocate(d);
}

int _FortranAMoveAlloc(descriptor *to, descriptor *from, const void *type, _Bool stat, const descriptor *message,
                       const char *file, int line)
{
    (void)type, (void)stat, (void)message;
    char *base = from->base;
    if (to->base == base)
        return 0;
    destroy(to, file, line);
    free(to->base);
    to->length = from->length;
    DIMENSIONS(r, 0, from->rank)
        move_dimension(&to->dims[r], &from->dims[r]);
    to->base = base;
    from->base = 0;
    return 0;
}

// Polymorphic variables: their descriptors say of which type the value is.

INLINE void become(descriptor *d, const derived_type *type, int rank, int attribute)
{
    d->base = 0;
    d->length = (size)type->bytes;
    d->version = VERSION;
    d->rank = (signed char)rank;
    d->type = DERIVED;
    d->attribute = (signed char)attribute;
    d->extra |= 1;
    addendum_of(d, rank)->type = type;
    addendum_of(d, rank)->lengths = 0;
}

void _FortranAAllocatableInitDerivedForAllocate(descriptor *d, const derived_type *type, int rank, int corank)
{
    (void)corank;
    if (!d->base)
        become(d, type, rank, ALLOCATABLE);
}

void _FortranAPointerNullifyDerived(descriptor *d, const derived_type *type, int rank, int corank)
{
    (void)corank;
    become(d, type, rank, POINTER);
}

INLINE void apply_mold(descriptor *d, const descriptor *mold, int rank, int attribute)
{
    const derived_type *type = derived_of(mold);
    // Where the statement has no bounds, these are those of the other array.
    const int like = rank < mold->rank ? rank : mold->rank;
    DIMENSIONS(r, 0, like)
        move_dimension(&d->dims[r], &mold->dims[r]);
    if (type) {
        become(d, type, rank, attribute);
        return;
    }
    if (d->extra & 1)
        REFUSE("allocation of class(*) by another variable", 0, 0);
    d->base = 0;
    d->length = mold->length;
    d->version = VERSION;
    d->rank = (signed char)rank;
    d->type = mold->type;
    d->attribute = (signed char)attribute;
}

void _FortranAAllocatableApplyMold(descriptor *d, const descriptor *mold, int rank)
{
    if (!d->base)
        apply_mold(d, mold, rank, ALLOCATABLE);
}

void _FortranAPointerApplyMold(descriptor *d, const descriptor *mold, int rank) { apply_mold(d, mold, rank, POINTER); }

int _FortranAAllocatableDeallocatePolymorphic(descriptor *d, const derived_type *type, _Bool stat, const descriptor *message,
                                              const char *file, int line)
{
    (void)stat, (void)message;
    destroy(d, file, line);
    if (type)
        addendum_of(d, d->rank)->type = type;
    return deallocate(d);
}

int _FortranAPointerDeallocatePolymorphic(descriptor *d, const derived_type *type, _Bool stat, const descriptor *message,
                                          const char *file, int line)
{
    return _FortranAAllocatableDeallocatePolymorphic(d, type, stat, message, file, line);
}

// The value, of which the old one may hold a part, is copied before that is given back. It stays where it lies if it is
// of the same type and shape.
void _FortranAAssignPolymorphic(descriptor *to, const descriptor *from, const char *file, int line)
{
    const derived_type *type = derived_of(from), *old_type = derived_of(to);
    if (!type)
        REFUSE("assignment to class(*)", file, line);
    if (finalises(type) || !type->no_defined_assignment)
        REFUSE("assignment of derived types with finalisers or components with defined assignment", file, line);
    descriptor made;
    made.extra = 0;
    become(&made, type, from->rank, ALLOCATABLE);
    wide bytes = type->bytes;
    DIMENSIONS(r, 0, from->rank) {
        shape(&made, r, from->dims[r].extent, &bytes);
        made.dims[r].lower = from->dims[r].lower;
    }
    made.base = fresh(bytes);
    copy_derived(made.base, 0, from, count_of(from), 0);
    if (!type->no_destruction)
        own_elements(&made, from->rank, type, file, line);
    const int stays = to->base && old_type == type && same_shape(to, from);
    if (from->rank < to->rank && (!stays || !type->no_destruction))
        REFUSE("assignment of a scalar to a polymorphic array of another type or with allocatable components", file, line);
    destroy(to, file, line);
    if (stays) {
        copy_derived(to->base, to, &made, count_of(to), 0);
        free(made.base);
        return;
    }
    free(to->base);
    become(to, type, from->rank, ALLOCATABLE);
    DIMENSIONS(r, 0, from->rank)
        to->dims[r] = made.dims[r];
    to->base = made.base;
}

// An array of any rank is passed on by a descriptor of its own: as it is, or with lower bounds of 1 or 0.
void _FortranACopyAndUpdateDescriptor(descriptor *to, const descriptor *from, const derived_type *type, signed char attribute,
                                      int bounds)
{
    to->base = from->base;
    to->length = from->length;
    to->version = from->version;
    to->rank = from->rank;
    to->type = from->type;
    to->attribute = attribute;
    to->extra = from->extra;
    DIMENSIONS(r, 0, from->rank) {
        move_dimension(&to->dims[r], &from->dims[r]);
        if (bounds > 0)
            to->dims[r].lower = bounds == 1;
    }
    const derived_type *known = derived_of(from);
    if (known) {
        addendum_of(to, from->rank)->type = type ? type : known;
        addendum_of(to, from->rank)->lengths = 0;
    }
}

// Random numbers are constants. They are drawn one by one into a place of their own, so that no other memory is seen to
// change but by what is stored here.
void drawn(const descriptor *, const char *, int) __asm__("enzyme.runtime._FortranARandomNumber");

#define DRAW(T)                                                                                                        \
    for (wide k = 0; k < n; k++) {                                                                                     \
        T number = 0;                                                                                                  \
        one.base = (char *)&number;                                                                                    \
        drawn(&one, file, line);                                                                                       \
        *(T *)(d->base + place(d, flat, k)) = number;                                                                  \
    }

void _FortranARandomNumber(const descriptor *d, const char *file, int line)
{
    const wide n = count_of(d);
    const int flat = is_dense(d);
    descriptor one;
    establish(&one, d, 0);
    one.attribute = 0;
    switch (d->type) {
    case REAL8: DRAW(double) break;
    case REAL4: DRAW(float) break;
    default: REFUSE("random numbers of other kinds than real", file, line);
    }
}

// Reductions to a scalar.

#define REDUCE(NAME, T, START, STEP, END)                                                                              \
    T NAME(const descriptor *x, const char *file, int line, int dim, const descriptor *mask)                           \
    {                                                                                                                  \
        (void)file, (void)line, (void)dim;                                                                             \
        const wide n = count_of(x);                                                                                    \
        const int flat = is_dense(x);                                                                                  \
        T out = START;                                                                                                 \
        for (wide k = 0; k < n; k++)                                                                                   \
            if (holds(mask, k)) {                                                                                      \
                const T e = *(const T *)(x->base + place(x, flat, k));                                                 \
                out = STEP;                                                                                            \
            }                                                                                                          \
        return END;                                                                                                    \
    }

REDUCE(_FortranASumReal8, double, 0, out + e, out)
REDUCE(_FortranASumReal4, float, 0, out + e, out)
REDUCE(_FortranAProductReal8, double, 1, out * e, out)
REDUCE(_FortranAProductReal4, float, 1, out * e, out)
REDUCE(_FortranAMaxvalReal8, double, -__DBL_MAX__, e > out ? e : out, out)
REDUCE(_FortranAMaxvalReal4, float, -__FLT_MAX__, e > out ? e : out, out)
REDUCE(_FortranAMinvalReal8, double, __DBL_MAX__, e < out ? e : out, out)
REDUCE(_FortranAMinvalReal4, float, __FLT_MAX__, e < out ? e : out, out)

#define COMPLEX_PRODUCT(NAME, T)                                                                                       \
    void NAME(T *result, const descriptor *x, const char *file, int line, int dim, const descriptor *mask)             \
    {                                                                                                                  \
        (void)file, (void)line, (void)dim;                                                                             \
        const wide n = count_of(x);                                                                                    \
        const int flat = is_dense(x);                                                                                  \
        T re = 1, im = 0;                                                                                              \
        for (wide k = 0; k < n; k++)                                                                                   \
            if (holds(mask, k)) {                                                                                      \
                const T *e = (const T *)(x->base + place(x, flat, k));                                                 \
                const T next = re * e[0] - im * e[1];                                                                  \
                im = re * e[1] + im * e[0];                                                                            \
                re = next;                                                                                             \
            }                                                                                                          \
        result[0] = re;                                                                                                \
        result[1] = im;                                                                                                \
    }

COMPLEX_PRODUCT(_FortranACppProductComplex8, double)
COMPLEX_PRODUCT(_FortranACppProductComplex4, float)

#define COMPLEX_SUM(NAME, T)                                                                                           \
    void NAME(T *result, const descriptor *x, const char *file, int line, int dim, const descriptor *mask)             \
    {                                                                                                                  \
        (void)file, (void)line, (void)dim;                                                                             \
        const wide n = count_of(x);                                                                                    \
        const int flat = is_dense(x);                                                                                  \
        T out = 0;                                                                                                     \
        for (wide k = 0; k < n; k++)                                                                                   \
            if (holds(mask, k))                                                                                        \
                out += *(const T *)(x->base + place(x, flat, k));                                                      \
        *result = out;                                                                                                 \
    }

COMPLEX_SUM(_FortranACppSumComplex8, complex16)
COMPLEX_SUM(_FortranACppSumComplex4, complex8)

// Without scaling: the derivative is that of the exact norm, and overflow is the caller's as in its own loops.
#define NORM(NAME, T, ROOT)                                                                                            \
    T NAME(const descriptor *x, const char *file, int line, int dim)                                                   \
    {                                                                                                                  \
        (void)file, (void)line, (void)dim;                                                                             \
        const wide n = count_of(x);                                                                                    \
        const int flat = is_dense(x);                                                                                  \
        T out = 0;                                                                                                     \
        for (wide k = 0; k < n; k++) {                                                                                 \
            const T e = *(const T *)(x->base + place(x, flat, k));                                                     \
            out += e * e;                                                                                              \
        }                                                                                                              \
        return ROOT(out);                                                                                              \
    }

NORM(_FortranANorm2_8, double, sqrt)
NORM(_FortranANorm2_4, float, sqrtf)

// Reductions along one dimension.

// Memory for what is left of an array without that dimension; how many elements that are.
INLINE wide shape_without(descriptor *result, const descriptor *x, int along)
{
    wide left = 1, bytes = (wide)x->length;
    DIMENSIONS(r, 0, x->rank)
        if (r != along) {
            shape(result, r < along ? r : r - 1, x->dims[r].extent, &bytes);
            left *= x->dims[r].extent;
        }
    result->base = fresh(bytes);
    return left;
}

#define REDUCE_ALONG(T, START, STEP)                                                                                   \
    for (wide k = 0; k < left; k++) {                                                                                  \
        const wide at = place_without(x, along, k);                                                                    \
        T out = START;                                                                                                 \
        for (wide i = 0; i < extent; i++) {                                                                            \
            if (mask && !is_true(mask, mask->rank == 0 ? 0                                                             \
                                                       : place_without(mask, along, k) + i * mask->dims[along].stride)) \
                continue;                                                                                              \
            const T e = *(const T *)(x->base + at + i * x->dims[along].stride);                                        \
            out = STEP;                                                                                                \
        }                                                                                                              \
        ((T *)base)[k] = out;                                                                                          \
    }

#define COMPLEX_ALONG                                                                                                  \
    case COMPLEX8: REDUCE_ALONG(complex16, 0, out + e) break;                                                          \
    case COMPLEX4: REDUCE_ALONG(complex8, 0, out + e) break;

#define ALONG(NAME, START8, START4, STEP, MORE)                                                                        \
    void NAME(descriptor *result, const descriptor *x, int dim, const char *file, int line, const descriptor *mask)    \
    {                                                                                                                  \
        const int along = dim - 1;                                                                                     \
        const wide extent = x->dims[along].extent;                                                                     \
        establish(result, x, x->rank - 1);                                                                             \
        const wide left = shape_without(result, x, along);                                                             \
        char *base = result->base;                                                                                     \
        switch (x->type) {                                                                                             \
        case REAL8: REDUCE_ALONG(double, START8, STEP) break;                                                          \
        case REAL4: REDUCE_ALONG(float, START4, STEP) break;                                                           \
            MORE                                                                                                       \
        default: REFUSE("a reduction along a dimension of other kinds than real", file, line);                         \
        }                                                                                                              \
    }

ALONG(_FortranASumDim, 0, 0, out + e, COMPLEX_ALONG)
ALONG(_FortranAProductDim, 1, 1, out *e, )
ALONG(_FortranAMaxvalDim, -__DBL_MAX__, -__FLT_MAX__, e > out ? e : out, )
ALONG(_FortranAMinvalDim, __DBL_MAX__, __FLT_MAX__, e < out ? e : out, )

void _FortranANorm2Dim(descriptor *result, const descriptor *x, int dim, const char *file, int line)
{
    const int along = dim - 1;
    const descriptor *mask = 0;
    const wide extent = x->dims[along].extent;
    establish(result, x, x->rank - 1);
    const wide left = shape_without(result, x, along);
    char *base = result->base;
    switch (x->type) {
    case REAL8:
        REDUCE_ALONG(double, 0, out + e * e)
        for (wide k = 0; k < left; k++)
            ((double *)base)[k] = sqrt(((double *)base)[k]);
        break;
    case REAL4:
        REDUCE_ALONG(float, 0, out + e * e)
        for (wide k = 0; k < left; k++)
            ((float *)base)[k] = sqrtf(((float *)base)[k]);
        break;
    default:
        REFUSE("norms of other kinds than real", file, line);
    }
}

// Reductions by a function of the program, of elements in their order; the identity is the result where there is none.

#define FOLD(T, AT, CALL)                                                                                              \
    T out = identity ? *identity : 0;                                                                                  \
    int begun = 0;                                                                                                     \
    for (wide i = 0; i < extent; i++)                                                                                  \
        if (!mask || is_true(mask, mask->rank == 0 ? 0 : AT(mask))) {                                                  \
            const T e = *(const T *)(x->base + AT(x));                                                                 \
            out = begun ? CALL : e;                                                                                    \
            begun = 1;                                                                                                 \
        }

#define BY_REFERENCE operation(&out, &e)
#define BY_VALUE operation(out, e)
#define IN_ORDER(d) place(d, 0, i)
#define IN_ROW(d) place_without(d, along, k) + i * (d)->dims[along].stride

#define FOLDS(KIND, T, HOW, CALL, ...)                                                                                 \
    T _FortranAReduce##KIND##HOW(const descriptor *x, T (*operation)(__VA_ARGS__), const char *file, int line,         \
                                 int dim, const descriptor *mask, const T *identity, _Bool ordered)                    \
    {                                                                                                                  \
        (void)dim, (void)ordered;                                                                                      \
        const wide extent = count_of(x);                                                                               \
        FOLD(T, IN_ORDER, CALL)                                                                                        \
        if (!begun && !identity)                                                                                       \
            REFUSE("reduce without an identity where there is no element", file, line);                                \
        return out;                                                                                                    \
    }                                                                                                                  \
    void _FortranAReduce##KIND##Dim##HOW(descriptor *result, const descriptor *x, T (*operation)(__VA_ARGS__),         \
                                         const char *file, int line, int dim, const descriptor *mask,                  \
                                         const T *identity, _Bool ordered)                                             \
    {                                                                                                                  \
        (void)ordered;                                                                                                 \
        const int along = dim - 1;                                                                                     \
        const wide extent = x->dims[along].extent;                                                                     \
        establish(result, x, x->rank - 1);                                                                             \
        const wide left = shape_without(result, x, along);                                                             \
        for (wide k = 0; k < left; k++) {                                                                              \
            FOLD(T, IN_ROW, CALL)                                                                                      \
            if (!begun && !identity)                                                                                   \
                REFUSE("reduce without an identity where there is no element", file, line);                            \
            ((T *)result->base)[k] = out;                                                                              \
        }                                                                                                              \
    }

FOLDS(Real8, double, Ref, BY_REFERENCE, const double *, const double *)
FOLDS(Real8, double, Value, BY_VALUE, double, double)
FOLDS(Real4, float, Ref, BY_REFERENCE, const float *, const float *)
FOLDS(Real4, float, Value, BY_VALUE, float, float)

// Places of extrema, as integers of 4 or 8 bytes.

#define WRITE_INTEGER(base, kind, k, v)                                                                                \
    do {                                                                                                               \
        if ((kind) == 8)                                                                                               \
            ((wide *)(base))[k] = (v);                                                                                 \
        else                                                                                                           \
            ((int *)(base))[k] = (int)(v);                                                                             \
    } while (0)

INLINE void establish_integers(descriptor *d, int kind, int rank)
{
    d->length = (size)kind;
    d->version = VERSION;
    d->rank = (signed char)rank;
    d->type = kind == 8 ? INTEGER8 : INTEGER4;
    d->attribute = ALLOCATABLE;
    d->extra = 0;
}

#define FIND(T, BETTER)                                                                                                \
    for (wide i = 0; i < extent; i++) {                                                                                \
        const T e = *(const T *)(x->base + at + i * x->dims[along].stride);                                            \
        const int allowed = !mask || is_true(mask, mask->rank == 0 ? 0                                                 \
                                             : place_without(mask, along, k) + i * mask->dims[along].stride);          \
        const T known = *(const T *)(x->base + at + (found ? found - 1 : 0) * x->dims[along].stride);                  \
        if (allowed && (!found || e BETTER known || (back && e == known)))                                             \
            found = i + 1;                                                                                             \
    }

#define PLACE_ALONG(NAME, BETTER)                                                                                      \
    void NAME(descriptor *result, const descriptor *x, int kind, int dim, const char *file, int line,                  \
              const descriptor *mask, _Bool back)                                                                      \
    {                                                                                                                  \
        const int along = dim - 1;                                                                                     \
        const wide extent = x->dims[along].extent;                                                                     \
        establish_integers(result, kind, x->rank - 1);                                                                 \
        wide left = 1, bytes = kind;                                                                                   \
        DIMENSIONS(r, 0, x->rank)                                                                                      \
            if (r != along) {                                                                                          \
                shape(result, r < along ? r : r - 1, x->dims[r].extent, &bytes);                                       \
                left *= x->dims[r].extent;                                                                             \
            }                                                                                                          \
        char *base = fresh(bytes);                                                                                     \
        for (wide k = 0; k < left; k++) {                                                                              \
            const wide at = place_without(x, along, k);                                                                \
            wide found = 0;                                                                                            \
            switch (x->type) {                                                                                         \
            case REAL8: FIND(double, BETTER) break;                                                                    \
            case REAL4: FIND(float, BETTER) break;                                                                     \
            case INTEGER4: FIND(int, BETTER) break;                                                                    \
            default: REFUSE("places of extrema of other kinds than real and integer", file, line);                     \
            }                                                                                                          \
            WRITE_INTEGER(base, kind, k, found);                                                                       \
        }                                                                                                              \
        result->base = base;                                                                                           \
    }

PLACE_ALONG(_FortranAMaxlocDim, >)
PLACE_ALONG(_FortranAMinlocDim, <)

#define PLACE(NAME, T, BETTER)                                                                                         \
    void NAME(descriptor *result, const descriptor *x, int kind, const char *file, int line, const descriptor *mask,   \
              _Bool back)                                                                                              \
    {                                                                                                                  \
        (void)file, (void)line;                                                                                        \
        establish_integers(result, kind, 1);                                                                           \
        wide bytes = kind;                                                                                             \
        shape(result, 0, x->rank, &bytes);                                                                             \
        char *base = fresh(bytes);                                                                                     \
        const wide n = count_of(x);                                                                                    \
        const int flat = is_dense(x);                                                                                  \
        wide found = 0;                                                                                                \
        for (wide k = 0; k < n; k++) {                                                                                 \
            const T e = *(const T *)(x->base + place(x, flat, k));                                                     \
            const T known = *(const T *)(x->base + place(x, flat, found ? found - 1 : 0));                             \
            if (holds(mask, k) && (!found || e BETTER known || (back && e == known)))                                  \
                found = k + 1;                                                                                         \
        }                                                                                                              \
        wide rest = found - 1;                                                                                         \
        DIMENSIONS(r, 0, x->rank)                                                                                      \
        {                                                                                                              \
            const wide extent = x->dims[r].extent > 0 ? x->dims[r].extent : 1;                                         \
            WRITE_INTEGER(base, kind, r, found ? rest % extent + 1 : 0);                                               \
            rest /= extent;                                                                                            \
        }                                                                                                              \
        result->base = base;                                                                                           \
    }

PLACE(_FortranAMaxlocReal8, double, >)
PLACE(_FortranAMinlocReal8, double, <)
PLACE(_FortranAMaxlocReal4, float, >)
PLACE(_FortranAMinlocReal4, float, <)

// Array constructors whose size is not known before: a record in the caller's memory holds the array and its capacity.

typedef struct {
    descriptor *to;
    wide capacity;
    const char *file;
    int line;
    // Texts are as long as the first of them.
    _Bool lengths;
} constructor;

void _FortranAInitArrayConstructorVector(constructor *c, descriptor *to, _Bool lengths, const char *file, int line)
{
    if (owns(to))
        REFUSE("array constructors of derived types with allocatable components", file, line);
    c->to = to;
    c->capacity = to->base ? to->dims[0].extent : 0;
    c->file = file;
    c->line = line;
    c->lengths = lengths;
    to->dims[0].lower = 1;
    to->dims[0].extent = 0;
    to->dims[0].stride = (wide)to->length;
}

INLINE void make_room(constructor *c, wide n)
{
    descriptor *to = c->to;
    if (to->dims[0].extent + n > c->capacity) {
        c->capacity = 2 * (to->dims[0].extent + n);
        to->base = realloc(to->base, (size)c->capacity * to->length);
    }
}

void _FortranAPushArrayConstructorValue(constructor *c, const descriptor *from)
{
    const wide n = count_of(from);
    descriptor *to = c->to;
    if (from->type == CHARACTER && to->length != from->length) {
        if (!c->lengths || to->base)
            REFUSE("array constructors of texts of several lengths", c->file, c->line);
        to->length = from->length;
        to->dims[0].stride = (wide)from->length;
    }
    make_room(c, n);
    const size length = to->length;
    char *base = to->base + to->dims[0].extent * (wide)length;
    copy(base, 0, from, n, length);
    to->dims[0].extent += n;
}

void _FortranAPushArrayConstructorSimpleScalar(constructor *c, const char *from)
{
    make_room(c, 1);
    descriptor *to = c->to;
    const size length = to->length;
    char *base = to->base + to->dims[0].extent * (wide)length;
#define LOOP(T) move_##T(base, from, length);
    EACH_KIND(to->type, length, LOOP)
#undef LOOP
    to->dims[0].extent += 1;
}

// What a statement puts aside.

void *_FortranACreateDescriptorStack(const char *file, int line) { return empty_stack(file, line); }
void _FortranAPushDescriptor(void *s, const descriptor *d) { put_aside(s, d, d->base); }
void _FortranADescriptorAt(void *s, size k, descriptor *result) { take_up(s, (wide)k, result); }
void _FortranADestroyDescriptorStack(void *s) { give_back(s); }

void *_FortranACreateValueStack(const char *file, int line) { return empty_stack(file, line); }
void _FortranAPushValue(void *s, const descriptor *d) { put_value_aside(s, d); }
void _FortranAValueAt(void *s, size k, descriptor *result) { take_up(s, (wide)k, result); }

void _FortranADestroyValueStack(void *opaque)
{
    stack *s = opaque;
    for (wide k = 0; k < s->count; k++)
        free(s->bases[k]);
    give_back(s);
}

// Remainders: those of division towards zero, and towards minus infinity.

double _FortranAModReal8(double a, double p, const char *file, int line)
{
    (void)file, (void)line;
    return fmod(a, p);
}

float _FortranAModReal4(float a, float p, const char *file, int line)
{
    (void)file, (void)line;
    return fmodf(a, p);
}

double _FortranAModuloReal8(double a, double p, const char *file, int line)
{
    (void)file, (void)line;
    const double r = fmod(a, p);
    return r != 0 && (r < 0) != (p < 0) ? r + p : r;
}

float _FortranAModuloReal4(float a, float p, const char *file, int line)
{
    (void)file, (void)line;
    const float r = fmodf(a, p);
    return r != 0 && (r < 0) != (p < 0) ? r + p : r;
}

// The part of a number behind its power of two.
double frexp(double, int *);
float frexpf(float, int *);

double _FortranAFraction8(double x)
{
    int e;
    return frexp(x, &e);
}

float _FortranAFraction4(float x)
{
    int e;
    return frexpf(x, &e);
}
