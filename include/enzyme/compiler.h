// The reference's C interface for compilers: derivatives of functions in modules that the caller holds through LLVM-C, written into
// these modules.
//
//   EnzymeLogicRef logic = CreateEnzymeLogic(1);
//   EnzymeTypeAnalysisRef types = CreateTypeAnalysis(logic, NULL, NULL, 0);
//   LLVMValueRef derivative = EnzymeCreatePrimalAndGradient(logic, NULL, NULL, function, DFT_OUT_DIFF, activities, 2, types, ...);
//
// Both sides use the same shared libLLVM. References of LLVM-C are null or what LLVM-C gave, texts are null or end with a zero, arrays are
// as long as is said, and what is null where something is needed is an error. Handles of Enzyme are numbers that are looked up: null and freed ones are errors. What goes wrong is
// told to `CustomErrorHandler`, or on standard error if that is null, and answered with null. docs/capi.md says which functions are
// not there. Link with -lEnzyme-22 and -lLLVM-22.

#ifndef ENZYME_COMPILER_H
#define ENZYME_COMPILER_H

// Made by `cargo xtask generate` from the crate in capi: not to be edited.

#include <llvm-c/Types.h>
#include <stddef.h>
#include <stdint.h>

typedef struct EnzymeOpaqueLogic *EnzymeLogicRef;
typedef struct EnzymeOpaqueTypeAnalysis *EnzymeTypeAnalysisRef;
typedef struct EnzymeOpaqueAugmentedReturn *EnzymeAugmentedReturnPtr;
typedef struct EnzymeOpaqueTypeAnalyzer *EnzymeTypeAnalyzerRef;
typedef struct EnzymeOpaqueGradientUtils *EnzymeGradientUtilsRef;
typedef struct EnzymeOpaqueTraceInterface *EnzymeTraceInterfaceRef;
typedef struct EnzymeTypeTree *CTypeTreeRef;

// CConcreteType
enum {
  DT_Anything, DT_Integer, DT_Pointer, DT_Half, DT_Float, DT_Double, DT_Unknown, DT_X86_FP80, DT_BFloat16, DT_FP128
};
// CValueType
enum { VT_None, VT_Primal, VT_Shadow, VT_Both };
// CDIFFE_TYPE
enum { DFT_OUT_DIFF, DFT_DUP_ARG, DFT_CONSTANT, DFT_DUP_NONEED };
// CBATCH_TYPE
enum { BT_SCALAR, BT_VECTOR };
// CDerivativeMode
enum {
  DEM_ForwardMode, DEM_ReverseModePrimal, DEM_ReverseModeGradient, DEM_ReverseModeCombined, DEM_ForwardModeSplit,
  DEM_ForwardModeError
};
// ErrorType
enum {
  ET_NoDerivative, ET_NoShadow, ET_IllegalTypeAnalysis, ET_NoType, ET_IllegalFirstPointer, ET_InternalError,
  ET_TypeDepthExceeded, ET_MixedActivityError, ET_IllegalReplaceFicticiousPHIs, ET_GetIndexError, ET_NoTruncate,
  ET_GCRewrite, ET_NaNError
};

// An option: its address is its name.
typedef struct EnzymeOption EnzymeOption;
// A function that is kept and not called.
typedef void (*EnzymeHook)(void);


typedef struct IntList {
  int64_t *data;
  size_t size;
} IntList;

typedef uint8_t (*CustomRuleType)(int, CTypeTreeRef, CTypeTreeRef*, struct IntList*, size_t, LLVMValueRef);

typedef unsigned int CDIFFE_TYPE;

typedef unsigned int CDerivativeMode;

typedef struct CFnTypeInfo {
  CTypeTreeRef *Arguments;
  CTypeTreeRef Return;
  struct IntList *KnownValues;
} CFnTypeInfo;

typedef unsigned int CBATCH_TYPE;

typedef unsigned int CConcreteType;

typedef unsigned int CValueType;

typedef uint8_t (*CustomAugmentedFunctionForward)(LLVMBuilderRef,
                                                  LLVMValueRef,
                                                  EnzymeGradientUtilsRef,
                                                  LLVMValueRef*,
                                                  LLVMValueRef*,
                                                  LLVMValueRef*);

typedef void (*CustomFunctionReverse)(LLVMBuilderRef, LLVMValueRef, EnzymeGradientUtilsRef, LLVMValueRef);

typedef uint8_t (*CustomFunctionForward)(LLVMBuilderRef,
                                         LLVMValueRef,
                                         EnzymeGradientUtilsRef,
                                         LLVMValueRef*,
                                         LLVMValueRef*);

