// Bodies for functions of flang's run-time library through which data moves: assignment, reductions, products of matrices,
// rearrangements, allocation. Programs reach their arrays there through descriptors, so that only a body can say what moves
// where. The build compiles this file to bitcode.
//
// What each does is said by the Fortran standard (ISO/IEC 1539-1:2023, clauses 10.2.1.3 and 16.9) and by flang's headers, which
// also give the layout of descriptors. An element's place is a pure function of its number, so that a reverse sweep finds it
// again without a tape. The kind of an element is asked for before any element is touched: where the caller has filled in the
// descriptor, as compiled code nearly always does, one kind is left after optimisation.
//
// Not here, so refused: polymorphic variables, derived types with length parameters, reductions of other kinds than real,
// double precision and (sums, products of matrices) complex, defined assignment, finalisers.

#include "flang_values.h"

// Assignment.

void _FortranAAssign(descriptor *to, const descriptor *from, const char *file, int line)
{
    assign(to, from, file, line, 1);
}

void _FortranAAssignTemporary(descriptor *to, const descriptor *from, const char *file, int line)
{
    assign(to, from, file, line, 0);
}

void _FortranACopyInAssign(descriptor *to, const descriptor *from, const char *file, int line)
{
    assign(to, from, file, line, 0);
}

void _FortranACopyOutAssign(descriptor *to, descriptor *from, const char *file, int line)
{
    if (to)
        assign(to, from, file, line, 0);
    free(from->base);
    from->base = 0;
}

void _FortranAInitialize(const descriptor *d, const char *file, int line)
{
    const derived_type *type = derived_of(d);
    if (!type || type->no_initialization)
        return;
    const int flat = is_dense(d);
    for (wide k = 0; k < count_of(d); k++)
        begin(d->base + place(d, flat, k), type, file, line);
}

void _FortranADestroy(const descriptor *d)
{
    if (!owns(d) || !d->base)
        return;
    const int flat = is_dense(d);
    for (wide k = 0; k < count_of(d); k++)
        disown(d->base + place(d, flat, k), derived_of(d));
}

void _FortranADestroyWithoutFinalization(const descriptor *d) { _FortranADestroy(d); }

// Allocation.

