// Checks and measures one kernel: the primal, our gradient, the handwritten adjoint, in turns within one process.
//
//   kernel [--size N | --small] [--check] [--time [SECONDS]] [--memory] [--once primal|gradient|hand] [--default-malloc]
//          [--faults] [--variant NAME] [--write-data FILE]
//
// Without a task it does --check, --time and --memory; --variant NAME times that one alone. --write-data leaves x, the other inputs,
// the value and the gradient in a file, for programs in other languages. Lines of the output:
//
//   AGREE  kernel size what error tolerance ok|FAIL      gradients against each other and against finite differences
//   TIME   kernel size column.variant min_ns median_ns   over rounds; in each round every variant is run, with data in a new place
//   MEMORY kernel size column.variant heap stack         bytes at the peak of one call, beyond those in use before it
//   KEPT   kernel size bytes                             distinct data that a reverse sweep needs
//   FAULTS kernel size column.variant pages              fetched from the system in one of many calls (--faults)
//
// Other tools (struct bench_tool) may be linked in as well; their heap is what their last gradient recorded.
//
// The allocator keeps what is freed (mallopt: no mmap, no trimming), so that a tape's pages are fetched from the system once
// and not at every call; --default-malloc shows the other case. Linux with glibc: malloc is interposed to count.
#include "bench.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT (void)0
#endif

// The same file, differentiated as clang -O0 leaves it, or by the plugin that REFERENCE_PLUGIN names.
extern const struct bench_kernel bench_kernel_unoptimised __attribute__((weak));
extern const struct bench_kernel bench_kernel_limited __attribute__((weak));
extern const struct bench_kernel bench_kernel_reference __attribute__((weak));
extern const struct bench_tool bench_tool_plain __attribute__((weak));
extern const struct bench_tool bench_tool_adolc __attribute__((weak));
extern const struct bench_tool bench_tool_cppad __attribute__((weak));

static const struct bench_tool *const tools[] = {&bench_tool_plain, &bench_tool_adolc, &bench_tool_cppad};

static int failures = 0;

// --------------------------------------------------------------------------------------------------- counting memory

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *old);

static int counting = 0;
static long bytes_now = 0, bytes_peak = 0;

static void *counted(void *memory)
{
    if (counting && memory) {
        bytes_now += (long)malloc_usable_size(memory);
        if (bytes_now > bytes_peak)
            bytes_peak = bytes_now;
    }
    return memory;
}

static void uncounted(void *memory)
{
    if (counting && memory)
        bytes_now -= (long)malloc_usable_size(memory);
}

void *malloc(size_t size)
{
    return counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    uncounted(old);
    return counted(__libc_realloc(old, size));
}

void *memalign(size_t alignment, size_t size)
{
    return counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    *result = counted(__libc_memalign(alignment, size));
    return *result ? 0 : 12;
}

void free(void *old)
{
    uncounted(old);
    __libc_free(old);
}

// ------------------------------------------------------------------------------------------------------------- data

static void *owned[64];
static size_t owned_count = 0;

static void *allocate(size_t bytes)
{
    void *memory = __libc_memalign(64, bytes ? bytes : 64);
    if (!memory || owned_count == CORPUS_COUNT(owned)) {
        printf("out of memory\n");
        exit(2);
    }
    memset(memory, 0, bytes);
    return owned[owned_count++] = memory;
}

void *bench_memory(size_t bytes)
{
    return allocate(bytes);
}

// The kernel's data, after a piece of random length so that it lies elsewhere each time.
static struct bench_point *prepare(const struct bench_kernel *kernel, int size)
{
    static uint64_t state = 1;
    while (owned_count > 0)
        __libc_free(owned[--owned_count]);
    state = state * 6364136223846793005u + 1442695040888963407u;
    allocate(64 * (state >> 52));
    return kernel->setup(size);
}

// --------------------------------------------------------------------------------------------------------- variants

struct variant {
    const char *name;
    const struct bench_kernel *kernel;
    double (*with_value)(struct bench_point *point, double *gradient);
    void (*alone)(struct bench_point *point, double *gradient);
    int is_tool; // its memory stays with it
    long repetitions;
    double *samples;
    size_t count;
};