typedef uint8_t (*CustomFunctionDiffUse)(LLVMValueRef,
                                         EnzymeGradientUtilsRef,
                                         LLVMValueRef,
                                         uint8_t,
                                         CDerivativeMode,
                                         uint8_t*);

typedef LLVMValueRef (*CustomShadowAlloc)(LLVMBuilderRef, LLVMValueRef, size_t, LLVMValueRef*, EnzymeGradientUtilsRef);

typedef LLVMValueRef (*CustomShadowFree)(LLVMBuilderRef, LLVMValueRef);

typedef unsigned int CProbProgMode;

typedef unsigned int ErrorType;

typedef LLVMValueRef (*CustomErrorHandlerFunction)(const char*,
                                                   LLVMValueRef,
                                                   ErrorType,
                                                   const void*,
                                                   LLVMValueRef,
                                                   LLVMBuilderRef);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes an engine. Optimisation of derivatives does not depend on `PostOpt`: they come optimised as the functions of a module
// are at level 2.
EnzymeLogicRef CreateEnzymeLogic(uint8_t PostOpt);

// Forgets what was made: the functions stay in their modules.
void ClearEnzymeLogic(EnzymeLogicRef Ref);

// Does nothing: no prepared functions are left in modules.
void EnzymeLogicErasePreprocessedFunctions(EnzymeLogicRef Ref);

// Frees an engine, and the handles that it gave. Null and freed handles are ignored.
void FreeEnzymeLogic(EnzymeLogicRef Ref);

// Keeps an address of the compiler's with an engine.
void EnzymeLogicSetExternalContext(EnzymeLogicRef Ref, void *ExternalContext);

// The address that the compiler keeps with an engine.
void *EnzymeLogicGetExternalContext(EnzymeLogicRef Ref);

// Makes a type analysis. The engine infers types itself: rules for types are taken and not called.
EnzymeTypeAnalysisRef CreateTypeAnalysis(EnzymeLogicRef Log,
                                         char **customRuleNames,
                                         CustomRuleType *customRules,
                                         size_t numRules);

// Forgets what a type analysis found, which is nothing here.
void ClearTypeAnalysis(EnzymeTypeAnalysisRef TAR);

// Frees a type analysis. Null and freed handles are ignored.
void FreeTypeAnalysis(EnzymeTypeAnalysisRef TAR);

// The engine of a type analysis.
EnzymeLogicRef EnzymeTypeAnalysisGetLogic(EnzymeTypeAnalysisRef TAR);

// Writes the forward derivative of `todiff` into its module. Its parameters are those of `todiff`, each that is duplicated followed by
// its tangent, `[width x T]` for several lanes; it returns the value if `returnValue`, and the tangent if `retType` is
// duplicated, both as a structure. Null if it is refused.
LLVMValueRef EnzymeCreateForwardDiff(EnzymeLogicRef Logic,
                                     LLVMValueRef request_req,
                                     LLVMBuilderRef request_ip,
                                     LLVMValueRef todiff,
                                     CDIFFE_TYPE retType,
                                     CDIFFE_TYPE *constant_args,
                                     size_t constant_args_size,
                                     EnzymeTypeAnalysisRef TA,
                                     uint8_t returnValue,
                                     CDerivativeMode mode,
                                     uint8_t freeMemory,
                                     uint8_t runtimeActivity,
                                     uint8_t strongZero,
                                     unsigned int width,
                                     LLVMTypeRef additionalArg,
                                     struct CFnTypeInfo typeInfo,
                                     uint8_t subsequent_calls_may_write,
                                     uint8_t *_overwritten_args,
                                     size_t overwritten_args_size,
                                     EnzymeAugmentedReturnPtr augmented);

// Writes the augmented function of `todiff`, which runs it and keeps what the reverse function needs on a tape, a pointer. Null if it is
// refused. The handle lives as long as the engine, and until that is cleared.
EnzymeAugmentedReturnPtr EnzymeCreateAugmentedPrimal(EnzymeLogicRef Logic,
                                                     LLVMValueRef request_req,
                                                     LLVMBuilderRef request_ip,
                                                     LLVMValueRef todiff,
                                                     CDIFFE_TYPE retType,
                                                     CDIFFE_TYPE *constant_args,
                                                     size_t constant_args_size,
                                                     EnzymeTypeAnalysisRef TA,
                                                     uint8_t returnUsed,
                                                     uint8_t shadowReturnUsed,
                                                     struct CFnTypeInfo typeInfo,
                                                     uint8_t subsequent_calls_may_write,
                                                     uint8_t *_overwritten_args,
                                                     size_t overwritten_args_size,
                                                     uint8_t *_nowrite_shadows,
                                                     size_t nowrite_shadows_size,
                                                     uint8_t forceAnonymousTape,
                                                     uint8_t runtimeActivity,
                                                     uint8_t strongZero,
                                                     unsigned int width,
                                                     uint8_t AtomicAdd);

