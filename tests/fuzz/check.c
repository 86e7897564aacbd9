// Checks the derivatives of generated programs; linked with each batch of them, compiled without the plugin.
//
// The objective of a case is F(x) = f(x) + sum_i w_i x'_i, with x' the final content of the memory x and fixed weights w: the
// weights are what the adjoint memory holds on entry. At some points x these must hold:
//
//   repeated   the value is the same when computed again, and so is the gradient: no state is left behind
//   primal     the gradient leaves in x what the function leaves
//   forward    each component of the gradient is the tangent along that coordinate, up to rounding
//   difference the tangent along a direction is the limit of central differences (Ridders' extrapolation with its own
//              estimate of the error: a kink or jump nearby makes the estimate large, and then nothing is said); what looks
//              wrong must look wrong at three neighbouring points; differences of single-precision programs are taken of the
//              same program in double precision, and count where both have the same value
//   modes      the gradient in two calls and in two lanes and tangents in two lanes are the same again; the derivative of the
//              gradient is the limit of differences of gradients. For a share of the programs
//   memory     what is allocated is freed, once, and nothing is written behind its end. malloc and its kin come through
//              this file (ld --wrap): new and freed memory is filled with rubbish, which shows reads of either
//
// Output: `BEGIN id`, `DERIVATIVES id` when the program itself has been run, then `OK id` or `WRONG id what ...`, `LEAK id ...`, `INVALID id ...` (the program itself is unfit), and
// `VALUES id point numbers...` for comparison with other optimisation levels. Not handled: threads.
#include <fenv.h>
#include <float.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"

#ifndef FUZZ_SECONDS
#define FUZZ_SECONDS 10
#endif

// ------------------------------------------------------------------------------------------------------------ memory

static long live;
static int current = -1;
static const char *memory_fault;

#ifdef FUZZ_WRAP
enum { QUARANTINE = 256 };
struct header {
    uint64_t magic;
    size_t size;
    void *base; // what the allocator gave
    void *unused; // so that what follows is aligned as the allocator aligns
};
static const uint64_t ALIVE = 0x5eedfacecafef00dull, DEAD = 0xdeadfacecafef00dull, END = 0x1234fedc5678ba98ull;
static struct header *quarantine[QUARANTINE];
static unsigned quarantined;

void *__real_malloc(size_t size);
void __real_free(void *memory);

static void *allocate(size_t size, size_t alignment, int fill)
{
    char *base = __real_malloc(sizeof(struct header) + size + sizeof END + alignment);
    if (!base)
        return NULL;
    char *data = base + sizeof(struct header);
    data += (alignment - (uintptr_t)data % alignment) % alignment;
    *((struct header *)data - 1) = (struct header){ALIVE, size, base, NULL};
    for (size_t i = 0; i < size; i++)
        data[i] = (char)fill;
    memcpy(data + size, &END, sizeof END);
    live++;
    return data;
}

void *__wrap_malloc(size_t size)
{
    return allocate(size, 16, 0x55);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allocate(count * size, 16, 0);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return allocate(size, alignment < 16 ? 16 : alignment, 0x55);
}

void __wrap_free(void *memory)
{
    if (!memory)
        return;
    struct header *header = (struct header *)memory - 1;
    if (header->magic != ALIVE) {
        memory_fault = header->magic == DEAD ? "freed twice" : "a pointer that was not allocated is freed";
        return;
    }
    if (memcmp((char *)memory + header->size, &END, sizeof END) != 0)
        memory_fault = "written behind its end";
    header->magic = DEAD;
    for (size_t i = 0; i < header->size; i++)
        ((char *)memory)[i] = (char)0xd5;
    live--;
    struct header **place = &quarantine[quarantined++ % QUARANTINE];
    if (*place)
        __real_free((*place)->base);
    *place = header;
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (!memory)
        return __wrap_malloc(size);
    struct header *header = (struct header *)memory - 1;
    void *moved = __wrap_malloc(size);
    memcpy(moved, memory, header->size < size ? header->size : size);
    __wrap_free(memory);
    return moved;
}

size_t __wrap_malloc_usable_size(void *memory)
{
    return memory ? ((struct header *)memory - 1)->size : 0;
}
#endif

