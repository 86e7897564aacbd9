// The interface for compilers, misused: every function that takes a handle or a reference gets a null one, one that was freed and one that
// is of another kind. Each says so through the error handler once, answers with null or 0, and leaves the module as it is.

#include "lender.h"

static const char source[] = "define double @f(double %x, double %y) {\n  %a = fmul double %x, %y\n  ret double %a\n}\n";

// One complaint, and the answer that stands for none.
#define TOLD(call)                                                                                                     \
    do {                                                                                                               \
        const int before = told;                                                                                       \
        call;                                                                                                          \
        CHECK(told == before + 1 && last[0]);                                                                          \
    } while (0)
#define NOTHING(call) TOLD(CHECK(!(call)))
#define SILENT(call)                                                                                                   \
    do {                                                                                                               \
        const int before = told;                                                                                       \
        call;                                                                                                          \
        CHECK(told == before);                                                                                         \
    } while (0)

static uint8_t flags[2];

static void engines(EnzymeLogicRef logic)
{
    TOLD(ClearEnzymeLogic(logic));
    TOLD(EnzymeLogicErasePreprocessedFunctions(logic));
    TOLD(EnzymeLogicSetExternalContext(logic, flags));
    NOTHING(EnzymeLogicGetExternalContext(logic));
    NOTHING(CreateTypeAnalysis(logic, NULL, NULL, 0));
    SILENT(FreeEnzymeLogic(logic));
}

static void analyses(EnzymeTypeAnalysisRef types)
{
    TOLD(ClearTypeAnalysis(types));
    NOTHING(EnzymeTypeAnalysisGetLogic(types));
    SILENT(FreeTypeAnalysis(types));
}

static void requests(EnzymeLogicRef logic, EnzymeTypeAnalysisRef types, LLVMValueRef f, unsigned *activities, size_t count,
                     EnzymeAugmentedReturnPtr split)
{
    CFnTypeInfo info = {NULL, NULL, NULL};
    const CDerivativeMode mode = split ? REVERSE : COMBINED;
    NOTHING(EnzymeCreatePrimalAndGradient(logic, NULL, NULL, f, OUT_DIFF, activities, count, types, 0, 0, mode, 0, 0, 1, 1, NULL, 0, info,
                                          0, flags, 2, split, 0));
    if (split)
        return;
    NOTHING(EnzymeCreateAugmentedPrimal(logic, NULL, NULL, f, OUT_DIFF, activities, count, types, 1, 0, info, 0, flags, 2, flags, 2, 0, 0,
                                        0, 1, 0));
    NOTHING(EnzymeCreateForwardDiff(logic, NULL, NULL, f, OUT_DIFF, activities, count, types, 1, FORWARD, 1, 0, 0, 1, NULL, info, 0, flags,
                                    2, NULL));
}

static void augmentations(EnzymeAugmentedReturnPtr split)
{
    int64_t places[3] = {7, 7, 7};
    uint8_t there[3] = {7, 7, 7};
    NOTHING(EnzymeExtractFunctionFromAugmentation(split));
    NOTHING(EnzymeExtractTapeTypeFromAugmentation(split));
    NOTHING(EnzymeExtractUnderlyingTapeTypeFromAugmentation(split));
    TOLD(EnzymeExtractReturnInfo(split, places, there, 3));
    CHECK(places[0] == 7 && there[2] == 7);
}