static struct variant variants[17];
static const char *const lane_names[] = {"tangent", "eight_tangents", "adjoint", "eight_adjoints"};
static size_t variant_count = 0;

static void add(const char *name, const struct bench_kernel *kernel, double (*with_value)(struct bench_point *, double *),
                void (*alone)(struct bench_point *, double *))
{
    if (with_value || alone)
        variants[variant_count++] = (struct variant){name, kernel, with_value, alone, 0, 0, NULL, 0};
}

static void add_tools(const struct bench_kernel *kernel)
{
    static char names[2 * CORPUS_COUNT(tools)][32];
    for (size_t i = 0; i < CORPUS_COUNT(tools); i++) {
        if (!tools[i] || !tools[i]->gradient)
            continue;
        snprintf(names[2 * i], sizeof(names[0]), "%s.gradient", tools[i]->name);
        snprintf(names[2 * i + 1], sizeof(names[0]), "%s.reused", tools[i]->name);
        add(names[2 * i], kernel, NULL, tools[i]->gradient);
        variants[variant_count - 1].is_tool = 1;
        add(names[2 * i + 1], kernel, NULL, tools[i]->reused);
        variants[variant_count - 1].is_tool = 1;
    }
}

__attribute__((noinline)) static double call(const struct variant *variant, struct bench_point *point, double *gradient)
{
    if (variant->with_value)
        return variant->with_value(point, gradient);
    if (variant->alone) {
        variant->alone(point, gradient);
        return 0.0;
    }
    return variant->kernel->primal(point);
}

static struct variant *find(const char *name)
{
    for (size_t i = 0; i < variant_count; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

// ------------------------------------------------------------------------------------------------------------ checks

static void agree(const struct bench_kernel *kernel, int size, const char *what, double error, double tolerance)
{
    int good = error <= tolerance; // NaN fails
    printf("AGREE %s %d %s %.3g %.3g %s\n", kernel->name, size, what, error, tolerance, good ? "ok" : "FAIL");
    failures += !good;
}

static double largest(const double *values, size_t count)
{
    double found = 0.0;
    for (size_t i = 0; i < count; i++)
        found = fmax(found, fabs(values[i]));
    return found;
}

// The largest difference, relative to the largest component; NaN where there is one.
static double distance(const double *a, const double *b, size_t count)
{
    double found = 0.0, scale = fmax(largest(b, count), 1e-300);
    for (size_t i = 0; i < count; i++) {
        double error = fabs(a[i] - b[i]) / scale;
        if (!(error <= found))
            found = error;
    }
    return found;
}

// Central differences along a direction, extrapolated once.
static double difference(const struct bench_kernel *kernel, struct bench_point *point, const double *direction)
{
    double *start = corpus_vector(point->count), slopes[2], step = 0x1p-12;
    corpus_copy(start, point->x, point->count);
    for (int level = 0; level < 2; level++, step *= 0.5) {
        double sides[2];
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < point->count; i++)
                point->x[i] = start[i] + (side ? -step : step) * direction[i];
            sides[side] = kernel->primal(point);
        }
        slopes[level] = (sides[0] - sides[1]) / (2.0 * step);
    }
    corpus_copy(point->x, start, point->count);
    free(start);
    return (4.0 * slopes[1] - slopes[0]) / 3.0;
}

// The values of a tool's version of the mathematics against the primal, at the point and beside it.
static void check_tool(const struct bench_kernel *kernel, const struct bench_tool *tool, struct bench_point *point,
                       const double *direction, double tolerance)
{
    double *start = corpus_vector(point->count), worst = 0.0;
    corpus_copy(start, point->x, point->count);
    for (int side = -1; side <= 1; side++) {
        for (size_t i = 0; i < point->count; i++)
            point->x[i] = start[i] + 0x1p-12 * side * direction[i];
        double error = corpus_relative(tool->value(point), kernel->primal(point), 0.0);
        if (!(error <= worst))
            worst = error;
    }
    corpus_copy(point->x, start, point->count);
    free(start);
    agree(kernel, point->size, tool->name, worst, tolerance);
}

static int lanes_of(const struct variant *variant)
{
    for (size_t i = 0; i < CORPUS_COUNT(lane_names); i++)
        if (variant->name == lane_names[i])
            return 1;
    return 0;
}

