// Numbers and operations in formats that no type has, with GNU MPFR (Fousse, Hanrot, Lefevre, Pelissier and Zimmermann, "MPFR: A
// multiple-precision binary floating-point library with correct rounding", ACM TOMS 33, 2007). One source of a program with
// `__enzyme_truncate_op_func(f, 64, exponent, digits)` or `__enzyme_truncate_mem_func(...)` includes this, and the program is linked
// with -lmpfr (Debian: libmpfr-dev). Formats that are narrower than the type are rounded to where they stand and call nothing here.
//
// A format has `exponent` bits of exponent and `digits` binary digits behind the point, numbers below the least normal one and
// infinities, as IEEE 754 has them. Rounding is to nearest, ties to even.
//
// A number is passed as the bits of a double or float (of `width` 64 or 32 bits). One that these hold exactly is itself. Any other that
// memory is to hold is kept in a table, and its bits are a quiet NaN whose payload says where; it stays there until it is deleted or
// all are. After that such bits are no number. The table is guarded by a lock: numbers may be passed between threads.
//
// C11 and C++17. Without <mpfr.h> there are formats narrower than a type alone.
#ifndef ENZYME_FPRT_MPFR_H
#define ENZYME_FPRT_MPFR_H

#include "fprt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define ENZYME_FPRT_DEFINED extern "C" __attribute__((weak, used))
#else
#define ENZYME_FPRT_DEFINED __attribute__((weak, used))
#endif

static inline uint64_t enzyme_fprt_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double enzyme_fprt_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#if __has_include(<mpfr.h>)

#include <mpfr.h>

// The ways to use a format: numbers stay doubles between operations, or are kept.
enum { ENZYME_FPRT_OPERATIONS = 1, ENZYME_FPRT_MEMORY = 2 };
enum { ENZYME_FPRT_CHUNK = 4096 };

struct enzyme_fprt_number {
    mpfr_t value;
    uint64_t next_free; // of those that are free, from 1
    int is_used;
};

struct enzyme_fprt_table {
    struct enzyme_fprt_number **chunks;
    uint64_t count, first_free;
    char lock;
};

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) struct enzyme_fprt_table __enzyme_fprt_numbers = {NULL, 0, 0, 0};
#ifdef __cplusplus
}
#endif

// Bits that say where a number is kept: a NaN that no operation of the machine gives, and a number from 1.
static inline uint64_t enzyme_fprt_mark(uint32_t width)
{
    return width == 32 ? UINT64_C(0x7fe00000) : UINT64_C(0x7ffd) << 48;
}

static inline uint64_t enzyme_fprt_most(uint32_t width)
{
    return width == 32 ? (UINT64_C(1) << 21) - 1 : (UINT64_C(1) << 48) - 1;
}

static inline void enzyme_fprt_lock(void)
{
    while (__atomic_test_and_set(&__enzyme_fprt_numbers.lock, __ATOMIC_ACQUIRE)) {
    }
}

static inline void enzyme_fprt_unlock(void)
{
    __atomic_clear(&__enzyme_fprt_numbers.lock, __ATOMIC_RELEASE);
}

// With the lock held. The number that `bits` say, or null.
static inline struct enzyme_fprt_number *enzyme_fprt_kept(uint32_t width, uint64_t bits)
{
    const uint64_t index = bits & enzyme_fprt_most(width);
    if ((bits & ~enzyme_fprt_most(width)) != enzyme_fprt_mark(width) || index == 0 || index > __enzyme_fprt_numbers.count)
        return NULL;
    struct enzyme_fprt_number *number = &__enzyme_fprt_numbers.chunks[(index - 1) / ENZYME_FPRT_CHUNK][(index - 1) % ENZYME_FPRT_CHUNK];
    return number->is_used ? number : NULL;
}

static inline void enzyme_fprt_stop(const char *why)
{
    fprintf(stderr, "enzyme: %s\n", why);
    abort();
}