// Writes a reverse derivative of `todiff`. Its parameters are those of `todiff`, each that is duplicated followed by its shadow; then the
// adjoint of the result if `retType` is `DFT_OUT_DIFF`; then, with `augmented` in mode `DEM_ReverseModeGradient`, the tape. It returns a
// structure of the value, if `returnValue` in mode `DEM_ReverseModeCombined`, and the adjoint of each active parameter; nothing if
// there are none. With `freeMemory` 0 it leaves the tape for another call; a combined derivative has none to leave. Null if it is
// refused.
LLVMValueRef EnzymeCreatePrimalAndGradient(EnzymeLogicRef Logic,
                                           LLVMValueRef request_req,
                                           LLVMBuilderRef request_ip,
                                           LLVMValueRef todiff,
                                           CDIFFE_TYPE retType,
                                           CDIFFE_TYPE *constant_args,
                                           size_t constant_args_size,
                                           EnzymeTypeAnalysisRef TA,
                                           uint8_t returnValue,
                                           uint8_t dretUsed,
                                           CDerivativeMode mode,
                                           uint8_t runtimeActivity,
                                           uint8_t strongZero,
                                           unsigned int width,
                                           uint8_t freeMemory,
                                           LLVMTypeRef additionalArg,
                                           uint8_t forceAnonymousTape,
                                           struct CFnTypeInfo typeInfo,
                                           uint8_t subsequent_calls_may_write,
                                           uint8_t *_overwritten_args,
                                           size_t overwritten_args_size,
                                           EnzymeAugmentedReturnPtr augmented,
                                           uint8_t AtomicAdd);

// Writes a function that runs `tobatch` for `width` lanes: parameters that are `BT_VECTOR` are arrays of a value for each lane, and so is
// the result. Null if it is refused.
LLVMValueRef EnzymeCreateBatch(EnzymeLogicRef Logic,
                               LLVMValueRef request_req,
                               LLVMBuilderRef request_ip,
                               LLVMValueRef tobatch,
                               unsigned int width,
                               CBATCH_TYPE *arg_types,
                               size_t arg_types_size,
                               CBATCH_TYPE retType);

// The augmented function of a split derivative.
LLVMValueRef EnzymeExtractFunctionFromAugmentation(EnzymeAugmentedReturnPtr ret);

// The type of the tape as the augmented function returns it, a pointer.
LLVMTypeRef EnzymeExtractTapeTypeFromAugmentation(EnzymeAugmentedReturnPtr ret);

// Null: the tape stays what the augmented function returns.
LLVMTypeRef EnzymeExtractUnderlyingTapeTypeFromAugmentation(EnzymeAugmentedReturnPtr ret);

// Where tape, value and shadow are in what the augmented function returns: `existed` says whether there is one, `data` which field of the
// structure it is, -1 if it is all that is returned.
void EnzymeExtractReturnInfo(EnzymeAugmentedReturnPtr ret,
                             int64_t *data,
                             uint8_t *existed,
                             size_t len);

// An empty tree.
CTypeTreeRef EnzymeNewTypeTree(void);

// A tree that says what a value as a whole is. The context is not used.
CTypeTreeRef EnzymeNewTypeTreeCT(CConcreteType CT, LLVMContextRef ctx);

// A copy of a tree.
CTypeTreeRef EnzymeNewTypeTreeTR(CTypeTreeRef CTR);

// Frees a tree. Null and freed handles are ignored.
void EnzymeFreeTypeTree(CTypeTreeRef CTT);

// Makes `dst` what `src` is; whether that changed it.
uint8_t EnzymeSetTypeTree(CTypeTreeRef dst, CTypeTreeRef src);

// Adds what `src` says to `dst`; whether that changed it. A contradiction changes nothing and is told.
uint8_t EnzymeMergeTypeTree(CTypeTreeRef dst, CTypeTreeRef src);

// As `EnzymeMergeTypeTree`; whether there was no contradiction goes to `legalP`, and none is told.
uint8_t EnzymeCheckedMergeTypeTree(CTypeTreeRef dst, CTypeTreeRef src, uint8_t *legalP);

// Makes a tree that of what holds its value at offset `x`, or at every offset if that is -1.
void EnzymeTypeTreeOnlyEq(CTypeTreeRef CTT, int64_t x);

// Makes a tree that of what its value holds at offset 0.
void EnzymeTypeTreeData0Eq(CTypeTreeRef CTT);

// Makes a tree that of the `size` bytes behind the address at offset 0.
void EnzymeTypeTreeLookupEq(CTypeTreeRef CTT, int64_t size, const char *dl);