// ------------------------------------------------------------------------------------------------------------ numbers

static uint64_t state;

static double uniform(double low, double high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(state >> 11) * 0x1p-53);
}

static double largest(const double *values, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++)
        if (!(fabs(values[i]) <= most))
            most = fabs(values[i]);
    return most;
}

static double weights[FUZZ_MEMORY];

static double objective(double (*function)(double *, int), const double *x, int n, double *final)
{
    double copy[FUZZ_INPUTS];
    memcpy(copy, x, sizeof copy);
    double sum = function(copy, n);
    for (int i = 0; i < FUZZ_MEMORY; i++)
        sum += weights[i] * copy[i];
    if (final)
        memcpy(final, copy, sizeof copy);
    return sum;
}

static double directional(const struct fuzz_case *tested, const double *x, const double *direction, int n)
{
    double copy[FUZZ_INPUTS], tangent[FUZZ_INPUTS];
    memcpy(copy, x, sizeof copy);
    memcpy(tangent, direction, sizeof tangent);
    double sum = tested->tangent(copy, tangent, n);
    for (int i = 0; i < FUZZ_MEMORY; i++)
        sum += weights[i] * tangent[i];
    return sum;
}

enum { FUZZ_ORDERS = 9 };

// The derivative at t = 0 of what `sample` gives, by Ridders' extrapolation of central differences.
static double extrapolated(double (*sample)(void *data, double t), void *data, double *error)
{
    double table[FUZZ_ORDERS][FUZZ_ORDERS], best = NAN, step = 1.0 / 128.0;
    *error = INFINITY;
    for (int level = 0; level < FUZZ_ORDERS; level++, step *= 0.4) {
        double sides[2] = {sample(data, step), sample(data, -step)};
        double noise = 4.0 * DBL_EPSILON * (fabs(sides[0]) + fabs(sides[1]) + 1.0) / step, power = 1.0;
        table[level][0] = (sides[0] - sides[1]) / (2.0 * step);
        for (int order = 1; order <= level; order++) {
            power *= 6.25;
            double refined = (power * table[level][order - 1] - table[level - 1][order - 1]) / (power - 1.0);
            double estimate = fmax(fabs(refined - table[level][order - 1]), fabs(refined - table[level - 1][order - 1]));
            table[level][order] = refined;
            if (estimate + noise < *error) {
                *error = estimate + noise;
                best = refined;
            }
        }
    }
    return best;
}

struct line {
    const struct fuzz_case *tested;
    const double *x, *direction, *weights; // of the components of the gradient
    int n;
};

static void moved(const struct line *line, double t, double *x)
{
    for (int i = 0; i < FUZZ_INPUTS; i++)
        x[i] = line->x[i] + t * line->direction[i];
}

static double reference_at(void *data, double t)
{
    const struct line *line = data;
    double x[FUZZ_INPUTS];
    moved(line, t, x);
    return objective(line->tested->reference, x, line->n, NULL);
}

static double gradient_at(void *data, double t)
{
    const struct line *line = data;
    double x[FUZZ_INPUTS], adjoint[FUZZ_INPUTS], sum = 0.0;
    moved(line, t, x);
    memcpy(adjoint, weights, sizeof weights);
    adjoint[FUZZ_MEMORY] = 0.0;
    line->tested->gradient(x, adjoint, line->n);
    for (int i = 0; i < FUZZ_INPUTS; i++)
        sum += line->weights[i] * adjoint[i];
    return sum;
}

// Whether the double-precision reference of a single-precision program computes the same thing at x: where its rounding decides a
// branch or is amplified, their derivatives are those of different functions.
static int same_way(const struct fuzz_case *tested, const double *x, int n)
{
    double value = objective(tested->value, x, n, NULL), reference = objective(tested->reference, x, n, NULL);
    return !tested->floats || fabs(value - reference) <= 1e-3 * (1.0 + fabs(value));
}

