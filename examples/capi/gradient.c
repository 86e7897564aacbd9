// The gradient of a function in a file of bitcode, called through the JIT; README.md shows how.
#include <enzyme/enzyme.h>
#include <stdio.h>

static char bytes[1 << 20];

int main(int argc, char **argv)
{
    FILE *file = fopen(argc > 1 ? argv[1] : "rosenbrock.bc", "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    EnzymeContext *context;
    EnzymeModule *module, *derivative;
    EnzymeCode *code;
    EnzymeError *error;
    void *address;
    EnzymeRequest request = {.size = sizeof request, .function = "rosenbrock", .flags = ENZYME_WITH_VALUE};
    if (enzyme_context_new(ENZYME_ABI_VERSION, &context, &error) ||
        enzyme_module_read(context, bytes, size, &module, &error) ||
        enzyme_differentiate(context, module, &request, &derivative, &error) ||
        enzyme_compile(derivative, 3, &code, &error) ||
        enzyme_code_address(code, "rosenbrock_gradient", &address, &error)) {
        fprintf(stderr, "%s:%u: %s\n", enzyme_error_file(error, 0), enzyme_error_line(error, 0), enzyme_error_message(error, 0));
        return 1;
    }
    double (*gradient)(const double *x, double *dx, int n) = (double (*)(const double *, double *, int))address;
    double x[3] = {-1.2, 1.0, 0.5}, dx[3] = {0.0, 0.0, 0.0};
    double value = gradient(x, dx, 3);
    printf("f = %.6f, gradient = (%.6f, %.6f, %.6f)\n", value, dx[0], dx[1], dx[2]);
    return 0;
}