// Writes -1 where all offsets below `size` are alike.
void EnzymeTypeTreeCanonicalizeInPlace(CTypeTreeRef CTT, int64_t size, const char *dl);

// What the value at offset 0 is.
CConcreteType EnzymeTypeTreeInner0(CTypeTreeRef CTT);

// Keeps what lies in the `maxSize` bytes from `offset` on, or in all of them if that is -1, and moves it to `addOffset`.
void EnzymeTypeTreeShiftIndiciesEq(CTypeTreeRef CTT,
                                   const char *datalayout,
                                   int64_t offset,
                                   int64_t maxSize,
                                   uint64_t addOffset);

// States a type of a path of offsets. The context is not used.
void EnzymeTypeTreeInsertEq(CTypeTreeRef CTT, const int64_t *indices, size_t len, CConcreteType ct, LLVMContextRef ctx);

// The text of a tree, as `{[-1]:Pointer, [-1,0]:Float@double}`; free it with `EnzymeStringFree`.
const char *EnzymeTypeTreeToString(CTypeTreeRef src);

// Frees a text that this interface gave. Null is ignored.
void EnzymeStringFree(const char *cstr);

// As `EnzymeStringFree`.
void EnzymeTypeTreeToStringFree(const char *cstr);

// A tree as metadata.
LLVMValueRef EnzymeTypeTreeToMD(CTypeTreeRef CTR, LLVMContextRef ctx);

// The tree that metadata says.
CTypeTreeRef EnzymeTypeTreeFromMD(LLVMValueRef Val);

// The number of lanes: 1, since a rule is called for each.
uint64_t EnzymeGradientUtilsGetWidth(EnzymeGradientUtilsRef gutils);

// Which part is written: `DEM_ForwardMode`, `DEM_ReverseModePrimal` (augmented) or `DEM_ReverseModeGradient`.
CDerivativeMode EnzymeGradientUtilsGetMode(EnzymeGradientUtilsRef gutils);

// The engine.
EnzymeLogicRef EnzymeGradientUtilsGetLogic(EnzymeGradientUtilsRef gutils);

// The address that the compiler keeps with the engine.
void *EnzymeGradientUtilsGetExternalContext(EnzymeGradientUtilsRef gutils);

// 0: which memory has a shadow is known when the handler is asked to write for it.
uint8_t EnzymeGradientUtilsGetRuntimeActivity(EnzymeGradientUtilsRef gutils);

// 0: what a rule computes is what it is written to.
uint8_t EnzymeGradientUtilsGetStrongZero(EnzymeGradientUtilsRef gutils);

// 0: one thread adds to adjoints.
uint8_t EnzymeGradientUtilsGetAtomicAdd(EnzymeGradientUtilsRef gutils);

// The type of a shadow: `T` itself, in one lane.
LLVMTypeRef EnzymeGradientUtilsGetShadowType(EnzymeGradientUtilsRef gutils, LLVMTypeRef T);

// Where a value of the call is in the function at hand: a parameter, the result, or a constant.
LLVMValueRef EnzymeGradientUtilsNewFromOriginal(EnzymeGradientUtilsRef gutils, LLVMValueRef val);

// Says where a value of the call is from here on.
void EnzymeReplaceOriginalToNew(EnzymeGradientUtilsRef gutils, LLVMValueRef origC, LLVMValueRef repC);

// A value of the function at hand, where it is used: itself.
LLVMValueRef EnzymeGradientUtilsLookup(EnzymeGradientUtilsRef gutils, LLVMValueRef val, LLVMBuilderRef B);

// The shadow of an address, or the tangent of a number.
LLVMValueRef EnzymeGradientUtilsInvertPointer(EnzymeGradientUtilsRef gutils, LLVMValueRef val, LLVMBuilderRef B);

// The adjoint of a parameter, or of the call.
LLVMValueRef EnzymeGradientUtilsDiffe(EnzymeGradientUtilsRef gutils, LLVMValueRef val, LLVMBuilderRef B);

// Adds to the adjoint of a parameter. `T` is not used: the type of `diffe` is.
void EnzymeGradientUtilsAddToDiffe(EnzymeGradientUtilsRef gutils,
                                   LLVMValueRef val,
                                   LLVMValueRef diffe,
                                   LLVMBuilderRef B,
                                   LLVMTypeRef T);

// Sets the adjoint of a parameter, or of the call.
void EnzymeGradientUtilsSetDiffe(EnzymeGradientUtilsRef gutils, LLVMValueRef val, LLVMValueRef diffe, LLVMBuilderRef B);

