// What the programs that play a compiler share: a module that is lent, what is told, and code that is made of it.
#ifndef LENDER_H
#define LENDER_H

#include <enzyme/compiler.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Short words for what the tables below are made of.
enum { OUT_DIFF = DFT_OUT_DIFF, DUP_ARG = DFT_DUP_ARG, CONSTANT = DFT_CONSTANT, DUP_NONEED = DFT_DUP_NONEED };
enum { FORWARD = DEM_ForwardMode, PRIMAL = DEM_ReverseModePrimal, REVERSE = DEM_ReverseModeGradient, COMBINED = DEM_ReverseModeCombined };

static int failures, told;
static char last[4096];

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)
// Rounding alone lies between what is compared: both are sums and products of a few numbers.
#define CLOSE(got, want) CHECK(fabs((got) - (want)) <= 1e-12 * (1.0 + fabs(want)))

static inline LLVMValueRef on_error(const char *text, LLVMValueRef value, unsigned kind, const void *data, LLVMValueRef more,
                             LLVMBuilderRef builder)
{
    (void)value, (void)kind, (void)data, (void)more, (void)builder;
    snprintf(last, sizeof last, "%s", text);
    told++;
    return NULL;
}

static LLVMContextRef context;
static LLVMOrcThreadSafeContextRef safe;
static LLVMOrcLLJITRef jit;
static LLVMModuleRef module;

// `void name(ptr result, the parameters of the derivative)`: a function that C can call, whatever the derivative returns. Parameters that
// are arrays come by address.
static inline void expose(LLVMValueRef derivative, const char *name)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(context, 0), type = LLVMGlobalGetValueType(derivative);
    unsigned count = LLVMCountParamTypes(type);
    LLVMTypeRef wanted[16], given[17] = {ptr};
    LLVMGetParamTypes(type, wanted);
    for (unsigned n = 0; n < count; n++)
        given[n + 1] = LLVMGetTypeKind(wanted[n]) == LLVMArrayTypeKind ? ptr : wanted[n];
    LLVMValueRef function =
        LLVMAddFunction(module, name, LLVMFunctionType(LLVMVoidTypeInContext(context), given, count + 1, 0));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, function, ""));
    LLVMValueRef args[16];
    for (unsigned n = 0; n < count; n++) {
        args[n] = LLVMGetParam(function, n + 1);
        if (given[n + 1] != wanted[n])
            args[n] = LLVMBuildLoad2(b, wanted[n], args[n], "");
    }
    LLVMValueRef out = LLVMBuildCall2(b, type, derivative, args, count, "");
    if (LLVMGetTypeKind(LLVMTypeOf(out)) != LLVMVoidTypeKind)
        LLVMBuildStore(b, out, LLVMGetParam(function, 0));
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

// Reads a module, and lets what goes wrong be told to `on_error`.
static inline int lend(const char *text)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    safe = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context = LLVMContextCreate());
    LLVMMemoryBufferRef memory = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "source");
    char *problem = NULL;
    if (LLVMParseIRInContext(context, memory, &module, &problem)) {
        fprintf(stderr, "%s\n", problem);
        return 0;
    }
    CustomErrorHandler = on_error;
    return 1;
}

// Hands the module to ORC, and looks functions of it up.
static inline int compile(const char *const *names, LLVMOrcExecutorAddress *at, unsigned count)
{
    CHECK(!LLVMVerifyModule(module, LLVMPrintMessageAction, NULL));
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit, NULL);
    LLVMOrcDefinitionGeneratorRef process;
    if (!error)
        error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL);
    if (!error) {
        LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
        error = LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit),
                                            LLVMOrcCreateNewThreadSafeModule(module, safe));
        LLVMOrcDisposeThreadSafeContext(safe);
    }
    for (unsigned n = 0; n < count && !error; n++)
        error = LLVMOrcLLJITLookup(jit, &at[n], names[n]);
    if (error)
        fprintf(stderr, "%s\n", LLVMGetErrorMessage(error));
    return !error;
}

#endif
