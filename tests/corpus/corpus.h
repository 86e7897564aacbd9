// The harness every program of the corpus includes: marker declarations, deterministic data, checks, timing.
//
// A program describes itself by one or more `struct corpus_problem`: a point x in R^n, the value f(x), the tangent
// f'(x)v by forward mode and the gradient by reverse mode. `corpus_run` then checks
//
//   dot test    |g.v - f'(x)v|  <= 1e-9 relative: both modes follow the same arithmetic, so they differ by rounding only
//   direction   |f'(x)v - FD|   <= 1e-7 relative, FD = central differences extrapolated to h -> 0 (Ridders, Advances in
//                                  Engineering Software 4, 1982): the best attainable is about eps^(4/5), the rest is
//                                  margin for the conditioning of the program; one that needs more says why
//   coordinate  |g_i - FD_i|    likewise, for some or all coordinates
//   variants    other ways to ask for the same derivative (no annotations, enzyme_dupnoneed, ...) give the same numbers
//
// and prints one line for each, then `RESULT name value=... gradnorm=... fd_err=... dot_err=...`. With `--bench` it also
// prints `TIME name primal_ns=... gradient_ns=... ratio=...`.
//
// In C++ the markers have C++ linkage, as users declare them; corpus.hpp adds them as templates.
//
// Switches: -DCORPUS_SMALL  reduced sizes and no benchmark code, for slow engines;
//           -DCORPUS_NO_AD  no derivative is taken: values and finite differences only, so that a program compiles and
//                           runs without the plugin.
#ifndef CORPUS_H
#define CORPUS_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef CORPUS_SMALL
#include <time.h>
#endif

#define CORPUS_UNUSED __attribute__((unused))

// A problem names the fields it needs.
#ifdef __cplusplus
#pragma clang diagnostic ignored "-Wmissing-designated-field-initializers"
#endif

// ---------------------------------------------------------------------------------------------------------- markers

// CORPUS_MARKER(type, name) declares a marker with the return type that a program needs: any name that contains
// `__enzyme_autodiff` or `__enzyme_fwddiff` is a marker.
#ifdef CORPUS_NO_AD
#define CORPUS_HAS_AD 0
#define CORPUS_MARKER(type, name)                                                                                       \
    CORPUS_UNUSED static type name(void *function, ...)                                                                \
    {                                                                                                                  \
        static type zero;                                                                                              \
        (void)function;                                                                                                \
        return zero;                                                                                                   \
    }
#define CORPUS_MARKER_VOID(name)                                                                                        \
    CORPUS_UNUSED static void name(void *function, ...)                                                                \
    {                                                                                                                  \
        (void)function;                                                                                                \
    }
#define CORPUS_MARKER_TYPED(type, name, ...)                                                                            \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wunused-parameter\"")                        \
    CORPUS_UNUSED static type name(void *function, __VA_ARGS__)                                                        \
    {                                                                                                                  \
        static type zero;                                                                                              \
        return zero;                                                                                                   \
    }                                                                                                                  \
    _Pragma("clang diagnostic pop")
CORPUS_UNUSED static int enzyme_const, enzyme_dup, enzyme_dupnoneed, enzyme_out, enzyme_max_tape;
CORPUS_UNUSED static int enzyme_primal_return, enzyme_noret, enzyme_const_return, enzyme_active_return;
CORPUS_UNUSED static int enzyme_dup_return, enzyme_strong_zero, enzyme_not_overwritten, enzyme_atomic_add;
#else
#define CORPUS_HAS_AD 1
#define CORPUS_MARKER(type, name) extern type name(void *function, ...);
#define CORPUS_MARKER_VOID(name) extern void name(void *function, ...);
#define CORPUS_MARKER_TYPED(type, name, ...) extern type name(void *function, __VA_ARGS__);
extern int enzyme_const, enzyme_dup, enzyme_dupnoneed, enzyme_out, enzyme_max_tape;
extern int enzyme_primal_return, enzyme_noret, enzyme_const_return, enzyme_active_return, enzyme_dup_return;
extern int enzyme_strong_zero, enzyme_not_overwritten, enzyme_atomic_add;
#endif