// Adds a number to what the shadow of an address points to. `mask` is null and `start` 0; `orig`, `origVal`, `addingType` and `size` are
// not used: the type of `dif` is.
void EnzymeGradientUtilsAddToInvertedPointerDiffe(EnzymeGradientUtilsRef gutils,
                                                  LLVMValueRef orig,
                                                  LLVMValueRef origVal,
                                                  LLVMTypeRef addingType,
                                                  unsigned int start,
                                                  unsigned int size,
                                                  LLVMValueRef origptr,
                                                  LLVMValueRef dif,
                                                  LLVMBuilderRef BuilderM,
                                                  unsigned int align,
                                                  LLVMValueRef mask);

// As `EnzymeGradientUtilsAddToInvertedPointerDiffe`, with a type tree, which is not used.
void EnzymeGradientUtilsAddToInvertedPointerDiffeTT(EnzymeGradientUtilsRef gutils,
                                                    LLVMValueRef orig,
                                                    LLVMValueRef origVal,
                                                    CTypeTreeRef vd,
                                                    unsigned int LoadSize,
                                                    LLVMValueRef origptr,
                                                    LLVMValueRef prediff,
                                                    LLVMBuilderRef BuilderM,
                                                    unsigned int align,
                                                    LLVMValueRef premask);

// Whether a value of the call has no derivative.
uint8_t EnzymeGradientUtilsIsConstantValue(EnzymeGradientUtilsRef gutils, LLVMValueRef val);

// 0: a handler is asked for calls that matter.
uint8_t EnzymeGradientUtilsIsConstantInstruction(EnzymeGradientUtilsRef gutils, LLVMValueRef val);

// What a value of the call is to its derivative.
CDIFFE_TYPE EnzymeGradientUtilsGetDiffeType(EnzymeGradientUtilsRef gutils, LLVMValueRef oval, uint8_t foreignFunction);

// What the result of the call is to its derivative, and whether the result and its shadow are wanted.
CDIFFE_TYPE EnzymeGradientUtilsGetReturnDiffeType(EnzymeGradientUtilsRef gutils,
                                                  LLVMValueRef oval,
                                                  uint8_t *needsPrimal,
                                                  uint8_t *needsShadow,
                                                  CDerivativeMode mode);

// Which arguments of the call may be overwritten later: all, going backward. Whether there is an answer.
uint8_t EnzymeGradientUtilsGetUncacheableArgs(EnzymeGradientUtilsRef gutils,
                                              LLVMValueRef orig,
                                              uint8_t *data,
                                              uint64_t size);

// What is known of the bytes of a value, which is what its type says. Free it with `EnzymeFreeTypeTree`.
CTypeTreeRef EnzymeGradientUtilsAllocAndGetTypeTree(EnzymeGradientUtilsRef gutils, LLVMValueRef val);

// The block for stack slots.
LLVMBasicBlockRef EnzymeGradientUtilsAllocationBlock(EnzymeGradientUtilsRef gutils);

// A new block behind `block`. `forkCache` and `push` are not used: there is one function at hand.
LLVMBasicBlockRef EnzymeGradientUtilsAddReverseBlock(EnzymeGradientUtilsRef gutils,
                                                     LLVMBasicBlockRef block,
                                                     const char *name,
                                                     uint8_t forkCache,
                                                     uint8_t push);

// Says in which block the reverse part ends; without it, where the builder is left.
void EnzymeGradientUtilsSetReverseBlock(EnzymeGradientUtilsRef gutils, LLVMBasicBlockRef block);

// Erases an instruction of the function at hand that nothing uses.
void EnzymeGradientUtilsErase(EnzymeGradientUtilsRef gutils, LLVMValueRef I);

// Puts a value in the place of an instruction of the function at hand.
void EnzymeGradientUtilsReplaceAWithB(EnzymeGradientUtilsRef gutils, LLVMValueRef A, LLVMValueRef B);

// Emits a call of `func`. Calls with operand bundles are refused.
LLVMValueRef EnzymeGradientUtilsCallWithInvertedBundles(EnzymeGradientUtilsRef gutils,
                                                        LLVMValueRef func,
                                                        LLVMTypeRef funcTy,
                                                        LLVMValueRef *args,
                                                        uint64_t args_size,
                                                        LLVMValueRef orig,
                                                        CValueType *valTys,
                                                        uint64_t valTys_size,
                                                        LLVMBuilderRef B,
                                                        uint8_t lookup);

// The shadows that are known, as text; free it with `EnzymeStringFree`.
const char *EnzymeGradientUtilsInvertedPointersToString(EnzymeGradientUtilsRef gutils);

// Registers what writes the augmented and the reverse part of calls of functions with this name, or with this text in the
// attribute `enzyme_math`.
void EnzymeRegisterCallHandler(const char *Name,
                               CustomAugmentedFunctionForward FwdHandle,
                               CustomFunctionReverse RevHandle);