static void trees(CTypeTreeRef tree, CTypeTreeRef good)
{
    uint8_t legal = 7;
    int64_t path[1] = {0};
    NOTHING(EnzymeNewTypeTreeTR(tree));
    NOTHING(EnzymeSetTypeTree(tree, good));
    NOTHING(EnzymeSetTypeTree(good, tree));
    NOTHING(EnzymeMergeTypeTree(tree, good));
    NOTHING(EnzymeMergeTypeTree(good, tree));
    NOTHING(EnzymeCheckedMergeTypeTree(good, tree, &legal));
    CHECK(legal == 7);
    TOLD(EnzymeTypeTreeOnlyEq(tree, 0));
    TOLD(EnzymeTypeTreeData0Eq(tree));
    TOLD(EnzymeTypeTreeLookupEq(tree, 8, "e"));
    TOLD(EnzymeTypeTreeCanonicalizeInPlace(tree, 8, NULL));
    TOLD(EnzymeTypeTreeShiftIndiciesEq(tree, NULL, 0, 8, 0));
    TOLD(EnzymeTypeTreeInsertEq(tree, path, 1, 5, context));
    TOLD(CHECK(EnzymeTypeTreeInner0(tree) == 6));
    NOTHING(EnzymeTypeTreeToString(tree));
    NOTHING(EnzymeTypeTreeToMD(tree, context));
    SILENT(EnzymeFreeTypeTree(tree));
}

// What only a callback may ask.
static void rules(EnzymeGradientUtilsRef g, LLVMValueRef value)
{
    TOLD(EnzymeGradientUtilsGetWidth(g));
    TOLD(EnzymeGradientUtilsGetMode(g));
    NOTHING(EnzymeGradientUtilsGetLogic(g));
    NOTHING(EnzymeGradientUtilsGetExternalContext(g));
    NOTHING(EnzymeGradientUtilsGetRuntimeActivity(g));
    NOTHING(EnzymeGradientUtilsGetStrongZero(g));
    NOTHING(EnzymeGradientUtilsGetAtomicAdd(g));
    NOTHING(EnzymeGradientUtilsGetShadowType(g, LLVMDoubleTypeInContext(context)));
    NOTHING(EnzymeGradientUtilsNewFromOriginal(g, value));
    TOLD(EnzymeReplaceOriginalToNew(g, value, value));
    NOTHING(EnzymeGradientUtilsLookup(g, value, NULL));
    NOTHING(EnzymeGradientUtilsInvertPointer(g, value, NULL));
    NOTHING(EnzymeGradientUtilsDiffe(g, value, NULL));
    TOLD(EnzymeGradientUtilsAddToDiffe(g, value, value, NULL, NULL));
    TOLD(EnzymeGradientUtilsSetDiffe(g, value, value, NULL));
    TOLD(EnzymeGradientUtilsAddToInvertedPointerDiffe(g, value, value, NULL, 0, 8, value, value, NULL, 8, NULL));
    TOLD(EnzymeGradientUtilsAddToInvertedPointerDiffeTT(g, value, value, NULL, 8, value, value, NULL, 8, NULL));
    NOTHING(EnzymeGradientUtilsIsConstantValue(g, value));
    NOTHING(EnzymeGradientUtilsIsConstantInstruction(g, value));
    TOLD(CHECK(EnzymeGradientUtilsGetDiffeType(g, value, 0) == CONSTANT));
    TOLD(CHECK(EnzymeGradientUtilsGetReturnDiffeType(g, value, NULL, NULL, COMBINED) == CONSTANT));
    NOTHING(EnzymeGradientUtilsGetUncacheableArgs(g, value, NULL, 0));
    NOTHING(EnzymeGradientUtilsAllocAndGetTypeTree(g, value));
    NOTHING(EnzymeGradientUtilsAllocationBlock(g));
    NOTHING(EnzymeGradientUtilsAddReverseBlock(g, NULL, NULL, 0, 0));
    TOLD(EnzymeGradientUtilsSetReverseBlock(g, NULL));
    TOLD(EnzymeGradientUtilsErase(g, value));
    TOLD(EnzymeGradientUtilsReplaceAWithB(g, value, value));
    NOTHING(EnzymeGradientUtilsCallWithInvertedBundles(g, NULL, NULL, NULL, 0, value, NULL, 0, NULL, 0));
    NOTHING(EnzymeGradientUtilsInvertedPointersToString(g));
    TOLD(EnzymeGradientUtilsSetDebugLocFromOriginal(g, value, value));
}

