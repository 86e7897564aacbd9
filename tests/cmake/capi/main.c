// The derivative of x * x at 3, from text.
#include <enzyme/enzyme.h>
#include <stdio.h>

int main(void)
{
    const char text[] = "define double @square(double %x) {\n  %y = fmul double %x, %x\n  ret double %y\n}\n";
    EnzymeContext *context;
    EnzymeModule *module, *derivative;
    EnzymeCode *code;
    void *address;
    EnzymeRequest request = {.size = sizeof request, .function = "square", .mode = EnzymeMode_Tangent};
    if (enzyme_context_new(ENZYME_ABI_VERSION, &context, NULL) ||
        enzyme_module_read(context, text, sizeof text - 1, &module, NULL) ||
        enzyme_differentiate(context, module, &request, &derivative, NULL) ||
        enzyme_compile(derivative, 2, &code, NULL) || enzyme_code_address(code, "square_tangent", &address, NULL))
        return 1;
    printf("%g\n", ((double (*)(double, double))address)(3.0, 1.0));
    return 0;
}