static void check(const struct bench_kernel *kernel, int size)
{
    struct bench_point *point = prepare(kernel, size);
    double *hand = corpus_vector(point->count), *other = corpus_vector(point->count);
    double *direction = corpus_vector(point->count);
    double value = kernel->primal(point), tolerance = kernel->tolerance > 0.0 ? kernel->tolerance : 1e-11;
    kernel->hand(point, hand);
    for (size_t i = 0; i < variant_count; i++) {
        const struct variant *variant = &variants[i];
        if (!variant->with_value && !variant->alone)
            continue;
        for (size_t k = 0; k < point->count; k++)
            other[k] = NAN;
        double returned = call(variant, point, other);
        if (lanes_of(variant)) {
            double sum = 0.0;
            for (size_t k = 0; k < point->count; k++)
                sum += hand[k];
            agree(kernel, size, variant->name, corpus_relative(other[0], sum, 0.0), tolerance);
            continue;
        }
        agree(kernel, size, variant->name, distance(other, hand, point->count), tolerance);
        if (variant->with_value)
            agree(kernel, size, "its_value", corpus_relative(returned, value, 0.0), tolerance);
    }
    corpus_seed(97);
    corpus_fill(direction, point->count, -1.0, 1.0);
    for (size_t i = 0; i < CORPUS_COUNT(tools); i++)
        if (tools[i] && tools[i]->value)
            check_tool(kernel, tools[i], point, direction, tolerance);
    double slope = difference(kernel, point, direction);
    double scale = 0.0;
    for (size_t i = 0; i < point->count; i++)
        scale += fabs(hand[i] * direction[i]);
    // Cancellation in the sum over the components and in the differences costs digits: the scale is that of a random walk.
    scale /= sqrt((double)point->count);
    agree(kernel, size, "finite_differences", fabs(corpus_dot(hand, direction, point->count) - slope) / scale, 1e-5);
    free(hand);
    free(other);
    free(direction);
}

// ------------------------------------------------------------------------------------------------------------ timing

// Time of the processor, not of the wall: what a neighbour takes of it is not ours.
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static volatile double sink;

static double batch(const struct variant *variant, struct bench_point *point, double *gradient, long repetitions)
{
    double start = now();
    for (long i = 0; i < repetitions; i++)
        sink = call(variant, point, gradient);
    return (now() - start) / (double)repetitions;
}

enum { LAYOUTS = 5, ROUNDS = 200 };

static void measure(const struct bench_kernel *kernel, int size, double seconds)
{
    const double batch_ns = 5e5;
    for (size_t i = 0; i < variant_count; i++)
        variants[i].samples = corpus_vector(LAYOUTS * ROUNDS);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        struct bench_point *point = prepare(kernel, size);
        double *gradient = (double *)allocate(sizeof(double) * point->count);
        for (size_t i = 0; i < variant_count; i++) {
            double once = batch(&variants[i], point, gradient, 1);
            if (layout == 0)
                variants[i].repetitions = once >= batch_ns ? 1 : 1 + (long)(batch_ns / fmax(once, 10.0));
        }
        double start = now();
        for (int round = 0; round < 2 || (round < ROUNDS && now() - start < 1e9 * seconds / LAYOUTS); round++)
            for (size_t i = 0; i < variant_count; i++) {
                // Every other round backwards, so that none gains by what the one before it leaves in the caches; a tool's record
                // displaces everything.
                struct variant *variant = &variants[round % 2 ? variant_count - 1 - i : i];
                if (!variant->is_tool)
                    batch(variant, point, gradient, 1);
                variant->samples[variant->count++] = batch(variant, point, gradient, variant->repetitions);
            }
    }
    for (size_t i = 0; i < variant_count; i++) {
        struct variant *variant = &variants[i];
        qsort(variant->samples, variant->count, sizeof(double), ascending);
        printf("TIME %s %d %s %.6g %.6g\n", kernel->name, size, variant->name, variant->samples[0],
               variant->samples[variant->count / 2]);
        free(variant->samples);
    }
}

// ------------------------------------------------------------------------------------------------------------ memory

enum { STACK = 16 << 20, PAINT = 0xa5 };

struct job {
    const struct variant *variant;
    struct bench_point *point;
    double *gradient;
};