CORPUS_MARKER(double, __enzyme_autodiff)
CORPUS_MARKER(double, __enzyme_fwddiff)
CORPUS_MARKER_VOID(__enzyme_autodiff_void)
CORPUS_MARKER_VOID(__enzyme_fwddiff_void)

// ---------------------------------------------------------------------------------------------------- sizes and data

#ifdef CORPUS_SMALL
#define CORPUS_SIZE(full, small) (small)
#else
#define CORPUS_SIZE(full, small) (full)
#endif

#define CORPUS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t corpus_state = 1;

CORPUS_UNUSED static void corpus_seed(uint64_t seed)
{
    corpus_state = seed * 2862933555777941757u + 3037000493u;
}

// Uniform in [low, high): the top 53 bits of a 64-bit linear congruential generator.
CORPUS_UNUSED static double corpus_uniform(double low, double high)
{
    corpus_state = corpus_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(corpus_state >> 11) * 0x1p-53);
}

CORPUS_UNUSED static void corpus_fill(double *values, size_t count, double low, double high)
{
    for (size_t i = 0; i < count; i++)
        values[i] = corpus_uniform(low, high);
}

CORPUS_UNUSED static void corpus_copy(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

CORPUS_UNUSED static void corpus_zero(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = 0.0;
}

// ---------------------------------------------------------------------------------------------------------- problems

// Another way to ask for the derivative. A gradient variant writes the components [begin, end) of the gradient (all of
// them when end is 0); a tangent variant gives the same number as the problem's own tangent.
struct corpus_variant {
    const char *name;
    void (*gradient)(const double *x, double *gradient);
    double (*tangent)(const double *x, const double *direction);
    size_t begin, end;
};

struct corpus_problem {
    const char *name;
    size_t size;         // n
    const double *point; // x, filled by setup
    void (*setup)(void);
    double (*value)(const double *x);
    double (*tangent)(const double *x, const double *direction);
    void (*gradient)(const double *x, double *gradient);
    struct corpus_variant variants[6];
    const char *const *labels; // names of the coordinates, for the check lines; may be null
    int (*extra)(void);        // further checks through corpus_check; returns how many failed

    // Zero means the default in brackets.
    double step;          // first and largest step of the finite differences [1/64]
    double fd_tolerance;  // [1e-7]
    double dot_tolerance; // [1e-9]
    size_t coordinates;   // how many single coordinates are checked [3]; CORPUS_ALL for all
};

#define CORPUS_ALL SIZE_MAX

// Prints one check line; returns 1 when the check fails. NaN fails.
CORPUS_UNUSED static int corpus_check(const char *name, const char *what, double error, double tolerance)
{
    int passed = error <= tolerance;
    printf("check %s: %s error=%.3g tolerance=%.3g %s\n", name, what, error, tolerance, passed ? "ok" : "FAIL");
    return !passed;
}

CORPUS_UNUSED static double corpus_norm(const double *values, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sqrt(sum);
}

CORPUS_UNUSED static double corpus_dot(const double *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

CORPUS_UNUSED static double corpus_relative(double a, double b, double scale)
{
    double largest = fmax(fmax(fabs(a), fabs(b)), fmax(scale, 1e-100));
    return a == b ? 0.0 : fabs(a - b) / largest;
}

// Like malloc, but never null.
CORPUS_UNUSED static double *corpus_vector(size_t count)
{
    double *values = (double *)calloc(count ? count : 1, sizeof(double));
    if (!values) {
        printf("out of memory\n");
        exit(2);
    }
    return values;
}

enum { CORPUS_LEVELS = 5 };

// d/dt f(x + t v) at t = 0. `error` receives the extrapolation's own estimate of its absolute error.
static double corpus_difference(const struct corpus_problem *problem, const double *direction, double *error)
{
    double table[CORPUS_LEVELS][CORPUS_LEVELS];
    double *moved = corpus_vector(problem->size);
    double best = NAN, smallest = INFINITY;
    double step = problem->step > 0.0 ? problem->step : 1.0 / 64.0;
    for (int level = 0; level < CORPUS_LEVELS; level++, step *= 0.5) {
        double sides[2];
        for (int side = 0; side < 2; side++) {
            double signed_step = side == 0 ? step : -step;
            for (size_t i = 0; i < problem->size; i++)
                moved[i] = problem->point[i] + signed_step * direction[i];
            sides[side] = problem->value(moved);
        }
        table[level][0] = (sides[0] - sides[1]) / (2.0 * step);
        double power = 1.0;
        for (int order = 1; order <= level; order++) {
            power *= 4.0;
            double refined = (power * table[level][order - 1] - table[level - 1][order - 1]) / (power - 1.0);
            double estimate = fmax(fabs(refined - table[level][order - 1]), fabs(refined - table[level - 1][order - 1]));
            table[level][order] = refined;
            if (estimate < smallest) {
                smallest = estimate;
                best = refined;
            }
        }
    }
    free(moved);
    *error = smallest;
    return best;
}

static int corpus_check_coordinate(const struct corpus_problem *problem, size_t index, const double *gradient,
                                   double *direction, double scale, double tolerance, double *worst)
{
    char what[64] = "coordinate ";
    size_t length = strlen(what);
    if (problem->labels) {
        for (const char *label = problem->labels[index]; *label && length + 1 < sizeof(what); label++)
            what[length++] = *label;
    } else {
        char digits[24];
        size_t count = 0;
        for (size_t rest = index; count == 0 || rest > 0; rest /= 10)
            digits[count++] = (char)('0' + rest % 10);
        while (count > 0)
            what[length++] = digits[--count];
    }
    what[length] = '\0';
    double estimate;
    corpus_zero(direction, problem->size);
    direction[index] = 1.0;
    double difference = corpus_difference(problem, direction, &estimate);
    double error = CORPUS_HAS_AD ? corpus_relative(gradient[index], difference, scale)
                                 : estimate / fmax(fabs(difference), fmax(scale, 1e-100));
    if (!(error <= *worst))
        *worst = error;
    return corpus_check(problem->name, what, error, tolerance);
}

static int corpus_check_variant(const struct corpus_problem *problem, const struct corpus_variant *variant,
                                const double *direction, const double *gradient, double tangent, double *scratch)
{
    double tolerance = problem->dot_tolerance > 0.0 ? problem->dot_tolerance : 1e-9;
    if (variant->tangent)
        return corpus_check(problem->name, variant->name,
                            corpus_relative(variant->tangent(problem->point, direction), tangent, 0.0), tolerance);
    size_t end = variant->end ? variant->end : problem->size;
    for (size_t i = 0; i < problem->size; i++)
        scratch[i] = NAN;
    variant->gradient(problem->point, scratch);
    double scale = corpus_norm(gradient, problem->size) / sqrt((double)problem->size);
    double worst = 0.0;
    for (size_t i = variant->begin; i < end; i++) {
        double error = corpus_relative(scratch[i], gradient[i], scale);
        if (!(error <= worst))
            worst = error;
    }
    return corpus_check(problem->name, variant->name, worst, tolerance);
}

static int corpus_verify(const struct corpus_problem *problem)
{
    size_t size = problem->size, failed = 0;
    double fd_tolerance = problem->fd_tolerance > 0.0 ? problem->fd_tolerance : 1e-7;
    double dot_tolerance = problem->dot_tolerance > 0.0 ? problem->dot_tolerance : 1e-9;
    double *direction = corpus_vector(size), *gradient = corpus_vector(size), *scratch = corpus_vector(size);
    corpus_seed(97);
    corpus_fill(direction, size, -1.0, 1.0);

    double value = problem->value(problem->point);
    double estimate, dot_error = 0.0, tangent = NAN, scale = 0.0;
    double difference = corpus_difference(problem, direction, &estimate);
    double fd_error = estimate / fmax(fabs(difference), 1e-100);
    if (CORPUS_HAS_AD) {
        tangent = problem->tangent(problem->point, direction);
        for (size_t i = 0; i < size; i++)
            gradient[i] = NAN;
        problem->gradient(problem->point, gradient);
        scale = corpus_norm(gradient, size) / sqrt((double)size);
        fd_error = corpus_relative(tangent, difference, 0.0);
        dot_error = corpus_relative(corpus_dot(gradient, direction, size), tangent, 0.0);
        failed += (size_t)corpus_check(problem->name, "dot test", dot_error, dot_tolerance);
    } else {
        scale = fabs(difference) / sqrt((double)size);
    }
    failed += (size_t)corpus_check(problem->name, "direction", fd_error, fd_tolerance);
    for (size_t k = 0; CORPUS_HAS_AD && k < CORPUS_COUNT(problem->variants) && problem->variants[k].name; k++)
        failed += (size_t)corpus_check_variant(problem, &problem->variants[k], direction, gradient, tangent, scratch);

    size_t coordinates = problem->coordinates ? problem->coordinates : 3;
    if (coordinates > size)
        coordinates = size;
    for (size_t k = 0; k < coordinates; k++) {
        size_t index = coordinates == 1 ? 0 : k * (size - 1) / (coordinates - 1);
        failed += (size_t)corpus_check_coordinate(problem, index, gradient, scratch, scale, fd_tolerance, &fd_error);
    }
    if (CORPUS_HAS_AD && problem->extra)
        failed += (size_t)problem->extra();

    printf("RESULT %s value=%.17g gradnorm=%.17g fd_err=%.3g dot_err=%.3g\n", problem->name, value,
           corpus_norm(gradient, size), fd_error, dot_error);
    free(direction);
    free(gradient);
    free(scratch);
    return failed > 0;
}

// ------------------------------------------------------------------------------------------------------------ timing

#ifndef CORPUS_SMALL
static double corpus_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double corpus_time(const struct corpus_problem *problem, double *gradient, int which, long repetitions)
{
    static volatile double sink;
    // Called through volatile pointers, so that a pure function is neither folded nor moved out of the loop.
    double (*volatile value)(const double *) = problem->value;
    void (*volatile differentiate)(const double *, double *) = problem->gradient;
    double start = corpus_now();
    for (long i = 0; i < repetitions; i++) {
        if (which == 0)
            sink = value(problem->point);
        else
            differentiate(problem->point, gradient);
    }
    (void)sink;
    return (corpus_now() - start) / (double)repetitions;
}

// Minimum over rounds; the two measurements alternate, so that both see the same neighbours.
static void corpus_bench(const struct corpus_problem *problem)
{
    const double batch_ns = 2e5, total_ns = 4e8;
    double *gradient = corpus_vector(problem->size);
    long repetitions[2];
    double best[2] = {INFINITY, INFINITY};
    for (int which = 0; which < 1 + CORPUS_HAS_AD; which++) {
        double once = corpus_time(problem, gradient, which, 1);
        repetitions[which] = once >= batch_ns ? 1 : 1 + (long)(batch_ns / fmax(once, 10.0));
    }
    double start = corpus_now();
    for (int round = 0; round < 5 || (corpus_now() - start < total_ns && round < 500); round++) {
        for (int which = 0; which < 1 + CORPUS_HAS_AD; which++) {
            double elapsed = corpus_time(problem, gradient, which, repetitions[which]);
            if (elapsed < best[which])
                best[which] = elapsed;
        }
    }
    printf("TIME %s primal_ns=%.6g gradient_ns=%.6g ratio=%.4g\n", problem->name, best[0], best[1], best[1] / best[0]);
    free(gradient);
}
#endif

static int corpus_run(const struct corpus_problem *const *problems, size_t count, int bench)
{
    int failed = 0;
    for (size_t k = 0; k < count; k++) {
        if (problems[k]->setup)
            problems[k]->setup();
        failed |= corpus_verify(problems[k]);
#ifndef CORPUS_SMALL
        if (bench)
            corpus_bench(problems[k]);
#else
        (void)bench;
#endif
    }
    return failed;
}

// CORPUS_MAIN(&problem, ...) is the program's main function.
#ifdef CORPUS_SMALL
#define CORPUS_MAIN(...)                                                                                                \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const struct corpus_problem *const problems[] = {__VA_ARGS__};                                                 \
        return corpus_run(problems, CORPUS_COUNT(problems), 0);                                                        \
    }
#else
#define CORPUS_MAIN(...)                                                                                                \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        const struct corpus_problem *const problems[] = {__VA_ARGS__};                                                 \
        return corpus_run(problems, CORPUS_COUNT(problems), argc > 1 && strcmp(argv[1], "--bench") == 0);              \
    }
#endif

#endif
