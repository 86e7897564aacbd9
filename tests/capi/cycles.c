// A thousand derivatives made, compiled, called and freed in one process, in several threads at a time: memory stays flat and
// every result is right. usage: cycles
#include "capi.h"

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

static const char text[] = "define double @cube(double %x) {\n  %y = fmul double %x, %x\n  %z = fmul double %y, %x\n  ret double %z\n}\n";

enum { THREADS = 2, WARM = 100, CYCLES = 1000 };

static int wrong[THREADS];
// Both threads are there before the first works: one that came late would take over the other's memory, and the warm-up would have
// seen half of what the measured cycles hold.
static pthread_barrier_t together;

struct share {
    int number, cycles;
};

static void *work(void *argument)
{
    const struct share *share = argument;
    pthread_barrier_wait(&together);
    for (int k = 0; k < share->cycles; k++) {
        EnzymeContext *context = NULL;
        EnzymeModule *module = NULL, *derivative = NULL;
        EnzymeCode *code = NULL;
        EnzymeError *error = NULL;
        void *address = NULL;
        EnzymeRequest request = {.size = sizeof request, .function = "cube", .flags = ENZYME_WITH_VALUE};
        if (enzyme_context_new(ENZYME_ABI_VERSION, &context, &error) ||
            enzyme_module_read(context, text, sizeof text - 1, &module, &error) ||
            enzyme_differentiate(context, module, &request, &derivative, &error) ||
            enzyme_compile(derivative, 1, &code, &error) ||
            enzyme_code_address(code, "cube_gradient", &address, &error)) {
            say(error);
            wrong[share->number]++;
            return NULL;
        }
        double dx = 0.0, x = 1.0 + k % 7;
        double value = ((double (*)(double, double *))address)(x, &dx);
        wrong[share->number] += value != x * x * x || dx != 3.0 * x * x;
        // A refusal leaves nothing either.
        request.function = "square";
        wrong[share->number] += enzyme_differentiate(context, module, &request, &derivative, &error) != EnzymeStatus_Refused;
        enzyme_error_free(error);
        enzyme_code_free(code);
        enzyme_module_free(derivative);
        enzyme_module_free(module);
        enzyme_context_free(context);
    }
    return NULL;
}

static void cycles(int count)
{
    pthread_t threads[THREADS];
    struct share shares[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int n = 0; n < THREADS; n++) {
        shares[n] = (struct share){n, count / THREADS};
        pthread_create(&threads[n], NULL, work, &shares[n]);
    }
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
    pthread_barrier_destroy(&together);
}

// What the process holds, without what is free in the allocator's arenas: how much of that there is depends on how the threads
// happened to overlap.
static long resident(void)
{
    malloc_trim(0);
    long whole = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &whole, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

// What is allocated and not freed, in bytes.
static long in_use(void)
{
    struct mallinfo2 all = mallinfo2();
    return (long)(all.uordblks + all.hblkhd);
}

int main(void)
{
    // Blocks of some size are given back when they are freed, so that what is resident is what is held.
    mallopt(M_MMAP_THRESHOLD, 16 * 1024);
    cycles(WARM);
    long before = resident(), used_before = in_use();
    cycles(CYCLES);
    long after = resident(), used_after = in_use();
    printf("%d cycles: %.1f MB before, %.1f MB after; %ld and %ld bytes in use\n", CYCLES, before / 1e6, after / 1e6, used_before, used_after);
    CHECK(wrong[0] == 0 && wrong[1] == 0);
    // Sixteen bytes lost in a cycle would be noticed.
    CHECK(used_after <= used_before + 16 * CYCLES);
    // One in a hundred: pages that are free in part.
    CHECK(before > 0 && after <= before + before / 100);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