// Registers what writes the tangent of calls of functions with this name, or with this text in the attribute `enzyme_math`.
void EnzymeRegisterFwdCallHandler(const char *Name,
                                  CustomFunctionForward FwdHandle);

// Registers what says which values the reverse part of a call handler uses. It is asked when that part is written; a rule gets all
// arguments of its call, so its answer changes nothing.
void EnzymeRegisterDiffUseCallHandler(const char *Name,
                                      CustomFunctionDiffUse Handle);

// Registers what writes the shadow of memory that functions of this name return, from the arguments of their call, and fills it with
// zeros; and what writes its release where the memory is freed. Without the second it is freed as the memory is.
void EnzymeRegisterAllocationHandler(const char *Name,
                                     CustomShadowAlloc AHandle,
                                     CustomShadowFree FHandle);

// Sets an option that is on or off.
void EnzymeSetCLBool(void *option, uint8_t value);

// Whether an option is on.
uint8_t EnzymeGetCLBool(void *option);

// Sets an option that is a number.
void EnzymeSetCLInteger(void *option, int64_t value);

// What number an option is.
int64_t EnzymeGetCLInteger(void *option);

// Sets an option that is a text; there is none in this library.
void EnzymeSetCLString(void *option, const char *value);

extern LLVMTypeRef enz_help_alloca_type(LLVMValueRef value);

extern LLVMMetadataRef enz_help_scope_domain(const char *name, LLVMContextRef context);

extern LLVMMetadataRef enz_help_scope(LLVMMetadataRef domain, const char *name);

extern LLVMValueRef enz_help_extract(LLVMBuilderRef builder,
                                     LLVMValueRef whole,
                                     const unsigned int *path,
                                     size_t size,
                                     const char *name);

extern LLVMValueRef enz_help_insert(LLVMBuilderRef builder,
                                    LLVMValueRef whole,
                                    LLVMValueRef part,
                                    const unsigned int *path,
                                    size_t size,
                                    const char *name);

extern LLVMValueRef enz_help_gep_offset(LLVMBuilderRef builder, LLVMValueRef gep, LLVMTypeRef ty);

extern uint8_t enz_help_copy_alignment(LLVMValueRef to, LLVMValueRef from);

extern uint8_t enz_help_copy_metadata(LLVMValueRef to, LLVMValueRef from);

extern uint8_t enz_help_take_name(LLVMValueRef to, LLVMValueRef from);

extern uint8_t enz_help_move_before(LLVMValueRef moved, LLVMValueRef place, LLVMBuilderRef builder);

extern uint8_t enz_help_copy_place(LLVMValueRef to, LLVMValueRef from);

extern uint8_t enz_help_set_metadata(LLVMValueRef value, const char *kind, LLVMValueRef metadata);

extern LLVMValueRef enz_help_get_metadata(LLVMValueRef value, const char *kind);

extern uint8_t enz_help_mark(LLVMValueRef value, const char *kind);

extern LLVMTypeRef enz_help_array(LLVMTypeRef ty, uint64_t width);

extern LLVMMetadataRef enz_help_writable_tbaa(LLVMMetadataRef node);

extern uint8_t enz_help_set_called(LLVMValueRef call, LLVMValueRef function, const uint64_t *removed, size_t count);

extern LLVMValueRef enz_help_clone_without(LLVMValueRef function,
                                           uint8_t keep_result,
                                           const uint64_t *removed,
                                           size_t count);

extern void enz_help_dump_value(LLVMValueRef value);

extern void enz_help_dump_type(LLVMTypeRef ty);

extern void enz_help_dump_module(LLVMModuleRef module);

// The type of a shadow for so many lanes: `[width x T]`, or `T` for one.
LLVMTypeRef EnzymeGetShadowType(uint64_t width, LLVMTypeRef T);

// Marks an instruction whose value is to be kept for the reverse sweep. What is kept is decided by cost: nothing looks at the mark.
void EnzymeSetMustCache(LLVMValueRef inst1);

// The metadata of a kind that an instruction or a global has; null if it has none.
LLVMValueRef EnzymeGetStringMD(LLVMValueRef Inst, const char *Kind);

// Whether an allocation is marked to have been on the stack.
uint8_t EnzymeHasFromStack(LLVMValueRef inst1);

// Gives an instruction of a rule the place in the source of one of the call.
void EnzymeGradientUtilsSetDebugLocFromOriginal(EnzymeGradientUtilsRef gutils, LLVMValueRef val, LLVMValueRef orig);

// Prints a module to standard error.
void EnzymeDumpModuleRef(LLVMModuleRef M);

// Prints a value to standard error.
void EnzymeDumpValueRef(LLVMValueRef M);