// A place for a number; the bits that say where.
static inline uint64_t enzyme_fprt_keep(uint32_t width, mpfr_srcptr value)
{
    enzyme_fprt_lock();
    struct enzyme_fprt_table *table = &__enzyme_fprt_numbers;
    if (table->first_free == 0) {
        const uint64_t chunk = table->count / ENZYME_FPRT_CHUNK;
        struct enzyme_fprt_number **chunks = (struct enzyme_fprt_number **)realloc(table->chunks, (chunk + 1) * sizeof *chunks);
        if (chunks)
            table->chunks = chunks;
        struct enzyme_fprt_number *made = chunks ? (struct enzyme_fprt_number *)calloc(ENZYME_FPRT_CHUNK, sizeof *made) : NULL;
        if (!made)
            enzyme_fprt_stop("there is no memory for more numbers; __enzyme_fprt_delete_all() frees those that are not needed");
        chunks[chunk] = made;
        for (int n = 0; n < ENZYME_FPRT_CHUNK; n++)
            made[n].next_free = n + 1 < ENZYME_FPRT_CHUNK ? table->count + n + 2 : 0;
        table->first_free = table->count + 1;
        table->count += ENZYME_FPRT_CHUNK;
    }
    const uint64_t index = table->first_free;
    if (index > enzyme_fprt_most(width))
        enzyme_fprt_stop("a float cannot name more than two million kept numbers; __enzyme_fprt_delete_all() frees those that are not needed");
    struct enzyme_fprt_number *number = &table->chunks[(index - 1) / ENZYME_FPRT_CHUNK][(index - 1) % ENZYME_FPRT_CHUNK];
    table->first_free = number->next_free;
    mpfr_init2(number->value, mpfr_get_prec(value));
    mpfr_set(number->value, value, MPFR_RNDN);
    number->is_used = 1;
    enzyme_fprt_unlock();
    return enzyme_fprt_mark(width) | index;
}

static inline void enzyme_fprt_free(uint64_t index)
{
    struct enzyme_fprt_number *number = &__enzyme_fprt_numbers.chunks[(index - 1) / ENZYME_FPRT_CHUNK][(index - 1) % ENZYME_FPRT_CHUNK];
    mpfr_clear(number->value);
    number->is_used = 0;
    number->next_free = __enzyme_fprt_numbers.first_free;
    __enzyme_fprt_numbers.first_free = index;
}

// The range of exponents that MPFR computes in, which each thread has its own of.
struct enzyme_fprt_range {
    mpfr_exp_t least, most;
};

static inline struct enzyme_fprt_range enzyme_fprt_enter(int64_t exponent, int64_t digits)
{
    const struct enzyme_fprt_range before = {mpfr_get_emin(), mpfr_get_emax()};
    // A mantissa of MPFR lies between a half and one.
    const mpfr_exp_t most = (mpfr_exp_t)1 << (exponent - 1);
    mpfr_set_emin(4 - most - (mpfr_exp_t)(digits + 1));
    mpfr_set_emax(most);
    return before;
}

static inline void enzyme_fprt_leave(struct enzyme_fprt_range before)
{
    mpfr_set_emin(before.least);
    mpfr_set_emax(before.most);
}

// In the range of the format: a number of it from bits.
static inline void enzyme_fprt_load(mpfr_ptr to, uint32_t width, uint64_t bits, int64_t digits)
{
    mpfr_init2(to, (mpfr_prec_t)digits + 1);
    int inexact;
    enzyme_fprt_lock();
    const struct enzyme_fprt_number *number = enzyme_fprt_kept(width, bits);
    if (number) {
        inexact = mpfr_set(to, number->value, MPFR_RNDN);
        inexact = mpfr_check_range(to, inexact, MPFR_RNDN);
    } else if (width == 32) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        inexact = mpfr_set_flt(to, value, MPFR_RNDN);
    } else {
        inexact = mpfr_set_d(to, enzyme_fprt_double(bits), MPFR_RNDN);
    }
    enzyme_fprt_unlock();
    mpfr_subnormalize(to, inexact, MPFR_RNDN);
}

// In the range of MPFR: the bits of a number, which is kept where a type does not hold it and `mode` says so; it is cleared.
static inline uint64_t enzyme_fprt_store(mpfr_ptr value, uint32_t width, int64_t mode)
{
    uint64_t bits;
    int same;
    if (width == 32) {
        const float nearest = mpfr_get_flt(value, MPFR_RNDN);
        uint32_t half;
        memcpy(&half, &nearest, sizeof half);
        bits = half;
        same = mpfr_cmp_d(value, (double)nearest) == 0;
    } else {
        const double nearest = mpfr_get_d(value, MPFR_RNDN);
        bits = enzyme_fprt_bits(nearest);
        same = mpfr_cmp_d(value, nearest) == 0;
    }
    if (mpfr_nan_p(value))
        bits = width == 32 ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8) << 48;
    else if (!same && (mode & ENZYME_FPRT_MEMORY))
        bits = enzyme_fprt_keep(width, value);
    mpfr_clear(value);
    return bits;
}

static inline int enzyme_fprt_lgamma(mpfr_ptr to, mpfr_srcptr x, mpfr_rnd_t rounding)
{
    int sign;
    return mpfr_lgamma(to, &sign, x, rounding);
}

static inline int enzyme_fprt_minimum(mpfr_ptr to, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding)
{
    return mpfr_nan_p(x) || mpfr_nan_p(y) ? mpfr_add(to, x, y, rounding) : mpfr_min(to, x, y, rounding);
}

static inline int enzyme_fprt_maximum(mpfr_ptr to, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding)
{
    return mpfr_nan_p(x) || mpfr_nan_p(y) ? mpfr_add(to, x, y, rounding) : mpfr_max(to, x, y, rounding);
}