// References of LLVM-C, which only null ones can be told from good ones.
static void references(void)
{
    NOTHING(EnzymeAllocaType(NULL));
    NOTHING(EnzymeAnonymousAliasScopeDomain(NULL, NULL));
    NOTHING(EnzymeAnonymousAliasScope(NULL, NULL));
    NOTHING(EnzymeBuildExtractValue(NULL, NULL, NULL, 1, NULL));
    NOTHING(EnzymeBuildInsertValue(NULL, NULL, NULL, NULL, 1, NULL));
    NOTHING(EnzymeInsertValue(NULL, NULL, NULL, NULL, -1, NULL));
    NOTHING(EnzymeComputeByteOffsetOfGEP(NULL, NULL, NULL));
    NOTHING(EnzymeMakeNonConstTBAA(NULL));
    NOTHING(EnzymeCloneFunctionWithoutReturnOrArgs(NULL, 0, NULL, 0));
    TOLD(EnzymeSetCalledFunction(NULL, NULL, NULL, 0));
    TOLD(EnzymeCopyAlignment(NULL, NULL));
    TOLD(EnzymeCopyMetadata(NULL, NULL));
    TOLD(EnzymeTakeName(NULL, NULL));
    TOLD(EnzymeMoveBefore(NULL, NULL, NULL));
    TOLD(EnzymeSetStringMD(NULL, NULL, NULL));
    TOLD(EnzymeSetMustCache(NULL));
    SILENT(CHECK(!EnzymeGetStringMD(NULL, NULL) && !EnzymeHasFromStack(NULL) && !EnzymeGetShadowType(2, NULL)));
    SILENT(EnzymeDumpModuleRef(NULL));
    SILENT(EnzymeDumpValueRef(NULL));
    SILENT(EnzymeDumpTypeRef(NULL));
    SILENT(EnzymeStringFree(NULL));
    NOTHING(EnzymeTypeTreeFromMD(NULL));
}

static uint8_t unused(LLVMBuilderRef b, LLVMValueRef call, EnzymeGradientUtilsRef g, LLVMValueRef *normal, LLVMValueRef *shadow,
                      LLVMValueRef *tape)
{
    (void)b, (void)call, (void)g, (void)normal, (void)shadow, (void)tape;
    return 0;
}