// Prints a type to standard error.
void EnzymeDumpTypeRef(LLVMTypeRef M);

// Not there.
void AddPreserveNVVMPass(LLVMPassManagerRef PM, uint8_t Begin);

// Not there.
void EnzymeAddAttributorLegacyPass(LLVMPassManagerRef PM);

// Not there.
void RunAttributorOnModule(LLVMModuleRef M0);

// Not there.
void registerEnzymeAndPassPipeline(void *PB, uint8_t augment);

// Not there.
EnzymeTypeAnalyzerRef EnzymeAnalyzeTypes(EnzymeTypeAnalysisRef TAR, struct CFnTypeInfo CTI, LLVMValueRef F);

// Not there.
char *EnzymeTypeAnalyzerToString(EnzymeTypeAnalyzerRef src);

// Not there.
EnzymeLogicRef EnzymeTypeAnalyzerGetLogic(EnzymeTypeAnalyzerRef src);

// Not there.
EnzymeTypeAnalysisRef EnzymeGetTypeAnalysisFromTypeAnalyzer(EnzymeTypeAnalyzerRef TAR);

// Not there.
EnzymeTypeAnalyzerRef EnzymeGradientUtilsTypeAnalyzer(EnzymeGradientUtilsRef G);

// Not there.
void EnzymeGradientUtilsDumpTypeResults(EnzymeGradientUtilsRef gutils);

// Not there.
void EnzymeGradientUtilsEraseWithPlaceholder(EnzymeGradientUtilsRef G,
                                             LLVMValueRef I,
                                             LLVMValueRef orig,
                                             uint8_t erase);

// Not there.
void EnzymeGradientUtilsSubTransferHelper(EnzymeGradientUtilsRef gutils,
                                          CDerivativeMode mode,
                                          LLVMTypeRef secretty,
                                          uint64_t intrinsic,
                                          uint64_t dstAlign,
                                          uint64_t srcAlign,
                                          uint64_t offset,
                                          uint8_t dstConstant,
                                          LLVMValueRef shadow_dst,
                                          LLVMValueRef primal_dst,
                                          uint8_t srcConstant,
                                          LLVMValueRef shadow_src,
                                          LLVMValueRef primal_src,
                                          LLVMValueRef length,
                                          LLVMValueRef isVolatile,
                                          LLVMValueRef MTI,
                                          uint8_t allowForward,
                                          uint8_t shadowsLookedUp);

// Not there.
uint8_t EnzymeBitcodeReplacement(LLVMModuleRef M,
                                 char **FncsNamesToIgnore,
                                 size_t numFncNames,
                                 char ***foundP,
                                 size_t *foundLen);

// Not there.
void EnzymeReplaceFunctionImplementation(LLVMModuleRef M);

// Not there.
void EnzymeRemoveTrivialAtomicIncrements(LLVMValueRef F);

// Not there.
void EnzymeSetForMemSet(LLVMValueRef I);

// Not there.
void EnzymeCloneFunctionDISubprogramInto(LLVMValueRef NF, LLVMValueRef F);

// Not there.
uint8_t EnzymeLowerSparsification(LLVMValueRef F, uint8_t replaceAll);

// Not there.
EnzymeTraceInterfaceRef FindEnzymeStaticTraceInterface(LLVMModuleRef M);

// Not there.
EnzymeTraceInterfaceRef CreateEnzymeStaticTraceInterface(LLVMContextRef C,
                                                         LLVMValueRef getTraceFunction,
                                                         LLVMValueRef getChoiceFunction,
                                                         LLVMValueRef insertCallFunction,
                                                         LLVMValueRef insertChoiceFunction,
                                                         LLVMValueRef insertArgumentFunction,
                                                         LLVMValueRef insertReturnFunction,
                                                         LLVMValueRef insertFunctionFunction,
                                                         LLVMValueRef insertChoiceGradientFunction,
                                                         LLVMValueRef insertArgumentGradientFunction,
                                                         LLVMValueRef newTraceFunction,
                                                         LLVMValueRef freeTraceFunction,
                                                         LLVMValueRef hasCallFunction,
                                                         LLVMValueRef hasChoiceFunction);

// Not there.
EnzymeTraceInterfaceRef CreateEnzymeDynamicTraceInterface(LLVMValueRef interface, LLVMValueRef F);

// Not there.
void FreeTraceInterface(EnzymeTraceInterfaceRef Ref);

// Not there.
LLVMValueRef EnzymeCreateTrace(EnzymeLogicRef Logic,
                               LLVMValueRef request_req,
                               LLVMBuilderRef request_ip,
                               LLVMValueRef totrace,
                               LLVMValueRef *sample_functions,
                               size_t sample_functions_size,
                               LLVMValueRef *observe_functions,
                               size_t observe_functions_size,
                               const char **active_random_variables,
                               size_t active_random_variables_size,
                               CProbProgMode mode,
                               uint8_t autodiff,
                               EnzymeTraceInterfaceRef interface);