static inline int enzyme_fprt_ldexp(mpfr_ptr to, mpfr_srcptr x, mpfr_srcptr power, mpfr_rnd_t rounding)
{
    return mpfr_mul_2si(to, x, mpfr_get_si(power, MPFR_RNDN), rounding);
}

#define ENZYME_FPRT_BEGIN(count)                                                   \
    const struct enzyme_fprt_range before = enzyme_fprt_enter(exponent, digits); \
    mpfr_t x[count + 1];                                                           \
    mpfr_init2(x[count], (mpfr_prec_t)digits + 1);                                 \
    for (int n = 0; n < count; n++)                                                \
        enzyme_fprt_load(x[n], width, bits[n], digits);

#define ENZYME_FPRT_END(count, inexact)                    \
    mpfr_subnormalize(x[count], inexact, MPFR_RNDN);       \
    enzyme_fprt_leave(before);                             \
    for (int n = 0; n < count; n++)                        \
        mpfr_clear(x[n]);                                  \
    return enzyme_fprt_store(x[count], width, mode);

#define ENZYME_FPRT_1(name, function)                                                                                                        \
    ENZYME_FPRT_DEFINED uint64_t __enzyme_fprt_##name(uint32_t width, uint64_t a, int64_t exponent, int64_t digits, int64_t mode)           \
    {                                                                                                                                        \
        const uint64_t bits[1] = {a};                                                                                                        \
        ENZYME_FPRT_BEGIN(1)                                                                                                                 \
        const int inexact = (function)(x[1], x[0], MPFR_RNDN);                                                                               \
        ENZYME_FPRT_END(1, inexact)                                                                                                          \
    }
#define ENZYME_FPRT_2(name, function)                                                                                                        \
    ENZYME_FPRT_DEFINED uint64_t __enzyme_fprt_##name(uint32_t width, uint64_t a, uint64_t b, int64_t exponent, int64_t digits,             \
                                                      int64_t mode)                                                                         \
    {                                                                                                                                        \
        const uint64_t bits[2] = {a, b};                                                                                                     \
        ENZYME_FPRT_BEGIN(2)                                                                                                                 \
        const int inexact = (function)(x[2], x[0], x[1], MPFR_RNDN);                                                                         \
        ENZYME_FPRT_END(2, inexact)                                                                                                          \
    }
#define ENZYME_FPRT_3(name, function)                                                                                                        \
    ENZYME_FPRT_DEFINED uint64_t __enzyme_fprt_##name(uint32_t width, uint64_t a, uint64_t b, uint64_t c, int64_t exponent, int64_t digits, \
                                                      int64_t mode)                                                                         \
    {                                                                                                                                        \
        const uint64_t bits[3] = {a, b, c};                                                                                                  \
        ENZYME_FPRT_BEGIN(3)                                                                                                                 \
        const int inexact = (function)(x[3], x[0], x[1], x[2], MPFR_RNDN);                                                                   \
        ENZYME_FPRT_END(3, inexact)                                                                                                          \
    }
#include "flops.def"

// The number, as memory holds it if `mode` says so.
ENZYME_FPRT_DEFINED uint64_t __enzyme_fprt_of(uint32_t width, uint64_t a, int64_t exponent, int64_t digits, int64_t mode)
{
    const struct enzyme_fprt_range before = enzyme_fprt_enter(exponent, digits);
    mpfr_t x;
    enzyme_fprt_load(x, width, a, digits);
    enzyme_fprt_leave(before);
    return enzyme_fprt_store(x, width, mode);
}

ENZYME_FPRT_DEFINED uint64_t __enzyme_fprt_of_integer(uint32_t width, int64_t value, int32_t is_signed, int64_t exponent, int64_t digits,
                                                      int64_t mode)
{
    const struct enzyme_fprt_range before = enzyme_fprt_enter(exponent, digits);
    mpfr_t x;
    mpfr_init2(x, (mpfr_prec_t)digits + 1);
    const int inexact =
        is_signed ? mpfr_set_si(x, (long)value, MPFR_RNDN) : mpfr_set_ui(x, (unsigned long)value, MPFR_RNDN);
    mpfr_subnormalize(x, inexact, MPFR_RNDN);
    enzyme_fprt_leave(before);
    return enzyme_fprt_store(x, width, mode);
}

// Towards zero.
ENZYME_FPRT_DEFINED int64_t __enzyme_fprt_to_integer(uint32_t width, uint64_t a, int32_t is_signed, int64_t exponent, int64_t digits)
{
    const struct enzyme_fprt_range before = enzyme_fprt_enter(exponent, digits);
    mpfr_t x;
    enzyme_fprt_load(x, width, a, digits);
    enzyme_fprt_leave(before);
    const int64_t value = is_signed ? (int64_t)mpfr_get_si(x, MPFR_RNDZ) : (int64_t)mpfr_get_ui(x, MPFR_RNDZ);
    mpfr_clear(x);
    return value;
}