INLINE int allocate(descriptor *d, const char *file, int line)
{
    wide bytes = (wide)d->length;
    DIMENSIONS(r, 0, d->rank) {
        const wide extent = d->dims[r].extent > 0 ? d->dims[r].extent : 0;
        d->dims[r].extent = extent;
        d->dims[r].stride = bytes;
        bytes *= extent;
    }
    if (owns(d))
        REFUSE("allocation of derived types with allocatable components", file, line);
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

int _FortranAAllocatableAllocate(descriptor *d, wide *stream, _Bool stat, const descriptor *message, const char *file, int line)
{
    (void)stream, (void)message;
    if (d->base) {
        if (stat)
            return 105;
        REFUSE("an array is allocated twice", file, line);
    }
    return allocate(d, file, line);
}

int _FortranAPointerAllocate(descriptor *d, _Bool stat, const descriptor *message, const char *file, int line, const descriptor *source)
{
    (void)stat, (void)message, (void)source;
    return allocate(d, file, line);
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
    allocate(d, file, line);
    copy(d->base, d, source, count_of(d), d->length);
    return 0;
}

INLINE int deallocate(descriptor *d)
{
    free(d->base);
    d->base = 0;
    return 0;
}

int _FortranAAllocatableDeallocate(descriptor *d, _Bool stat, const descriptor *message, const char *file, int line)
{
    (void)stat, (void)message, (void)file, (void)line;
    if (d->base && owns(d))
        _FortranADestroy(d);
    return deallocate(d);
}

int _FortranAPointerDeallocate(descriptor *d, _Bool stat, const descriptor *message, const char *file, int line)
{
    (void)stat, (void)message, (void)file, (void)line;
    return deallocate(d);
}

int _FortranAMoveAlloc(descriptor *to, descriptor *from, const void *type, _Bool stat, const descriptor *message,
                       const char *file, int line)
{
    (void)type, (void)stat, (void)message, (void)file, (void)line;
    char *base = from->base;
    if (to->base == base)
        return 0;
    free(to->base);
    to->length = from->length;
    DIMENSIONS(r, 0, from->rank)
        move_dimension(&to->dims[r], &from->dims[r]);
    to->base = base;
    from->base = 0;
    return 0;
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
double _FortranANorm2_8(const descriptor *x, const char *file, int line, int dim)
{
    (void)file, (void)line, (void)dim;
    const wide n = count_of(x);
    const int flat = is_dense(x);
    double out = 0;
    for (wide k = 0; k < n; k++) {
        const double e = *(const double *)(x->base + place(x, flat, k));
        out += e * e;
    }
    return sqrt(out);
}

float _FortranANorm2_4(const descriptor *x, const char *file, int line, int dim)
{
    (void)file, (void)line, (void)dim;
    const wide n = count_of(x);
    const int flat = is_dense(x);
    float out = 0;
    for (wide k = 0; k < n; k++) {
        const float e = *(const float *)(x->base + place(x, flat, k));
        out += e * e;
    }
    return sqrtf(out);
}

#define DOT(NAME, T)                                                                                                   \
    T NAME(const descriptor *x, const descriptor *y, const char *file, int line)                                       \
    {                                                                                                                  \
        (void)file, (void)line;                                                                                        \
        T out = 0;                                                                                                     \
        for (wide k = 0; k < x->dims[0].extent; k++)                                                                   \
            out += *(const T *)(x->base + k * x->dims[0].stride) * *(const T *)(y->base + k * y->dims[0].stride);      \
        return out;                                                                                                    \
    }

DOT(_FortranADotProductReal8, double)
DOT(_FortranADotProductReal4, float)

#define COMPLEX_DOT(NAME, T, PART)                                                                                     \
    void NAME(T *result, const descriptor *x, const descriptor *y, const char *file, int line)                         \
    {                                                                                                                  \
        (void)file, (void)line;                                                                                        \
        PART re = 0, im = 0;                                                                                           \
        for (wide k = 0; k < x->dims[0].extent; k++) {                                                                 \
            const PART *a = (const PART *)(x->base + k * x->dims[0].stride);                                           \
            const PART *b = (const PART *)(y->base + k * y->dims[0].stride);                                           \
            re += a[0] * b[0] + a[1] * b[1];                                                                           \
            im += a[0] * b[1] - a[1] * b[0];                                                                           \
        }                                                                                                              \
        ((PART *)result)[0] = re;                                                                                      \
        ((PART *)result)[1] = im;                                                                                      \
    }

COMPLEX_DOT(_FortranACppDotProductComplex8, complex16, double)
COMPLEX_DOT(_FortranACppDotProductComplex4, complex8, float)

// Reductions along one dimension.

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

#define ALONG(NAME, START8, START4, STEP)                                                                              \
    void NAME(descriptor *result, const descriptor *x, int dim, const char *file, int line, const descriptor *mask)    \
    {                                                                                                                  \
        const int along = dim - 1;                                                                                     \
        const wide extent = x->dims[along].extent;                                                                     \
        establish(result, x, x->rank - 1);                                                                             \
        wide left = 1, bytes = (wide)x->length;                                                                        \
        DIMENSIONS(r, 0, x->rank)                                                                                      \
            if (r != along) {                                                                                          \
                shape(result, r < along ? r : r - 1, x->dims[r].extent, &bytes);                                       \
                left *= x->dims[r].extent;                                                                             \
            }                                                                                                          \
        char *base = fresh(bytes);                                                                                     \
        result->base = base;                                                                                           \
        switch (x->type) {                                                                                             \
        case REAL8: REDUCE_ALONG(double, START8, STEP) break;                                                          \
        case REAL4: REDUCE_ALONG(float, START4, STEP) break;                                                           \
        default: REFUSE("a reduction along a dimension of other kinds than real", file, line);                         \
        }                                                                                                              \
    }

ALONG(_FortranASumDim, 0, 0, out + e)
ALONG(_FortranAProductDim, 1, 1, out *e)
ALONG(_FortranAMaxvalDim, -__DBL_MAX__, -__FLT_MAX__, e > out ? e : out)
ALONG(_FortranAMinvalDim, __DBL_MAX__, __FLT_MAX__, e < out ? e : out)

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

// Products of matrices.

#define PRODUCT(T)                                                                                                     \
    for (wide j = 0; j < columns; j++)                                                                                 \
        for (wide i = 0; i < rows; i++) {                                                                              \
            T out = 0;                                                                                                 \
            for (wide k = 0; k < inner; k++)                                                                           \
                out += *(const T *)(a->base + i * a_row + k * a_column) *                                              \
                       *(const T *)(b->base + k * b_row + j * b_column);                                               \
            ((T *)base)[i + j * rows] = out;                                                                           \
        }

#define PRODUCT_COMPLEX(T)                                                                                             \
    for (wide j = 0; j < columns; j++)                                                                                 \
        for (wide i = 0; i < rows; i++) {                                                                              \
            T re = 0, im = 0;                                                                                          \
            for (wide k = 0; k < inner; k++) {                                                                         \
                const T *p = (const T *)(a->base + i * a_row + k * a_column);                                          \
                const T *q = (const T *)(b->base + k * b_row + j * b_column);                                          \
                re += p[0] * q[0] - p[1] * q[1];                                                                       \
                im += p[0] * q[1] + p[1] * q[0];                                                                       \
            }                                                                                                          \
            ((T *)base)[2 * (i + j * rows)] = re;                                                                      \
            ((T *)base)[2 * (i + j * rows) + 1] = im;                                                                  \
        }

#define MATMUL(NAME, HOW, T, TYPE, LENGTH, TRANSPOSED)                                                                               \
    void NAME(descriptor *result, const descriptor *a, const descriptor *b, const char *file, int line)                \
    {                                                                                                                  \
        (void)file, (void)line;                                                                                        \
        const int first = TRANSPOSED;                                                                                  \
        const wide a_row = a->rank == 2 ? a->dims[first].stride : 0;                                                   \
        const wide a_column = a->rank == 2 ? a->dims[1 - first].stride : a->dims[0].stride;                            \
        const wide rows = a->rank == 2 ? a->dims[first].extent : 1;                                                    \
        const wide inner = b->dims[0].extent;                                                                          \
        const wide b_row = b->dims[0].stride, b_column = b->rank == 2 ? b->dims[1].stride : 0;                         \
        const wide columns = b->rank == 2 ? b->dims[1].extent : 1;                                                     \
        establish(result, a, a->rank + b->rank - 2);                                                                   \
        result->type = TYPE;                                                                                           \
        result->length = LENGTH;                                                                                       \
        wide bytes = LENGTH;                                                                                           \
        if (a->rank == 2)                                                                                              \
            shape(result, 0, rows, &bytes);                                                                            \
        if (b->rank == 2)                                                                                              \
            shape(result, a->rank - 1, columns, &bytes);                                                               \
        char *base = fresh(bytes);                                                                                     \
        HOW(T)                                                                                                         \
        result->base = base;                                                                                           \
    }

MATMUL(_FortranAMatmulReal8Real8, PRODUCT, double, REAL8, 8, 0)
MATMUL(_FortranAMatmulReal4Real4, PRODUCT, float, REAL4, 4, 0)
MATMUL(_FortranAMatmulComplex8Complex8, PRODUCT_COMPLEX, double, COMPLEX8, 16, 0)
MATMUL(_FortranAMatmulComplex4Complex4, PRODUCT_COMPLEX, float, COMPLEX4, 8, 0)
MATMUL(_FortranAMatmulTransposeReal8Real8, PRODUCT, double, REAL8, 8, 1)
MATMUL(_FortranAMatmulTransposeReal4Real4, PRODUCT, float, REAL4, 4, 1)

// Rearrangements.

void _FortranATranspose(descriptor *result, const descriptor *x, const char *file, int line)
{
    (void)file, (void)line;
    establish(result, x, 2);
    const wide rows = x->dims[0].extent, columns = x->dims[1].extent;
    const size length = x->length;
    wide bytes = (wide)length;
    shape(result, 0, columns, &bytes);
    shape(result, 1, rows, &bytes);
    char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
    for (wide i = 0; i < rows; i++)                                                                                    \
        for (wide j = 0; j < columns; j++)                                                                             \
            move_##T(base + (j + i * columns) * (wide)length,                                                          \
                     x->base + i * x->dims[0].stride + j * x->dims[1].stride, length);
    EACH_KIND(x->type, length, LOOP)
#undef LOOP
    result->base = base;
}

INLINE wide integer_at(const descriptor *d, wide k)
{
    const char *p = d->base + (d->rank == 0 ? 0 : k * d->dims[0].stride);
    switch (d->length) {
    case 1: return *(const signed char *)p;
    case 2: return *(const short *)p;
    case 4: return *(const int *)p;
    default: return *(const wide *)p;
    }
}

void _FortranAReshape(descriptor *result, const descriptor *x, const descriptor *to, const descriptor *pad,
                      const descriptor *order, const char *file, int line)
{
    if (order)
        REFUSE("reshape with an order", file, line);
    const int rank = (int)to->dims[0].extent;
    establish(result, x, rank);
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
    for (wide k = first; k < n; k++)                                                                                   \
        move_##T(base + k * (wide)length, pad->base + place(pad, 0, (k - first) % more), length);
        EACH_KIND(x->type, length, LOOP)
#undef LOOP
    }
    result->base = base;
}

