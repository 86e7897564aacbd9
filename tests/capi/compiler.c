// The interface for compilers, in the order in which Julia's frontend calls it: an engine, a type analysis, trees for the arguments,
// a derivative, and a wrapper around it that is compiled by ORC. Numbers are compared with closed forms.

#include "lender.h"

static const char source[] =
    "declare double @special(double, ptr)\n"
    "declare double @unknown(double)\n"
    "define double @f(double %x, double %y) {\n"
    "  %a = fmul double %x, %x\n  %b = fmul double %a, %y\n  ret double %b\n}\n"
    "define double @g(ptr %p, double %y) {\n"
    "  %v = load double, ptr %p\n  %a = fmul double %v, %v\n  store double 7.0, ptr %p\n"
    "  %b = fmul double %a, %y\n  ret double %b\n}\n"
    "define double @h(double %x, ptr %p) {\n"
    "  %a = fmul double %x, 2.0\n  %b = call double @special(double %a, ptr %p)\n  ret double %b\n}\n"
    "define double @mapped(double %x, double %y) {\n"
    "  %k = load i32, ptr inttoptr (i64 268435456 to ptr)\n  %n = sitofp i32 %k to double\n"
    "  %a = fmul double %x, %n\n  %b = fmul double %a, %y\n  ret double %b\n}\n"
    "define double @bad(double %x) {\n  %a = call double @unknown(double %x)\n  ret double %a\n}\n";

double special(double a, const double *p) { return a * a * *p; }

// special(a, p) = a * a * *p: the tape is a.
static uint8_t special_augmented(LLVMBuilderRef b, LLVMValueRef call, EnzymeGradientUtilsRef g, LLVMValueRef *normal, LLVMValueRef *shadow,
                                 LLVMValueRef *tape)
{
    (void)b, (void)normal, (void)shadow;
    *tape = EnzymeGradientUtilsNewFromOriginal(g, LLVMGetOperand(call, 0));
    return 0;
}

static void special_reverse(LLVMBuilderRef b, LLVMValueRef call, EnzymeGradientUtilsRef g, LLVMValueRef tape)
{
    LLVMValueRef a = LLVMGetOperand(call, 0), p = LLVMGetOperand(call, 1);
    LLVMTypeRef number = LLVMTypeOf(a);
    LLVMValueRef seed = EnzymeGradientUtilsDiffe(g, call, b);
    LLVMValueRef at = LLVMBuildLoad2(b, number, EnzymeGradientUtilsNewFromOriginal(g, p), "");
    LLVMValueRef slope = LLVMBuildFMul(b, LLVMBuildFMul(b, LLVMConstReal(number, 2.0), tape, ""), at, "");
    EnzymeGradientUtilsAddToDiffe(g, a, LLVMBuildFMul(b, seed, slope, ""), b, number);
    if (!EnzymeGradientUtilsIsConstantValue(g, p)) {
        LLVMValueRef place = EnzymeGradientUtilsInvertPointer(g, p, b);
        LLVMValueRef more = LLVMBuildFMul(b, seed, LLVMBuildFMul(b, tape, tape, ""), "");
        LLVMBuildStore(b, LLVMBuildFAdd(b, LLVMBuildLoad2(b, number, place, ""), more, ""), place);
    }
    EnzymeGradientUtilsSetDiffe(g, call, LLVMConstReal(number, 0.0), b);
}

static int asked, asked_of_shadows;

static uint8_t special_uses(LLVMValueRef call, EnzymeGradientUtilsRef g, LLVMValueRef value, uint8_t shadow, CDerivativeMode mode,
                            uint8_t *otherwise)
{
    CHECK(mode == REVERSE && EnzymeGradientUtilsNewFromOriginal(g, value) && LLVMGetNumOperands(call) == 3);
    asked++;
    asked_of_shadows += shadow;
    *otherwise = 0;
    return !shadow;
}

static uint8_t special_forward(LLVMBuilderRef b, LLVMValueRef call, EnzymeGradientUtilsRef g, LLVMValueRef *normal, LLVMValueRef *shadow)
{
    (void)normal;
    LLVMValueRef a = LLVMGetOperand(call, 0), p = LLVMGetOperand(call, 1);
    LLVMTypeRef number = LLVMTypeOf(a);
    LLVMValueRef primal = EnzymeGradientUtilsNewFromOriginal(g, a);
    LLVMValueRef at = LLVMBuildLoad2(b, number, EnzymeGradientUtilsNewFromOriginal(g, p), "");
    LLVMValueRef slope = LLVMBuildFMul(b, LLVMBuildFMul(b, LLVMConstReal(number, 2.0), primal, ""), at, "");
    *shadow = LLVMBuildFMul(b, slope, EnzymeGradientUtilsInvertPointer(g, a, b), "");
    return 0;
}

