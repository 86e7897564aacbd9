// `AtomicAdd`: several threads add to the same adjoints at once, and none is lost; what cannot be added like that is refused.

#include "lender.h"

#include <pthread.h>

static const char source[] =
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    "define double @square(ptr %p) {\n  %v = load double, ptr %p\n  %w = fmul double %v, %v\n  ret double %w\n}\n"
    "define double @copied(ptr %p) {\n  %m = alloca [2 x double]\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %m, ptr %p, i64 16, i1 false)\n"
    "  br label %next\nnext:\n  %q = getelementptr double, ptr %m, i64 1\n  %v = load volatile double, ptr %m\n"
    "  %w = load volatile double, ptr %q\n  %r = fmul double %v, %w\n  ret double %r\n}\n"
    "define double @lanes(ptr %p) {\n  %v = load <2 x double>, ptr %p, align 8\n  %w = fmul <2 x double> %v, %v\n"
    "  %a = extractelement <2 x double> %w, i64 0\n  %b = extractelement <2 x double> %w, i64 1\n"
    "  %r = fadd double %a, %b\n  ret double %r\n}\n"
    "define double @wide(ptr %p) {\n  %v = load x86_fp80, ptr %p\n  %w = fptrunc x86_fp80 %v to double\n  ret double %w\n}\n"
    "define double @packed(ptr %p) {\n  %v = load double, ptr %p, align 1\n  ret double %v\n}\n"
    "define double @ruled(ptr %p) noinline !enzyme_augment !0 !enzyme_gradient !1 {\n"
    "  %v = load double, ptr %p\n  ret double %v\n}\n"
    "define double @ahead(ptr %p, ptr %dp) {\n  %v = load double, ptr %p\n  ret double %v\n}\n"
    "define void @back(ptr %p, ptr %dp, double %seed) {\n  ret void\n}\n"
    "define double @by_rule(ptr %p) {\n  %v = call double @ruled(ptr %p)\n  ret double %v\n}\n"
    "!0 = !{ptr @ahead}\n!1 = !{ptr @back}\n";

enum { THREADS = 4, TIMES = 50000, FUNCTIONS = 3 };

typedef void derivative(void *, const double *, double *, double);

static struct job {
    derivative *run;
    double x[2], dx[2];
} job;

static pthread_barrier_t together;

static void *work(void *nothing)
{
    pthread_barrier_wait(&together);
    for (int n = 0; n < TIMES; n++)
        job.run(NULL, job.x, job.dx, 1);
    return nothing;
}

static EnzymeLogicRef logic;
static EnzymeTypeAnalysisRef types;

static LLVMValueRef gradient(const char *name, uint8_t atomic)
{
    static uint8_t kept[1];
    unsigned dup[1] = {DUP_ARG};
    return EnzymeCreatePrimalAndGradient(logic, NULL, NULL, LLVMGetNamedFunction(module, name), OUT_DIFF, dup, 1, types, 0, 0, COMBINED,
                                         0, 0, 1, 1, NULL, 0, (CFnTypeInfo){NULL, NULL, NULL}, 0, kept, 1, NULL, atomic);
}

int main(void)
{
    if (!lend(source))
        return 2;
    logic = CreateEnzymeLogic(0);
    types = CreateTypeAnalysis(logic, NULL, NULL, 0);
    static const char *const names[FUNCTIONS] = {"square", "copied", "lanes"};
    const char *shown[FUNCTIONS] = {"show_square", "show_copied", "show_lanes"};
    for (int n = 0; n < FUNCTIONS; n++) {
        LLVMValueRef made = gradient(names[n], 1), plain = gradient(names[n], 0);
        CHECK(made && plain && made != plain && gradient(names[n], 1) == made);
        if (!made) {
            fprintf(stderr, "%s\n", last);
            return 1;
        }
        expose(made, shown[n]);
    }
    CHECK(told == 0);
    CHECK(!gradient("wide", 1) && told == 1 && strstr(last, "E0203") && gradient("wide", 0));
    CHECK(!gradient("packed", 1) && told == 2 && strstr(last, "aligned") && gradient("packed", 0));
    CHECK(!gradient("by_rule", 1) && told == 3 && strstr(last, "'ruled'") && gradient("by_rule", 0));
    FreeTypeAnalysis(types);
    FreeEnzymeLogic(logic);
    LLVMOrcExecutorAddress at[FUNCTIONS];
    if (!compile(shown, at, FUNCTIONS))
        return 1;
    pthread_barrier_init(&together, NULL, THREADS);
    for (int n = 0; n < FUNCTIONS; n++) {
        // Small integers: their sums are exact, in any order.
        job = (struct job){(derivative *)at[n], {3, 5}, {0, 0}};
        pthread_t threads[THREADS];
        for (int k = 0; k < THREADS; k++)
            CHECK(!pthread_create(&threads[k], NULL, work, NULL));
        for (int k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
        const double want[FUNCTIONS][2] = {{6, 0}, {5, 3}, {6, 10}}, all = THREADS * TIMES;
        CHECK(job.dx[0] == all * want[n][0] && job.dx[1] == all * want[n][1]);
    }
    pthread_barrier_destroy(&together);
    LLVMOrcDisposeLLJIT(jit);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