void _FortranASpread(descriptor *result, const descriptor *x, int dim, wide copies, const char *file, int line)
{
    (void)file, (void)line;
    establish(result, x, x->rank + 1);
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
    for (wide k = 0; k < n; k++)                                                                                       \
        for (wide c = 0; c < extent; c++)                                                                              \
            move_##T(base + (k % below + (c + k / below * extent) * below) * (wide)length,                             \
                     x->base + place(x, flat, k), length);
    EACH_KIND(x->type, length, LOOP)
#undef LOOP
    result->base = base;
}

void _FortranACshiftVector(descriptor *result, const descriptor *x, wide shift, const char *file, int line)
{
    (void)file, (void)line;
    establish(result, x, 1);
    const size length = x->length;
    const wide n = x->dims[0].extent;
    wide bytes = (wide)length;
    shape(result, 0, n, &bytes);
    char *base = fresh(bytes);
    const wide by = n > 0 ? (shift % n + n) % n : 0;
#define LOOP(T)                                                                                                        \
    for (wide k = 0; k < n; k++)                                                                                       \
        move_##T(base + k * (wide)length, x->base + (k + by < n ? k + by : k + by - n) * x->dims[0].stride, length);
    EACH_KIND(x->type, length, LOOP)
#undef LOOP
    result->base = base;
}