// 1: differs; 0: agrees; -1: the difference is too uncertain to tell.
static int compare(const struct fuzz_case *tested, const double *x, const double *direction, int n, double scale,
                   double *got, double *want)
{
    double error;
    *got = directional(tested, x, direction, n);
    struct line line = {tested, x, direction, NULL, n};
    *want = extrapolated(reference_at, &line, &error);
    if (!same_way(tested, x, n))
        return -1;
    double most = fmax(scale, fmax(fabs(*got), fabs(*want)));
    if (fabs(*got - *want) <= (tested->floats ? 2e-3 : 1e-6) * most + 20.0 * error)
        return error <= 1e-4 * most ? 0 : -1;
    // Where the derivative is another one a millionth away, differences over more than that say nothing of it.
    double beside[FUZZ_INPUTS];
    for (int i = 0; i < FUZZ_INPUTS; i++)
        beside[i] = x[i] + 1e-6 * direction[i];
    if (isfinite(*got) && fabs(directional(tested, beside, direction, n) - *got) > 1e-2 * most)
        return -1;
    return error <= 1e-4 * most || !isfinite(*got) ? 1 : -1;
}

// ------------------------------------------------------------------------------------------------------------ other modes

static int differs(const double *a, const double *b, double scale, double tolerance)
{
    for (int i = 0; i < FUZZ_INPUTS; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * scale))
            return 1;
    return 0;
}

// The gradient `wanted` in two calls and in two lanes, tangents in two lanes, and the derivative of the gradient. What differs, or null.
static const char *other_modes(const struct fuzz_case *tested, const double *x, int n, const double *wanted, double scale,
                               int *uncertain)
{
    double copy[FUZZ_INPUTS], g[FUZZ_INPUTS], h[FUZZ_INPUTS], alone[FUZZ_INPUTS], results[2] = {0.0, 0.0};
    // The same operations, in another order at most where loops add up.
    double tolerance = tested->floats ? 1e-4 : 1e-10;
    memcpy(copy, x, sizeof copy);
    memcpy(g, weights, sizeof weights);
    g[FUZZ_MEMORY] = 0.0;
    tested->split(copy, g, n);
    if (differs(g, wanted, scale, tolerance))
        return "in two calls";

    memcpy(copy, x, sizeof copy);
    memset(alone, 0, sizeof alone);
    tested->gradient(copy, alone, n);
    memcpy(copy, x, sizeof copy);
    memcpy(g, weights, sizeof weights);
    g[FUZZ_MEMORY] = 0.0;
    memset(h, 0, sizeof h);
    tested->lanes(copy, g, h, n);
    if (differs(g, wanted, scale, tolerance) || differs(h, alone, scale, tolerance))
        return "in lanes, reverse";

    double directions[2][FUZZ_INPUTS], kept[2][FUZZ_INPUTS], sums[2];
    for (int lane = 0; lane < 2; lane++) {
        for (int i = 0; i < FUZZ_INPUTS; i++)
            directions[lane][i] = uniform(-1.0, 1.0);
        memcpy(copy, x, sizeof copy);
        memcpy(kept[lane], directions[lane], sizeof kept[lane]);
        sums[lane] = tested->tangent(copy, kept[lane], n);
    }
    memcpy(copy, x, sizeof copy);
    memcpy(g, directions[0], sizeof g);
    memcpy(h, directions[1], sizeof h);
    tested->tangents(copy, g, h, n, results);
    double most = fmax(scale, fmax(fabs(sums[0]), fabs(sums[1])));
    g[FUZZ_MEMORY] = kept[0][FUZZ_MEMORY];
    h[FUZZ_MEMORY] = kept[1][FUZZ_MEMORY];
    if (differs(g, kept[0], most, tolerance) || differs(h, kept[1], most, tolerance) ||
        !(fabs(results[0] - sums[0]) <= tolerance * most) || !(fabs(results[1] - sums[1]) <= tolerance * most))
        return "in lanes, forward";

    if (tested->floats)
        return NULL;
    double row[FUZZ_INPUTS], v[FUZZ_INPUTS], got = 0.0, error;
    for (int i = 0; i < FUZZ_INPUTS; i++)
        row[i] = uniform(-1.0, 1.0);
    memcpy(copy, x, sizeof copy);
    memcpy(v, directions[0], sizeof v);
    memcpy(g, weights, sizeof weights);
    g[FUZZ_MEMORY] = 0.0;
    memset(h, 0, sizeof h);
    tested->second(copy, v, g, h, n);
    if (differs(g, wanted, scale, tolerance))
        return "the gradient beside its derivative";
    for (int i = 0; i < FUZZ_INPUTS; i++)
        got += row[i] * h[i];
    struct line line = {tested, x, directions[0], row, n};
    double want = extrapolated(gradient_at, &line, &error);
    most = fmax(scale, fmax(fabs(got), fabs(want)));
    if (fabs(got - want) <= 1e-6 * most + 20.0 * error)
        return NULL;
    *uncertain += error > 1e-5 * most;
    return error > 1e-5 * most && isfinite(got) ? NULL : "second order";
}