// Nothing to do: the engine knows functions by their names.
void EnzymeAttributeKnownFunctions(LLVMValueRef FC);

// Nothing to do: what functions write is found out when they are differentiated.
void EnzymeDetectReadonlyOrThrow(LLVMModuleRef M);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ENZYME_COMPILER_H */

#ifdef __cplusplus
extern "C" {
#endif

// The type of what a stack slot holds.
LLVMTypeRef EnzymeAllocaType(LLVMValueRef V);

// A new domain of alias scopes, and a new scope of one.
LLVMMetadataRef EnzymeAnonymousAliasScopeDomain(const char *str, LLVMContextRef ctx);
LLVMMetadataRef EnzymeAnonymousAliasScope(LLVMMetadataRef domain, const char *str);

// Builds an `extractvalue` or `insertvalue` of several indices.
LLVMValueRef EnzymeBuildExtractValue(LLVMBuilderRef B, LLVMValueRef AggVal, unsigned int *Index, unsigned int Size,
                                     const char *Name);
LLVMValueRef EnzymeBuildInsertValue(LLVMBuilderRef B, LLVMValueRef AggVal, LLVMValueRef EltVal, unsigned int *Index,
                                    unsigned int Size, const char *Name);
LLVMValueRef EnzymeInsertValue(LLVMBuilderRef B, LLVMValueRef val, LLVMValueRef val2, unsigned int *sz, int64_t length,
                               const char *name);

// Computes the distance in bytes that a `getelementptr` goes, as an integer of type `T_r`.
LLVMValueRef EnzymeComputeByteOffsetOfGEP(LLVMBuilderRef B_r, LLVMValueRef V_r, LLVMTypeRef T_r);

// A node of TBAA of the same type, whose memory may be written.
LLVMMetadataRef EnzymeMakeNonConstTBAA(LLVMMetadataRef MD);

// A clone of a function without its result unless `keepReturnU`, and without the parameters at `argrem`, numbers that grow. It takes
// the function's name, and says in attributes what it lost.
LLVMValueRef EnzymeCloneFunctionWithoutReturnOrArgs(LLVMValueRef FC, uint8_t keepReturnU, int64_t *argrem,
                                                    int64_t num_argrem);

// Lets a call call another function, without the arguments at `argrem`, numbers that grow.
void EnzymeSetCalledFunction(LLVMValueRef C_CI, LLVMValueRef C_F, int64_t *argrem, int64_t num_argrem);

// Gives a load, store or stack slot the alignment of another; an instruction the metadata of another; moves a name to `inst1`.
void EnzymeCopyAlignment(LLVMValueRef inst1, LLVMValueRef inst2);
void EnzymeCopyMetadata(LLVMValueRef inst1, LLVMValueRef inst2);
void EnzymeTakeName(LLVMValueRef inst1, LLVMValueRef inst2);

// Moves `inst1` before `inst2`. A builder that stands before `inst1` stays behind.
void EnzymeMoveBefore(LLVMValueRef inst1, LLVMValueRef inst2, LLVMBuilderRef B);

// Gives an instruction or a global metadata of a kind; takes it away if `Val` is null.
void EnzymeSetStringMD(LLVMValueRef Inst, const char *Kind, LLVMValueRef Val);

// Called with what goes wrong: the message, the value it is about, an `ErrorType`, null, the value again, and a builder if one was given
// with the request. What it returns is not used.
extern CustomErrorHandlerFunction CustomErrorHandler;

extern EnzymeHook CustomAllocator, CustomDeallocator, CustomRuntimeInactiveError, CustomZero, EnzymeDefaultTapeType,
    EnzymeFixupReturn, EnzymePostCacheStore, EnzymeSanitizeDerivatives, EnzymeShadowAllocRewrite,
    EnzymeUndefinedValueForType;

// Options of the process, for `EnzymeSetCLBool` and kin.
extern EnzymeOption EnzymeFastMath, EnzymeInline, EnzymeJuliaAddrLoad, EnzymeMaxTypeDepth, EnzymeMemmoveWarning,
    EnzymeNameInstructions, EnzymeNonPower2Cache, EnzymePrint, EnzymePrintActivity, EnzymePrintDiffUse, EnzymePrintPerf,
    EnzymePrintType, EnzymePrintUnnecessary, EnzymeStrictAliasing, EnzymeTypeWarning, EnzymeZeroCache, MaxTypeOffset,
    looseTypeAnalysis;

#ifdef __cplusplus
}
#endif