// The same along one dimension, by one number or by as many as there are rows.
void _FortranACshift(descriptor *result, const descriptor *x, const descriptor *shift, int dim, const char *file, int line)
{
    if (x->rank != 2 || shift->rank > 1)
        REFUSE("cshift of arrays of more than two dimensions", file, line);
    establish(result, x, 2);
    const size length = x->length;
    const wide rows = x->dims[0].extent, columns = x->dims[1].extent;
    wide bytes = (wide)length;
    shape(result, 0, rows, &bytes);
    shape(result, 1, columns, &bytes);
    char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
    for (wide j = 0; j < columns; j++)                                                                                 \
        for (wide i = 0; i < rows; i++) {                                                                              \
            const wide by = integer_at(shift, dim == 1 ? j : i);                                                       \
            const wide from_i = dim == 1 ? ((i + by) % rows + rows) % rows : i;                                        \
            const wide from_j = dim == 1 ? j : ((j + by) % columns + columns) % columns;                               \
            move_##T(base + (i + j * rows) * (wide)length,                                                             \
                     x->base + from_i * x->dims[0].stride + from_j * x->dims[1].stride, length);                       \
        }
    EACH_KIND(x->type, length, LOOP)
#undef LOOP
    result->base = base;
}

void _FortranAEoshiftVector(descriptor *result, const descriptor *x, wide shift, const descriptor *boundary, const char *file,
                            int line)
{
    establish(result, x, 1);
    const size length = x->length;
    const wide n = x->dims[0].extent;
    wide bytes = (wide)length;
    shape(result, 0, n, &bytes);
    char *base = fresh(bytes);
    if (x->type != REAL8 && x->type != REAL4)
        REFUSE("eoshift of other kinds than real", file, line);
#define SHIFT(T)                                                                                                       \
    {                                                                                                                  \
        const T edge = boundary ? *(const T *)boundary->base : 0;                                                      \
        for (wide k = 0; k < n; k++)                                                                                   \
            ((T *)base)[k] = k + shift >= 0 && k + shift < n ? *(const T *)(x->base + (k + shift) * x->dims[0].stride) \
                                                             : edge;                                                   \
    }
    if (x->type == REAL8)
        SHIFT(double)
    else
        SHIFT(float)
    result->base = base;
}