static void *work_on(void *argument)
{
    const struct job *job = (const struct job *)argument;
    counting = 1;
    sink = call(job->variant, job->point, job->gradient);
    counting = 0;
    return NULL;
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

// What the allocator gives back to the system, it fetches again.
static void count_faults(const struct bench_kernel *kernel, int size)
{
    enum { CALLS = 10 };
    struct bench_point *point = prepare(kernel, size);
    double *gradient = corpus_vector(point->count);
    for (size_t i = 0; i < variant_count; i++) {
        batch(&variants[i], point, gradient, CALLS);
        long before = faults();
        batch(&variants[i], point, gradient, CALLS);
        printf("FAULTS %s %d %s %ld\n", kernel->name, size, variants[i].name, (faults() - before) / CALLS);
    }
    free(gradient);
}

// One call on a thread whose stack was painted before: what is no longer of that colour was used.
static void weigh(const struct bench_kernel *kernel, int size)
{
    struct bench_point *point = prepare(kernel, size);
    double *gradient = corpus_vector(point->count);
    unsigned char *stack =
        (unsigned char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == (unsigned char *)MAP_FAILED) {
        printf("no memory for a stack\n");
        exit(2);
    }
    for (size_t i = 0; i < variant_count; i++) {
        if (variants[i].is_tool)
            continue;
        struct job job = {&variants[i], point, gradient};
        pthread_attr_t attributes;
        pthread_t thread;
        memset(stack, PAINT, STACK);
        bytes_now = bytes_peak = 0;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stack, STACK);
        if (pthread_create(&thread, &attributes, work_on, &job) != 0 || pthread_join(thread, NULL) != 0) {
            printf("no thread\n");
            exit(2);
        }
        pthread_attr_destroy(&attributes);
        size_t untouched = 0;
        while (untouched < STACK && stack[untouched] == PAINT)
            untouched++;
        printf("MEMORY %s %d %s %ld %zu\n", kernel->name, size, variants[i].name, bytes_peak, STACK - untouched);
        if (bytes_now != 0)
            printf("AGREE %s %d %s.freed %ld 0 %s\n", kernel->name, size, variants[i].name, bytes_now, "FAIL");
        failures += bytes_now != 0;
    }
    for (size_t i = 0; i < CORPUS_COUNT(tools); i++)
        if (tools[i] && tools[i]->tape) {
            tools[i]->gradient(point, gradient);
            printf("MEMORY %s %d %s.gradient %zu 0\n", kernel->name, size, tools[i]->name, tools[i]->tape());
        }
    printf("KEPT %s %d %zu\n", kernel->name, size, kernel->kept ? kernel->kept(size) : 0);
    munmap(stack, STACK);
    free(gradient);
}

// -------------------------------------------------------------------------------------------------------------- once

// One call, for `valgrind --tool=callgrind --collect-atstart=no`.
static int once(const struct bench_kernel *kernel, int size, const char *name)
{
    const struct variant *variant = find(name);
    if (!variant) {
        printf("no variant %s\n", name);
        return 2;
    }
    struct bench_point *point = prepare(kernel, size);
    double *gradient = corpus_vector(point->count);
    CALLGRIND_TOGGLE_COLLECT;
    sink = call(variant, point, gradient);
    CALLGRIND_TOGGLE_COLLECT;
    free(gradient);
    return 0;
}

// -------------------------------------------------------------------------------------------------------------- data

static void put(FILE *file, const struct bench_input *input)
{
    fprintf(file, "%s %s %zu\n", input->name, input->reals ? "float64" : "int32", input->count);
    fwrite(input->reals ? (const void *)input->reals : (const void *)input->integers,
           input->reals ? sizeof(double) : sizeof(int), input->count, file);
}

// Each array: its name, its type, its length on one line, then its bytes.
static int write_data(const struct bench_kernel *kernel, int size, const char *path)
{
    struct bench_point *point = prepare(kernel, size);
    struct bench_input inputs[BENCH_INPUTS] = {{0}};
    double *gradient = corpus_vector(point->count), value = kernel->primal(point);
    double tolerance = kernel->tolerance > 0.0 ? kernel->tolerance : 1e-11;
    FILE *file = fopen(path, "wb");
    if (!file) {
        printf("cannot write %s\n", path);
        return 2;
    }
    kernel->gradient(point, gradient);
    put(file, &BENCH_INTEGERS("size", &point->size, 1));
    put(file, &BENCH_REALS("x", point->x, point->count));
    put(file, &BENCH_REALS("value", &value, 1));
    put(file, &BENCH_REALS("gradient", gradient, point->count));
    put(file, &BENCH_REALS("tolerance", &tolerance, 1));
    if (kernel->inputs)
        kernel->inputs(point, inputs);
    for (size_t i = 0; i < CORPUS_COUNT(inputs) && inputs[i].name; i++)
        put(file, &inputs[i]);
    free(gradient);
    return fclose(file) ? 2 : 0;
}