// One bit: 1 equal, 2 greater, 4 less, 8 one of them no number.
ENZYME_FPRT_DEFINED uint32_t __enzyme_fprt_compare(uint32_t width, uint64_t a, uint64_t b, int64_t exponent, int64_t digits)
{
    const struct enzyme_fprt_range before = enzyme_fprt_enter(exponent, digits);
    mpfr_t x, y;
    enzyme_fprt_load(x, width, a, digits);
    enzyme_fprt_load(y, width, b, digits);
    enzyme_fprt_leave(before);
    const int unordered = mpfr_unordered_p(x, y), order = unordered ? 0 : mpfr_cmp(x, y);
    mpfr_clear(x);
    mpfr_clear(y);
    return unordered ? 8 : order == 0 ? 1 : order > 0 ? 2 : 4;
}

static inline int enzyme_fprt_is_format(int64_t exponent, int64_t digits)
{
    return exponent >= 2 && exponent <= 30 && digits >= 1 && digits <= 1 << 24;
}

ENZYME_FPRT_DEFINED double __enzyme_fprt_64_52_new(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)mode;
    (void)place;
    if (!enzyme_fprt_is_format(exponent, digits))
        return value;
    return enzyme_fprt_double(__enzyme_fprt_of(64, enzyme_fprt_bits(value), exponent, digits, ENZYME_FPRT_MEMORY));
}

ENZYME_FPRT_DEFINED double __enzyme_fprt_64_52_get(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)mode;
    (void)place;
    if (!enzyme_fprt_is_format(exponent, digits))
        return value;
    return enzyme_fprt_double(__enzyme_fprt_of(64, enzyme_fprt_bits(value), exponent, digits, ENZYME_FPRT_OPERATIONS));
}

ENZYME_FPRT_DEFINED void __enzyme_fprt_64_52_delete(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)exponent;
    (void)digits;
    (void)mode;
    (void)place;
    enzyme_fprt_lock();
    if (enzyme_fprt_kept(64, enzyme_fprt_bits(value)))
        enzyme_fprt_free(enzyme_fprt_bits(value) & enzyme_fprt_most(64));
    enzyme_fprt_unlock();
}

ENZYME_FPRT_DEFINED void __enzyme_fprt_delete_all(void)
{
    enzyme_fprt_lock();
    struct enzyme_fprt_table *table = &__enzyme_fprt_numbers;
    for (uint64_t n = 0; n < table->count; n++)
        if (table->chunks[n / ENZYME_FPRT_CHUNK][n % ENZYME_FPRT_CHUNK].is_used)
            mpfr_clear(table->chunks[n / ENZYME_FPRT_CHUNK][n % ENZYME_FPRT_CHUNK].value);
    for (uint64_t n = 0; n < table->count; n += ENZYME_FPRT_CHUNK)
        free(table->chunks[n / ENZYME_FPRT_CHUNK]);
    free(table->chunks);
    table->chunks = NULL;
    table->count = table->first_free = 0;
    enzyme_fprt_unlock();
    mpfr_free_cache();
}

#else

ENZYME_FPRT_DEFINED double __enzyme_fprt_64_52_new(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)mode;
    (void)place;
    if (value == 0.0 || !isfinite(value) || exponent < 2 || digits < 1 || (exponent == 11 && digits == 52))
        return value;
    if (exponent > 11 || digits > 52) {
        fprintf(stderr, "enzyme: a format of %d bits of exponent and %d digits needs <mpfr.h> (Debian: libmpfr-dev)\n", (int)exponent,
                (int)digits);
        abort();
    }
    // Numbers below the smallest normal one have fewer digits.
    const int most = (1 << (exponent - 1)) - 1;
    int power;
    (void)frexp(value, &power);
    power = power - 1 < 1 - most ? 1 - most : power - 1;
    const double unit = ldexp(1.0, power - (int)digits), rounded = copysign(nearbyint(fabs(value) / unit) * unit, value);
    return fabs(rounded) > ldexp(2.0 - ldexp(1.0, -(int)digits), most) ? copysign(HUGE_VAL, value) : rounded;
}

ENZYME_FPRT_DEFINED double __enzyme_fprt_64_52_get(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)exponent;
    (void)digits;
    (void)mode;
    (void)place;
    return value;
}

ENZYME_FPRT_DEFINED void __enzyme_fprt_64_52_delete(double value, int64_t exponent, int64_t digits, int64_t mode, const char *place)
{
    (void)value;
    (void)exponent;
    (void)digits;
    (void)mode;
    (void)place;
}

ENZYME_FPRT_DEFINED void __enzyme_fprt_delete_all(void) {}

#endif

#endif
