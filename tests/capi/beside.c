// The library in a process that has another LLVM, and uses it. usage: beside libLLVM-19.so libEnzyme-22.so
#include "capi.h"

#include <dlfcn.h>

static const char text[] = "define double @square(double %x) {\n  %y = fmul double %x, %x\n  ret double %y\n}\n";

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fprintf(stderr, "%s is missing\n", name);
    return found;
}

// What the other LLVM says of its version.
static unsigned version_of(void *llvm)
{
    void (*version)(unsigned *, unsigned *, unsigned *) =
        (void (*)(unsigned *, unsigned *, unsigned *))symbol(llvm, "LLVMGetVersion");
    unsigned major = 0, minor = 0, patch = 0;
    if (version)
        version(&major, &minor, &patch);
    return major;
}

// Text to a module of the other LLVM, and its size as bitcode.
static size_t use(void *llvm)
{
    void *(*context_new)(void) = (void *(*)(void))symbol(llvm, "LLVMContextCreate");
    void (*context_free)(void *) = (void (*)(void *))symbol(llvm, "LLVMContextDispose");
    void *(*buffer_of)(const char *, size_t, const char *) =
        (void *(*)(const char *, size_t, const char *))symbol(llvm, "LLVMCreateMemoryBufferWithMemoryRangeCopy");
    int (*parse)(void *, void *, void **, char **) = (int (*)(void *, void *, void **, char **))symbol(llvm, "LLVMParseIRInContext");
    void *(*write)(void *) = (void *(*)(void *))symbol(llvm, "LLVMWriteBitcodeToMemoryBuffer");
    size_t (*size_of)(void *) = (size_t(*)(void *))symbol(llvm, "LLVMGetBufferSize");
    void *module = NULL, *context = context_new();
    char *message = NULL;
    CHECK(parse(context, buffer_of(text, sizeof text - 1, "text"), &module, &message) == 0);
    size_t size = module ? size_of(write(module)) : 0;
    void (*module_free)(void *) = (void (*)(void *))symbol(llvm, "LLVMDisposeModule");
    if (module)
        module_free(module);
    context_free(context);
    return size;
}

#define FUNCTION(result, name, ...) result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))symbol(enzyme, #name)

int main(int argc, char **argv)
{
    void *llvm = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    void *enzyme = llvm ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!enzyme) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    CHECK(version_of(llvm) != 22 && use(llvm) > 0);
    FUNCTION(EnzymeStatus, enzyme_context_new, uint32_t, EnzymeContext **, EnzymeError **);
    FUNCTION(EnzymeStatus, enzyme_module_read, EnzymeContext *, const void *, size_t, EnzymeModule **, EnzymeError **);
    FUNCTION(EnzymeStatus, enzyme_differentiate, EnzymeContext *, const EnzymeModule *, const EnzymeRequest *, EnzymeModule **,
             EnzymeError **);
    FUNCTION(EnzymeStatus, enzyme_compile, const EnzymeModule *, uint32_t, EnzymeCode **, EnzymeError **);
    FUNCTION(EnzymeStatus, enzyme_code_address, const EnzymeCode *, const char *, void **, EnzymeError **);
    EnzymeContext *context = NULL;
    EnzymeModule *module = NULL, *derivative = NULL;
    EnzymeCode *code = NULL;
    EnzymeRequest request = {.size = sizeof request, .function = "square"};
    void *address = NULL;
    CHECK(enzyme_context_new(ENZYME_ABI_VERSION, &context, NULL) == EnzymeStatus_Ok);
    CHECK(enzyme_module_read(context, text, sizeof text - 1, &module, NULL) == EnzymeStatus_Ok);
    CHECK(enzyme_differentiate(context, module, &request, &derivative, NULL) == EnzymeStatus_Ok);
    CHECK(enzyme_compile(derivative, 2, &code, NULL) == EnzymeStatus_Ok);
    CHECK(enzyme_code_address(code, "square_gradient", &address, NULL) == EnzymeStatus_Ok);
    if (address) {
        double dx = 0.0;
        ((void (*)(double, double *))address)(3.0, &dx);
        CHECK(dx == 6.0);
    }
    CHECK(use(llvm) > 0);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