int main(int argc, char **argv)
{
    const struct bench_kernel *kernel = &bench_kernel_ours;
    int size = kernel->normal, keep = 1, checked = 0, timed = 0, weighed = 0, fetched = 0;
    double seconds = 1.0;
    const char *only = NULL, *alone = NULL, *data = NULL;
    variants[variant_count++] = (struct variant){"primal", kernel, NULL, NULL, 0, 0, NULL, 0};
    add("gradient", kernel, NULL, kernel->gradient);
    add("hand", kernel, NULL, kernel->hand);
    add("value_gradient", kernel, kernel->value_gradient, NULL);
    add("hand_value", kernel, kernel->hand_value, NULL);
    add("hand_checkpoints", kernel, NULL, kernel->hand_checkpoints);
    for (size_t i = 0; i < CORPUS_COUNT(lane_names); i++)
        add(lane_names[i], kernel, NULL, kernel->lanes[i]);
    if (&bench_kernel_unoptimised)
        add("unoptimised.gradient", &bench_kernel_unoptimised, NULL, bench_kernel_unoptimised.gradient);
    if (&bench_kernel_limited)
        add("limited.gradient", &bench_kernel_limited, NULL, bench_kernel_limited.gradient);
    if (&bench_kernel_reference) {
        add("reference.gradient", &bench_kernel_reference, NULL, bench_kernel_reference.gradient);
        add("reference.value_gradient", &bench_kernel_reference, bench_kernel_reference.value_gradient, NULL);
    }
    add_tools(kernel);
    for (int i = 1; i < argc; i++) {
        int more = i + 1 < argc && argv[i + 1][0] != '-';
        if (strcmp(argv[i], "--size") == 0 && more)
            size = atoi(argv[++i]);
        else if (strcmp(argv[i], "--small") == 0)
            size = kernel->small;
        else if (strcmp(argv[i], "--check") == 0)
            checked = 1;
        else if (strcmp(argv[i], "--time") == 0) {
            timed = 1;
            if (more)
                seconds = atof(argv[++i]);
        } else if (strcmp(argv[i], "--memory") == 0)
            weighed = 1;
        else if (strcmp(argv[i], "--faults") == 0)
            fetched = 1;
        else if (strcmp(argv[i], "--once") == 0 && more)
            only = argv[++i];
        else if (strcmp(argv[i], "--variant") == 0 && more)
            alone = argv[++i];
        else if (strcmp(argv[i], "--write-data") == 0 && more)
            data = argv[++i];
        else if (strcmp(argv[i], "--default-malloc") == 0)
            keep = 0;
        else if (strcmp(argv[i], "--sizes") == 0) {
            printf("SIZES %s", kernel->name);
            for (size_t k = 0; k < CORPUS_COUNT(kernel->sweep) && kernel->sweep[k]; k++)
                printf(" %d", kernel->sweep[k]);
            printf("\n");
            return 0;
        } else {
            printf("unknown argument %s\n", argv[i]);
            return 2;
        }
    }
    if (keep) {
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
        mallopt(M_TOP_PAD, 64 << 20);
    }
    if (data)
        return write_data(kernel, size, data);
    if (only)
        return once(kernel, size, only);
    if (alone) {
        if (!find(alone)) {
            printf("no variant %s\n", alone);
            return 2;
        }
        variants[0] = *find(alone);
        variant_count = 1;
    }
    int all = !checked && !timed && !weighed && !fetched;
    if (checked || all)
        check(kernel, size);
    if (timed || all)
        measure(kernel, size, seconds);
    if (weighed || all)
        weigh(kernel, size);
    if (fetched)
        count_faults(kernel, size);
    return failures > 0;
}
