// A thousand derivatives made, compiled, called and freed in one process, in several threads at a time: memory stays flat and
// every result is right. usage: cycles
#include "capi.h"

#include <pthread.h>
#include <unistd.h>

static const char text[] = "define double @cube(double %x) {\n  %y = fmul double %x, %x\n  %z = fmul double %y, %x\n  ret double %z\n}\n";

enum { THREADS = 2, WARM = 100, CYCLES = 1000 };

static int wrong[THREADS];

struct share {
    int number, cycles;
};

static void *work(void *argument)
{
    const struct share *share = argument;
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
    for (int n = 0; n < THREADS; n++) {
        shares[n] = (struct share){n, count / THREADS};
        pthread_create(&threads[n], NULL, work, &shares[n]);
    }
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
}

static long resident(void)
{
    long whole = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &whole, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(void)
{
    cycles(WARM);
    long before = resident();
    cycles(CYCLES);
    long after = resident();
    printf("%d cycles: %.1f MB before, %.1f MB after\n", CYCLES, before / 1e6, after / 1e6);
    CHECK(wrong[0] == 0 && wrong[1] == 0);
    // One in a hundred is what the allocator may move about.
    CHECK(before > 0 && after <= before + before / 100);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