int main(void)
{
    if (!lend(source))
        return 2;
    char *before = LLVMPrintModuleToString(module);
    LLVMValueRef f = LLVMGetNamedFunction(module, "f");
    unsigned active[2] = {OUT_DIFF, OUT_DIFF}, wrong[2] = {OUT_DIFF, 9}, duplicated[2] = {DUP_ARG, CONSTANT};
    EnzymeLogicRef logic = CreateEnzymeLogic(0), freed = CreateEnzymeLogic(0);
    EnzymeTypeAnalysisRef types = CreateTypeAnalysis(logic, NULL, NULL, 0), gone = CreateTypeAnalysis(logic, NULL, NULL, 0);
    CTypeTreeRef good = EnzymeNewTypeTree(), tree = EnzymeNewTypeTree();
    FreeEnzymeLogic(freed);
    FreeTypeAnalysis(gone);
    EnzymeFreeTypeTree(tree);

    engines(NULL);
    engines(freed);
    engines((EnzymeLogicRef)types);
    analyses(NULL);
    analyses(gone);
    analyses((EnzymeTypeAnalysisRef)logic);
    NOTHING(CreateTypeAnalysis(logic, NULL, NULL, 1));
    requests(NULL, types, f, active, 2, NULL);
    requests(freed, types, f, active, 2, NULL);
    requests(logic, NULL, f, active, 2, NULL);
    requests(logic, gone, f, active, 2, NULL);
    requests(logic, types, NULL, active, 2, NULL);
    requests(logic, types, f, NULL, 2, NULL);
    requests(logic, types, f, active, 1, NULL);
    requests(logic, types, f, wrong, 2, NULL);
    requests(logic, types, LLVMGetParam(f, 0), active, 2, NULL);
    requests(logic, types, f, active, 2, (EnzymeAugmentedReturnPtr)logic);
    NOTHING(EnzymeCreateBatch(NULL, NULL, NULL, f, 2, active, 2, 1));
    NOTHING(EnzymeCreateBatch(logic, NULL, NULL, NULL, 2, active, 2, 1));
    NOTHING(EnzymeCreateBatch(logic, NULL, NULL, f, 0, active, 2, 1));
    NOTHING(EnzymeCreateBatch(logic, NULL, NULL, f, 2, wrong, 2, 1));
    NOTHING(EnzymeCreateBatch(logic, NULL, NULL, f, 2, NULL, 2, 1));
    CFnTypeInfo info = {NULL, NULL, NULL}, of_freed = {(CTypeTreeRef[]){tree, good}, NULL, NULL};
    NOTHING(EnzymeCreateForwardDiff(logic, NULL, NULL, f, DUP_ARG, duplicated, 2, types, 0, FORWARD, 1, 0, 0, 1, NULL, of_freed, 0, flags,
                                    2, NULL));

    augmentations(NULL);
    augmentations((EnzymeAugmentedReturnPtr)good);
    char *after = LLVMPrintModuleToString(module);
    CHECK(!strcmp(before, after));
    LLVMDisposeMessage(before);
    LLVMDisposeMessage(after);
    // A handle of an augmented function ends with what its engine remembers.
    EnzymeAugmentedReturnPtr split = EnzymeCreateAugmentedPrimal(logic, NULL, NULL, f, OUT_DIFF, active, 2, types, 1, 0, info, 0, flags, 2,
                                                                 flags, 2, 0, 0, 0, 1, 0);
    CHECK(split && EnzymeExtractTapeTypeFromAugmentation(split));
    TOLD(EnzymeExtractReturnInfo(split, NULL, flags, 3));
    requests(logic, types, f, active, 2, split);
    ClearEnzymeLogic(logic);
    augmentations(split);
    requests(logic, types, f, active, 2, split);

    trees(NULL, good);
    trees(tree, good);
    trees((CTypeTreeRef)logic, good);
    NOTHING(EnzymeNewTypeTreeCT(10, context));
    TOLD(EnzymeTypeTreeInsertEq(good, NULL, 1, 5, context));
    NOTHING(EnzymeTypeTreeToMD(good, NULL));
    NOTHING(EnzymeTypeTreeFromMD(f));
    rules(NULL, f);
    rules((EnzymeGradientUtilsRef)(uintptr_t)4711, f);
    rules((EnzymeGradientUtilsRef)logic, f);
    references();

    TOLD(EnzymeRegisterCallHandler(NULL, NULL, NULL));
    TOLD(EnzymeRegisterCallHandler("f", unused, NULL));
    TOLD(EnzymeRegisterFwdCallHandler(NULL, NULL));
    TOLD(EnzymeRegisterFwdCallHandler("f", NULL));
    TOLD(EnzymeRegisterDiffUseCallHandler(NULL, NULL));
    TOLD(EnzymeRegisterDiffUseCallHandler("f", NULL));
    TOLD(EnzymeRegisterAllocationHandler(NULL, NULL, NULL));
    TOLD(EnzymeRegisterAllocationHandler("f", NULL, NULL));
    TOLD(EnzymeSetCLBool(NULL, 1));
    NOTHING(EnzymeGetCLBool(NULL));
    TOLD(EnzymeSetCLString(&EnzymeFastMath, NULL));
    TOLD(EnzymeSetCLString(NULL, "text"));

    EnzymeFreeTypeTree(good);
    FreeTypeAnalysis(types);
    FreeEnzymeLogic(logic);
    LLVMOrcDisposeThreadSafeModule(LLVMOrcCreateNewThreadSafeModule(module, safe));
    LLVMOrcDisposeThreadSafeContext(safe);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