int main(void)
{
    if (!lend(source))
        return 2;
    char *before = LLVMPrintValueToString(LLVMGetNamedFunction(module, "g"));
    CHECK(!EnzymeGetCLBool(&EnzymeFastMath));
    EnzymeSetCLBool(&EnzymeFastMath, 1);
    CHECK(EnzymeGetCLBool(&EnzymeFastMath));
    EnzymeSetCLBool(&EnzymeFastMath, 0);
    EnzymeRegisterCallHandler("special", special_augmented, special_reverse);
    EnzymeRegisterFwdCallHandler("special", special_forward);
    EnzymeRegisterDiffUseCallHandler("special", special_uses);

    EnzymeLogicRef logic = CreateEnzymeLogic(0);
    EnzymeTypeAnalysisRef types = CreateTypeAnalysis(logic, NULL, NULL, 0);
    CTypeTreeRef number = EnzymeNewTypeTreeCT(5, context), address = EnzymeNewTypeTreeCT(2, context);
    EnzymeTypeTreeOnlyEq(number, 0);
    CHECK(EnzymeMergeTypeTree(address, number));
    EnzymeTypeTreeOnlyEq(address, -1);
    const char *shown = EnzymeTypeTreeToString(address);
    CHECK(!strcmp(shown, "{[-1]:Pointer, [-1,0]:Float@double}"));
    CTypeTreeRef again = EnzymeTypeTreeFromMD(EnzymeTypeTreeToMD(address, context));
    const char *same = EnzymeTypeTreeToString(again);
    CHECK(same && !strcmp(shown, same));
    EnzymeStringFree(shown);
    EnzymeStringFree(same);
    CTypeTreeRef trees[2] = {address, number};
    CFnTypeInfo info = {trees, number, NULL};
    uint8_t kept[2] = {0, 0};

    LLVMValueRef f = LLVMGetNamedFunction(module, "f"), g = LLVMGetNamedFunction(module, "g");
    LLVMValueRef h = LLVMGetNamedFunction(module, "h");
    unsigned out[2] = {OUT_DIFF, OUT_DIFF}, dup[2] = {DUP_ARG, DUP_ARG}, mixed[2] = {DUP_ARG, OUT_DIFF};
    unsigned shared[2] = {OUT_DIFF, CONSTANT}, both[2] = {OUT_DIFF, DUP_ARG}, along[2] = {DUP_ARG, CONSTANT};
#define COMBINE(of, activities, value)                                                                                 \
    EnzymeCreatePrimalAndGradient(logic, NULL, NULL, of, OUT_DIFF, activities, 2, types, value, 0, COMBINED, 0, 0, 1, 1, \
                                  NULL, 0, info, 0, kept, 2, NULL, 0)
#define TANGENT(of, activities, width)                                                                                 \
    EnzymeCreateForwardDiff(logic, NULL, NULL, of, DUP_ARG, activities, 2, types, 1, FORWARD, 1, 0, 0, width, NULL, info, 0, \
                            kept, 2, NULL)
    LLVMValueRef combined = COMBINE(f, out, 1);
    CHECK(combined && COMBINE(f, out, 1) == combined);
    // A device at an address that is a number needs nothing from elsewhere.
    CHECK(COMBINE(LLVMGetNamedFunction(module, "mapped"), out, 1));
    CHECK(!LLVMGetNamedGlobal(module, "enzyme.memory.of.numbers"));
    LLVMValueRef tangent = TANGENT(f, dup, 1), tangents = TANGENT(f, dup, 2);
    EnzymeAugmentedReturnPtr split = EnzymeCreateAugmentedPrimal(logic, NULL, NULL, g, OUT_DIFF, mixed, 2, types, 1, 0, info, 0, kept, 2,
                                                  kept, 2, 0, 0, 0, 1, 0);
    int64_t places[3];
    uint8_t there[3];
    EnzymeExtractReturnInfo(split, places, there, 3);
    CHECK(there[0] && there[1] && !there[2] && places[0] == 0 && places[1] == 1);
    LLVMTypeRef tape = EnzymeExtractTapeTypeFromAugmentation(split);
    LLVMValueRef augmented = EnzymeExtractFunctionFromAugmentation(split);
    LLVMValueRef reverse = EnzymeCreatePrimalAndGradient(logic, NULL, NULL, g, OUT_DIFF, mixed, 2, types, 0, 0, REVERSE, 0, 0,
                                                         1, 1, tape, 0, info, 0, kept, 2, split, 0);
    unsigned lanes[2] = {1, 0};
    LLVMValueRef batch = EnzymeCreateBatch(logic, NULL, NULL, f, 2, lanes, 2, 1);
    LLVMValueRef ruled = COMBINE(h, both, 1), alone = COMBINE(h, shared, 1), ahead = TANGENT(h, along, 1);
    if (told)
        fprintf(stderr, "told: %s\n", last);
    CHECK(told == 0);
    CHECK(asked > 1 && asked_of_shadows > 0);

    // What is refused, or asked wrongly, is told, and nothing is left behind.
    unsigned one[1] = {OUT_DIFF};
    LLVMValueRef bad = LLVMGetNamedFunction(module, "bad");
    CHECK(!EnzymeCreatePrimalAndGradient(logic, NULL, NULL, bad, OUT_DIFF, one, 1, types, 0, 0, COMBINED, 0, 0, 1, 1, NULL, 0,
                                         info, 0, kept, 1, NULL, 0));
    CHECK(told == 1 && strstr(last, "E0201") && strstr(last, "unknown"));
    CHECK(!EnzymeCreatePrimalAndGradient(logic, NULL, NULL, f, OUT_DIFF, one, 1, types, 0, 0, COMBINED, 0, 0, 1, 1, NULL, 0,
                                         info, 0, kept, 1, NULL, 0));
    CHECK(told == 2 && strstr(last, "E0114"));
    CHECK(!EnzymeCreatePrimalAndGradient(logic, NULL, NULL, f, OUT_DIFF, out, 2, types, 0, 1, COMBINED, 0, 0, 1, 1, NULL, 0,
                                         info, 0, kept, 2, NULL, 0));
    CHECK(told == 3 && strstr(last, "dretUsed"));
    CHECK(!COMBINE(NULL, out, 0) && told == 4);
    CHECK(!EnzymeGradientUtilsGetLogic((EnzymeGradientUtilsRef)(uintptr_t)12345) && told == 5);
    EnzymeReplaceFunctionImplementation(module);
    CHECK(told == 6 && strstr(last, "EnzymeReplaceFunctionImplementation"));
    EnzymeSetCLBool(&told, 1);
    CHECK(told == 7);

    char *after = LLVMPrintValueToString(g);
    CHECK(!strcmp(before, after));
    LLVMDisposeMessage(before);
    LLVMDisposeMessage(after);
    LLVMValueRef made[] = {combined, tangent, tangents, augmented, reverse, batch, ruled, alone, ahead};
    const char *names[] = {"combined", "tangent", "tangents", "augmented", "reverse", "batch", "ruled", "alone", "ahead"};
    for (unsigned n = 0; n < 9; n++) {
        CHECK(made[n]);
        if (!made[n])
            return 1;
        expose(made[n], names[n]);
    }
    LLVMDeleteFunction(bad);
    FreeTypeAnalysis(types);
    FreeEnzymeLogic(logic);
    LLVMOrcExecutorAddress at[9];
    if (!compile(names, at, 9))
        return 1;
    double r[8];
    // f = x^2 y at (3, 5), seed 2.
    ((void (*)(double *, double, double, double))at[0])(r, 3, 5, 2);
    CLOSE(r[0], 45.0);
    CLOSE(r[1], 60.0);
    CLOSE(r[2], 18.0);
    ((void (*)(double *, double, double, double, double))at[1])(r, 3, 1, 5, 10);
    CLOSE(r[0], 45.0);
    CLOSE(r[1], 120.0);
    double dx[2] = {1, 0}, dy[2] = {0, 1};
    ((void (*)(double *, double, double *, double, double *))at[2])(r, 3, dx, 5, dy);
    CLOSE(r[0], 45.0);
    CLOSE(r[1], 30.0);
    CLOSE(r[2], 9.0);
    // g overwrites what it read: v^2 y at (3, 5); the adjoint of 7.0 is lost.
    double v = 3, dv = 0.5;
    struct {
        void *tape;
        double value;
    } kept_by;
    ((void (*)(void *, double *, double *, double))at[3])(&kept_by, &v, &dv, 5);
    CLOSE(kept_by.value, 45.0);
    CLOSE(v, 7.0);
    ((void (*)(double *, double *, double *, double, double, void *))at[4])(r, &v, &dv, 5, 2, kept_by.tape);
    CLOSE(r[0], 18.0);
    CLOSE(dv, 60.0);
    double xs[2] = {3, 4};
    ((void (*)(double *, double *, double))at[5])(r, xs, 5);
    CLOSE(r[0], 45.0);
    CLOSE(r[1], 80.0);
    // h = special(2x, p) = 4 x^2 p at (3, 5).
    double p = 5, dp = 1;
    ((void (*)(double *, double, double *, double *, double))at[6])(r, 3, &p, &dp, 2);
    CLOSE(r[0], 180.0);
    CLOSE(r[1], 240.0);
    CLOSE(dp, 73.0);
    ((void (*)(double *, double, double *, double))at[7])(r, 3, &p, 1);
    CLOSE(r[1], 120.0);
    ((void (*)(double *, double, double, double *))at[8])(r, 3, 1, &p);
    CLOSE(r[0], 180.0);
    CLOSE(r[1], 120.0);
    LLVMOrcDisposeLLJIT(jit);
    EnzymeFreeTypeTree(again);
    EnzymeFreeTypeTree(address);
    EnzymeFreeTypeTree(number);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