// ------------------------------------------------------------------------------------------------------------ checks

static int check_point(const struct fuzz_case *tested, int point, const double *x, int n)
{
    int id = tested->id;
    double final[FUZZ_INPUTS], again[FUZZ_INPUTS], copy[FUZZ_INPUTS], gradient[FUZZ_INPUTS] = {0};
    long before = live;
    feclearexcept(FE_ALL_EXCEPT);
    double value = objective(tested->value, x, n, final);
    // Zero times what is not a number is none, in one mode and not in the other.
    if (fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW)) {
        printf("INVALID %d it computes what is not a number, or infinite, on its way\n", id);
        return 1;
    }
    if (live != before || memory_fault) {
        printf("INVALID %d the program itself leaks or frees wrongly\n", id);
        return 1;
    }
    if (objective(tested->value, x, n, again) != value || memcmp(final, again, sizeof final) != 0) {
        printf("INVALID %d the value is not the same again\n", id);
        return 1;
    }
    if (!isfinite(value) || !(largest(final, FUZZ_INPUTS) < 1e6)) {
        printf("INVALID %d the value is not finite\n", id);
        return 1;
    }
#ifdef FUZZ_PLAIN
    printf("VALUES %d %d %d %.17g\n", id, point, tested->floats, value);
    return 0;
#endif
    printf("DERIVATIVES %d\n", id);
    fflush(stdout);
    for (int round = 0; round < 2; round++) {
        double *adjoint = round ? again : gradient;
        memcpy(copy, x, sizeof copy);
        memcpy(adjoint, weights, sizeof weights);
        adjoint[FUZZ_MEMORY] = 0.0;
        tested->gradient(copy, adjoint, n);
        if (memory_fault) {
            printf("LEAK %d reverse: memory is %s\n", id, memory_fault);
            return 1;
        }
        if (live != before) {
            printf("LEAK %d reverse: %ld allocations stay\n", id, live - before);
            return 1;
        }
        for (int i = 0; i < FUZZ_MEMORY; i++)
            // A compiler may fold a function of single precision to its neighbour.
            if (!(fabs(copy[i] - final[i]) <= (tested->floats ? 1e-6 : 1e-12) * (1.0 + fabs(final[i])))) {
                printf("WRONG %d primal after reverse: x[%d] = %.17g, expected %.17g\n", id, i, copy[i], final[i]);
                return 1;
            }
    }
    double tangents[FUZZ_INPUTS];
    for (int i = 0; i < FUZZ_INPUTS; i++) {
        double direction[FUZZ_INPUTS] = {0};
        direction[i] = 1.0;
        tangents[i] = directional(tested, x, direction, n);
    }
    if (memory_fault || live != before) {
        printf("LEAK %d forward: %ld allocations stay, memory is %s\n", id, live - before,
               memory_fault ? memory_fault : "sound");
        return 1;
    }
    double scale = fmax(1e-3, fmin(largest(gradient, FUZZ_INPUTS), largest(tangents, FUZZ_INPUTS)));
    double tolerance = tested->floats ? 3e-4 : 1e-9;
    // A map that is iterated: one rounding changes the value by this times the derivative, and the derivative by more.
    if (scale * (tested->floats ? FLT_EPSILON : DBL_EPSILON) > (tested->floats ? 1e-2 : 1e-6)) {
        printf("INVALID %d the value is chaotic: its derivatives are of the size of %g\n", id, scale);
        return 1;
    }
    printf("VALUES %d %d %d %.17g", id, point, tested->floats, value);
    for (int i = 0; i < FUZZ_INPUTS; i++)
        printf(" %.17g", gradient[i]);
    printf("\n");
    int uncertain = 0, differs[2] = {0, 0};
    double got[2] = {0}, want[2] = {0};
    for (int k = 0; k < 2; k++) {
        double direction[FUZZ_INPUTS], near[FUZZ_INPUTS];
        for (int i = 0; i < FUZZ_INPUTS; i++)
            direction[i] = uniform(-1.0, 1.0);
        int verdict = compare(tested, x, direction, n, scale, &got[k], &want[k]);
        uncertain += verdict < 0;
        differs[k] = verdict > 0;
        for (int other = 0; verdict > 0 && other < 2; other++) {
            double a, b;
            for (int i = 0; i < FUZZ_INPUTS; i++)
                near[i] = x[i] + uniform(-1e-3, 1e-3);
            differs[k] &= compare(tested, near, direction, n, scale, &a, &b) > 0;
        }
    }
    int forward_wrong = differs[0] || differs[1];
    for (int i = 0; i < FUZZ_INPUTS; i++)
        if (!(fabs(gradient[i] - tangents[i]) <= tolerance * scale)) {
            printf("WRONG %d reverse component %d: reverse %.12g, forward %.12g (forward %s differences)\n", id, i,
                   gradient[i], tangents[i], forward_wrong ? "differs from" : uncertain ? "maybe agrees with" : "agrees with");
            return 1;
        }
    if (memcmp(again, gradient, sizeof again) != 0) {
        printf("WRONG %d reverse is not the same again\n", id);
        return 1;
    }
    for (int k = 0; k < 2; k++)
        if (differs[k]) {
            printf("WRONG %d both modes: along a direction %.12g, differences %.12g\n", id, got[k], want[k]);
            return 1;
        }
    const char *other = tested->split ? other_modes(tested, x, n, gradient, scale, &uncertain) : NULL;
    if (memory_fault || live != before) {
        printf("LEAK %d other modes: %ld allocations stay, memory is %s\n", id, live - before,
               memory_fault ? memory_fault : "sound");
        return 1;
    }
    if (other) {
        printf("WRONG %d %s\n", id, other);
        return 1;
    }
    if (uncertain)
        printf("UNCERTAIN %d\n", id);
    return 0;
}

