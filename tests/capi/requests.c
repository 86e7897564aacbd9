// What compilers may say beside activities: that a tape is left for another call, what lies behind addresses, that the value is wanted, and
// how the shadow of memory from an allocator of theirs is made.

#include "lender.h"

static const char source[] =
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    "define double @g(ptr %p, double %y) {\n"
    "  %v = load double, ptr %p\n  %a = fmul double %v, %v\n  store double 7.0, ptr %p\n"
    "  %b = fmul double %a, %y\n  ret double %b\n}\n"
    "define void @move(ptr %from, ptr %to) {\n"
    "  %v = load i64, ptr %from\n  store i64 %v, ptr %to\n  ret void\n}\n"
    "define void @pair(ptr %from, ptr %to) {\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 16, i1 false)\n  ret void\n}\n"
    "define i64 @counted(ptr %p, i64 %n) {\n"
    "  %v = load double, ptr %p\n  %w = fmul double %v, %v\n  store double %w, ptr %p\n"
    "  %m = add i64 %n, 1\n  ret i64 %m\n}\n"
    "declare ptr @take(i64)\ndeclare void @free(ptr)\n"
    "define double @boxed(double %x, double %y, i64 %k) {\n"
    "  %m = call ptr @take(i64 2)\n  %a = fmul double %x, %x\n  store double %a, ptr %m\n"
    "  %q = getelementptr double, ptr %m, i64 1\n  store double %y, ptr %q\n"
    "  %r = getelementptr double, ptr %m, i64 %k\n  %v = load double, ptr %r\n  %w = load double, ptr %m\n"
    "  call void @free(ptr %m)\n  %z = fmul double %v, %w\n  ret double %z\n}\n"
    "define double @either(double %x, double %y, i64 %k) {\n"
    "  %m = call ptr @take(i64 2)\n  %n = call ptr @take(i64 2)\n  store double %x, ptr %m\n  store double %y, ptr %n\n"
    "  %c = icmp eq i64 %k, 0\n  %s = select i1 %c, ptr %m, ptr %n\n  %t = select i1 %c, ptr %n, ptr %m\n"
    "  %r = getelementptr double, ptr %s, i64 %k\n  %v = load double, ptr %r\n"
    "  call void @free(ptr %s)\n  call void @free(ptr %t)\n  ret double %v\n}\n";

static int shadows, freed;

// An allocator that counts in numbers, and where its shadows come from.
void *take(int64_t numbers) { return malloc((size_t)numbers * sizeof(double)); }

void *take_shadow(int64_t numbers)
{
    shadows++;
    return calloc((size_t)numbers, sizeof(double));
}

void give_shadow(void *memory)
{
    freed++;
    free(memory);
}

static LLVMValueRef call_out(LLVMBuilderRef b, const char *name, LLVMTypeRef result, LLVMValueRef argument)
{
    LLVMModuleRef here = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(b)));
    LLVMTypeRef param = LLVMTypeOf(argument), type = LLVMFunctionType(result, &param, 1, 0);
    LLVMValueRef function = LLVMGetNamedFunction(here, name);
    return LLVMBuildCall2(b, type, function ? function : LLVMAddFunction(here, name, type), &argument, 1, "");
}

static LLVMValueRef shadow_of(LLVMBuilderRef b, LLVMValueRef call, size_t count, LLVMValueRef *args, EnzymeGradientUtilsRef g)
{
    CHECK(count == 1 && EnzymeGradientUtilsNewFromOriginal(g, LLVMGetOperand(call, 0)));
    return call_out(b, "take_shadow", LLVMTypeOf(call), args[0]);
}

static LLVMValueRef release_of(LLVMBuilderRef b, LLVMValueRef shadow)
{
    return call_out(b, "give_shadow", LLVMVoidTypeInContext(context), shadow);
}

static LLVMValueRef no_shadow(LLVMBuilderRef b, LLVMValueRef call, size_t count, LLVMValueRef *args, EnzymeGradientUtilsRef g)
{
    (void)b, (void)call, (void)count, (void)args, (void)g;
    return NULL;
}

static EnzymeLogicRef logic;
static EnzymeTypeAnalysisRef types;
static uint8_t kept[2];

static LLVMValueRef combined(const char *name, unsigned *activities, CTypeTreeRef *trees, uint8_t value)
{
    CFnTypeInfo info = {trees, NULL, NULL};
    return EnzymeCreatePrimalAndGradient(logic, NULL, NULL, LLVMGetNamedFunction(module, name), CONSTANT, activities, 2, types, value, 0,
                                         COMBINED, 0, 0, 1, 1, NULL, 0, info, 0, kept, 2, NULL, 0);
}