// How many elements come before `k` is counted anew for each: a pure function, as places are.
void _FortranAPack(descriptor *result, const descriptor *x, const descriptor *mask, const descriptor *vector, const char *file,
                   int line)
{
    (void)file, (void)line;
    establish(result, x, 1);
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
    {                                                                                                                  \
        wide at = 0;                                                                                                   \
        for (wide k = 0; k < n; k++)                                                                                   \
            if (holds(mask, k))                                                                                        \
                move_##T(base + at++ * (wide)length, x->base + place(x, flat, k), length);                             \
        for (wide k = chosen; k < extent; k++)                                                                         \
            move_##T(base + k * (wide)length, vector->base + k * vector->dims[0].stride, length);                      \
    }
    EACH_KIND(x->type, length, LOOP)
#undef LOOP
    result->base = base;
}

void _FortranAUnpack(descriptor *result, const descriptor *vector, const descriptor *mask, const descriptor *field,
                     const char *file, int line)
{
    (void)file, (void)line;
    establish(result, vector, mask->rank);
    const size length = vector->length;
    wide bytes = (wide)length;
    DIMENSIONS(r, 0, mask->rank)
        shape(result, r, mask->dims[r].extent, &bytes);
    const wide n = count_of(mask);
    char *base = fresh(bytes);
#define LOOP(T)                                                                                                        \
    {                                                                                                                  \
        wide at = 0;                                                                                                   \
        for (wide k = 0; k < n; k++)                                                                                   \
            if (holds(mask, k))                                                                                        \
                move_##T(base + k * (wide)length, vector->base + at++ * vector->dims[0].stride, length);               \
            else                                                                                                       \
                move_##T(base + k * (wide)length, field->base + place(field, 0, k), length);                           \
    }
    EACH_KIND(vector->type, length, LOOP)
#undef LOOP
    result->base = base;
}

// Array constructors whose size is not known before: a record in the caller's memory holds the array and its capacity.

typedef struct {
    descriptor *to;
    wide capacity;
} constructor;

void _FortranAInitArrayConstructorVector(constructor *c, descriptor *to, _Bool lengths, const char *file, int line)
{
    (void)file, (void)line, (void)lengths;
    c->to = to;
    c->capacity = to->base ? to->dims[0].extent : 0;
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
    make_room(c, n);
    descriptor *to = c->to;
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

double _FortranAFPow8i(double x, int n) { return __builtin_powi(x, n); }
float _FortranAFPow4i(float x, int n) { return __builtin_powif(x, n); }

// x times a power of two.
double ldexp(double, int);
float ldexpf(float, int);
INLINE int clamped(wide n) { return n < -5000 ? -5000 : n > 5000 ? 5000 : (int)n; }
double _FortranAScale8(double x, wide n) { return ldexp(x, clamped(n)); }
float _FortranAScale4(float x, wide n) { return ldexpf(x, clamped(n)); }

// Powers of complex numbers.
complex16 _FortranAzpowi(complex16 z, int n)
{
    double re = 1, im = 0;
    const double a = __real__ z, b = __imag__ z;
    for (int k = 0; k < (n < 0 ? -n : n); k++) {
        const double next = re * a - im * b;
        im = re * b + im * a;
        re = next;
    }
    if (n < 0) {
        const double norm = re * re + im * im;
        re = re / norm;
        im = -im / norm;
    }
    complex16 out;
    __real__ out = re;
    __imag__ out = im;
    return out;
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