static void check(const struct fuzz_case *tested)
{
    current = tested->id;
    memory_fault = NULL;
    printf("BEGIN %d\n", tested->id);
    fflush(stdout);
    alarm(FUZZ_SECONDS);
    state = (uint64_t)tested->id * 2862933555777941757u + 3037000493u;
    uniform(0.0, 1.0);
    int failed = 0;
    for (int point = 0; point < 2 && !failed; point++) {
        double x[FUZZ_INPUTS];
        for (int i = 0; i < FUZZ_INPUTS; i++)
            x[i] = uniform(-1.0, 1.0);
        for (int i = 0; i < FUZZ_MEMORY; i++)
            weights[i] = uniform(-0.5, 0.5);
        // The next point must not depend on what was checked at this one: without derivatives it has to be the same.
        uint64_t drawn = state;
        failed = check_point(tested, point, x, point == 0 ? 3 : tested->id % 6);
        state = drawn;
    }
    if (!failed)
        printf("OK %d\n", tested->id);
    fflush(stdout);
}

static void ended(int number)
{
    static const char text[] = "\nSIGNAL ";
    char digits[3] = {(char)('0' + number / 10), (char)('0' + number % 10), '\n'};
    ssize_t ignored = write(1, text, sizeof text - 1);
    ignored = write(1, digits, sizeof digits);
    (void)ignored;
    _exit(100 + number);
}

// Linked into programs under a sanitizer: they end by themselves.
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 0;
    signal(SIGALRM, ended);
    if (!__lsan_do_recoverable_leak_check) {
        signal(SIGSEGV, ended);
        signal(SIGBUS, ended);
        signal(SIGFPE, ended);
        signal(SIGILL, ended);
        signal(SIGABRT, ended);
    }
    for (int i = first; i < fuzz_count; i++) {
        check(&fuzz_cases[i]);
        if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) {
            printf("LEAK %d reported by the sanitizer\n", fuzz_cases[i].id);
            fflush(stdout);
        }
    }
    printf("DONE\n");
    return 0;
}