// A tree of an address with `count` bytes of this type from `offset` on behind it; -1 for all.
static CTypeTreeRef behind(CTypeTreeRef tree, int64_t offset, unsigned count, CConcreteType type)
{
    int64_t path[2] = {-1, offset};
    EnzymeTypeTreeInsertEq(tree, path, 1, 2, context);
    for (unsigned n = 0; n < count; n++, path[1]++)
        EnzymeTypeTreeInsertEq(tree, path, 2, type, context);
    return tree;
}

int main(void)
{
    if (!lend(source))
        return 2;
    logic = CreateEnzymeLogic(0);
    types = CreateTypeAnalysis(logic, NULL, NULL, 0);
    enum { INTEGER = 1, DOUBLE = 5 };
    CTypeTreeRef nothing = EnzymeNewTypeTree();
    CTypeTreeRef doubles = behind(EnzymeNewTypeTree(), -1, 1, DOUBLE), integers = behind(EnzymeNewTypeTree(), -1, 1, INTEGER);
    CTypeTreeRef mixed = behind(behind(EnzymeNewTypeTree(), 0, 8, INTEGER), 8, 1, DOUBLE);
    CTypeTreeRef unknown[2] = {nothing, nothing}, of_doubles[2] = {doubles, doubles}, of_integers[2] = {integers, integers};
    CTypeTreeRef of_pairs[2] = {mixed, mixed};
    unsigned dup[2] = {DUP_ARG, DUP_ARG}, first[2] = {DUP_ARG, CONSTANT}, active[2] = {DUP_ARG, OUT_DIFF};
    CFnTypeInfo info = {NULL, NULL, NULL};

    // A tape that is left. What was made before, and used, goes along.
    LLVMValueRef g = LLVMGetNamedFunction(module, "g");
    EnzymeAugmentedReturnPtr split = EnzymeCreateAugmentedPrimal(logic, NULL, NULL, g, OUT_DIFF, active, 2, types, 1, 0, info, 0, kept,
                                                                 2, kept, 2, 0, 0, 0, 1, 0);
    LLVMTypeRef tape = EnzymeExtractTapeTypeFromAugmentation(split);
    LLVMValueRef augmented = EnzymeExtractFunctionFromAugmentation(split);
#define REVERSED(frees)                                                                                                \
    EnzymeCreatePrimalAndGradient(logic, NULL, NULL, g, OUT_DIFF, active, 2, types, 0, 0, REVERSE, 0, 0, 1, frees, tape, 0, info, 0, \
                                  kept, 2, split, 0)
    LLVMValueRef last_one = REVERSED(1);
    expose(augmented, "augmented");
    expose(last_one, "last_one");
    LLVMValueRef another = REVERSED(0);
    CHECK(told == 0 && another && another != last_one && REVERSED(0) == another && REVERSED(1) == last_one);
    CHECK(EnzymeExtractFunctionFromAugmentation(split) == augmented);

    // What is not said is not known; a handle that is none is told.
    CHECK(!combined("move", dup, unknown, 0) && told == 1 && strstr(last, "E0301"));
    CHECK(!combined("move", dup, NULL, 0) && told == 2);
    LLVMValueRef as_double = combined("move", dup, of_doubles, 0), as_integer = combined("move", dup, of_integers, 0);
    LLVMValueRef of_pair = combined("pair", dup, of_pairs, 0);
    LLVMValueRef tangent = EnzymeCreateForwardDiff(logic, NULL, NULL, LLVMGetNamedFunction(module, "move"), CONSTANT, dup, 2, types, 0,
                                                   FORWARD, 1, 0, 0, 1, NULL, (CFnTypeInfo){of_doubles, NULL, NULL}, 0, kept, 2, NULL);
    LLVMValueRef counted = combined("counted", first, NULL, 1);
    CHECK(told == 2);

    // Memory whose shadow callbacks make.
    LLVMValueRef boxed = LLVMGetNamedFunction(module, "boxed");
    unsigned numbers[3] = {OUT_DIFF, OUT_DIFF, CONSTANT}, along[3] = {DUP_ARG, DUP_ARG, CONSTANT};
#define BOXED                                                                                                          \
    EnzymeCreatePrimalAndGradient(logic, NULL, NULL, boxed, OUT_DIFF, numbers, 3, types, 1, 0, COMBINED, 0, 0, 1, 1, NULL, 0, info, 0, \
                                  kept, 2, NULL, 0)
    EnzymeRegisterAllocationHandler("take", no_shadow, NULL);
    CHECK(!BOXED && told == 3 && strstr(last, "'take'"));
    EnzymeRegisterAllocationHandler("take", shadow_of, release_of);
    LLVMValueRef boxed_back = BOXED;
    LLVMValueRef boxed_ahead = EnzymeCreateForwardDiff(logic, NULL, NULL, boxed, DUP_ARG, along, 3, types, 1, FORWARD, 1, 0, 0, 1, NULL,
                                                       info, 0, kept, 2, NULL);
    CHECK(told == 3);
    // What frees a shadow is not known where the memory may come from several calls; what a tape that is left keeps has a size.
    CHECK(!EnzymeCreateForwardDiff(logic, NULL, NULL, LLVMGetNamedFunction(module, "either"), DUP_ARG, along, 3, types, 1, FORWARD, 1, 0, 0,
                                   1, NULL, info, 0, kept, 2, NULL));
    CHECK(told == 4 && strstr(last, "E0203"));
    split = EnzymeCreateAugmentedPrimal(logic, NULL, NULL, boxed, OUT_DIFF, numbers, 3, types, 1, 0, info, 0, kept, 2, kept, 2, 0, 0, 0, 1, 0);
    CHECK(split && !EnzymeCreatePrimalAndGradient(logic, NULL, NULL, boxed, OUT_DIFF, numbers, 3, types, 0, 0, REVERSE, 0, 0, 1, 0, tape, 0,
                                                  info, 0, kept, 2, split, 0));
    CHECK(told == 5 && strstr(last, "E0203"));
    EnzymeFreeTypeTree(mixed);
    CHECK(!combined("pair", dup, of_pairs, 0) && told == 6);

    LLVMValueRef made[] = {another, as_double, as_integer, of_pair, tangent, counted, boxed_back, boxed_ahead};
    const char *names[] = {"another",      "as_double",   "as_integer", "of_pair", "tangent",
                           "counted_back", "boxed_back", "boxed_ahead", "augmented",  "last_one"};
    for (unsigned n = 0; n < 8; n++) {
        CHECK(made[n]);
        if (!made[n]) {
            fprintf(stderr, "%s\n", last);
            return 1;
        }
        expose(made[n], names[n]);
    }
    FreeTypeAnalysis(types);
    FreeEnzymeLogic(logic);
    LLVMOrcExecutorAddress at[10];
    if (!compile(names, at, 10))
        return 1;

    // g = v^2 y at (3, 5).
    double v = 3, dv = 0.5, r[2];
    struct {
        void *tape;
        double value;
    } out;
    ((void (*)(void *, double *, double *, double))at[8])(&out, &v, &dv, 5);
    CLOSE(out.value, 45.0);
    for (int n = 0; n < 3; n++) {
        const double seed = 2 - n * 0.5;
        ((void (*)(double *, double *, double *, double, double, void *))at[n < 2 ? 0 : 9])(r, &v, &dv, 5, seed, out.tape);
        CLOSE(r[0], 9.0 * seed);
        CLOSE(dv, 30.0 * seed);
    }
    typedef void copier(void *, double *, double *, double *, double *);
    double from[2] = {1, 2}, dfrom[2] = {0.5, 0.25}, to[2] = {0, 0}, dto[2] = {3, 4};
    ((copier *)at[1])(NULL, from, dfrom, to, dto);
    CLOSE(to[0], 1.0);
    CLOSE(dfrom[0], 3.5);
    CLOSE(dto[0], 0.0);
    dto[0] = 3;
    ((copier *)at[2])(NULL, from, dfrom, to, dto);
    CLOSE(dfrom[0], 3.5);
    CLOSE(dto[0], 3.0);
    ((copier *)at[3])(NULL, from, dfrom, to, dto);
    CLOSE(to[1], 2.0);
    CLOSE(dfrom[0], 3.5);
    CLOSE(dfrom[1], 4.25);
    CLOSE(dto[0], 3.0);
    CLOSE(dto[1], 0.0);
    ((copier *)at[4])(NULL, from, dfrom, to, dto);
    CLOSE(dto[0], 3.5);
    int64_t number = 0;
    double p = 3, dp = 1;
    ((void (*)(int64_t *, double *, double *, int64_t))at[5])(&number, &p, &dp, 41);
    CHECK(number == 42);
    CLOSE(p, 9.0);
    CLOSE(dp, 6.0);
    // boxed = x^2 y at (3, 5).
    double back[3];
    ((void (*)(double *, double, double, int64_t, double))at[6])(back, 3, 5, 1, 2);
    CLOSE(back[0], 45.0);
    CLOSE(back[1], 60.0);
    CLOSE(back[2], 18.0);
    CHECK(shadows == 1 && freed == 1);
    ((void (*)(double *, double, double, double, double, int64_t))at[7])(r, 3, 1, 5, 10, 1);
    CLOSE(r[0], 45.0);
    CLOSE(r[1], 120.0);
    CHECK(shadows == 2 && freed == 2);
    LLVMOrcDisposeLLJIT(jit);
    EnzymeFreeTypeTree(nothing);
    EnzymeFreeTypeTree(doubles);
    EnzymeFreeTypeTree(integers);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
