// The C ABI as its callers use it, and as they misuse it. usage: interface functions.bc
#include "capi.h"

enum { N = 5 };

static double energy(double a, const double *x, double *work, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        work[i] = a * x[i] * x[i];
    for (int i = 0; i + 1 < n; i++)
        sum += work[i] * work[i + 1] + a;
    return sum;
}

// The derivative of the energy along a direction, by central differences of fourth order with one step of Richardson's. The
// energy is a polynomial of degree six along every line, for which both together are exact but for rounding.
static double slope(double a, const double *x, double da, const double *dx)
{
    const double steps[4] = {1.0, -1.0, 2.0, -2.0}, weights[4] = {8.0, -8.0, -1.0, 1.0};
    double work[N], moved[N], fourth[2], h = 0.25;
    for (int k = 0; k < 2; k++, h *= 2.0) {
        double sum = 0.0;
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < N; i++)
                moved[i] = x[i] + steps[s] * h * dx[i];
            sum += weights[s] * energy(a + steps[s] * h * da, moved, work, N);
        }
        fourth[k] = sum / (12.0 * h);
    }
    return (16.0 * fourth[0] - fourth[1]) / 15.0;
}

static void gradients(EnzymeContext *context, EnzymeModule *module)
{
    const uint32_t activities[] = {EnzymeActivity_Active, EnzymeActivity_Active, EnzymeActivity_NoNeed, EnzymeActivity_Const};
    EnzymeRequest request = {.size = sizeof request, .function = "energy", .name = "energy_adjoint", .flags = ENZYME_WITH_VALUE};
    EnzymeCode *code = NULL;
    double a = 0.7, x[N], work[N], da = 0.0, dx[N] = {0}, dwork[N] = {0};
    request.activities = activities;
    request.num_activities = 4;
    for (int i = 0; i < N; i++)
        x[i] = 0.5 + 0.25 * i;
    double (*adjoint)(double, double *, const double *, double *, double *, double *, int) =
        (double (*)(double, double *, const double *, double *, double *, double *, int))derivative_of(
            context, module, &request, "energy_adjoint", &code);
    if (!adjoint)
        return;
    double value = adjoint(a, &da, x, dx, work, dwork, N);
    CLOSE(value, energy(a, x, work, N));
    for (int i = 0; i < N; i++) {
        double unit[N] = {0};
        unit[i] = 1.0;
        CLOSE(dx[i], slope(a, x, 0.0, unit));
        CHECK(dwork[i] == 0.0);
    }
    double none[N] = {0};
    CLOSE(da, slope(a, x, 1.0, none));
    // Adjoints are added.
    adjoint(a, &da, x, dx, work, dwork, N);
    CLOSE(da, 2.0 * slope(a, x, 1.0, none));
    enzyme_code_free(code);
}

static void tangents(EnzymeContext *context, EnzymeModule *module)
{
    EnzymeRequest request = {.size = sizeof request, .function = "energy", .mode = EnzymeMode_Tangent};
    EnzymeCode *code = NULL;
    double a = 0.7, x[N], dx[2][N], work[N], dwork[2][N] = {{0}}, out[2] = {0}, value = 0.0;
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 - 0.125 * i;
        dx[0][i] = 1.0 + i;
        dx[1][i] = -0.5 * i;
    }
    double (*tangent)(double, double, const double *, const double *, double *, double *, int) =
        (double (*)(double, double, const double *, const double *, double *, double *, int))derivative_of(
            context, module, &request, "energy_tangent", &code);
    if (tangent)
        CLOSE(tangent(a, 0.5, x, dx[0], work, dwork[0], N), slope(a, x, 0.5, dx[0]));
    enzyme_code_free(code);

    request.width = 2;
    request.flags = ENZYME_WITH_VALUE;
    request.name = "two";
    void (*lanes)(double, double, double, const double *, const double *, const double *, double *, double *, double *, int,
                  double *, double *, double *) =
        (void (*)(double, double, double, const double *, const double *, const double *, double *, double *, double *, int,
                  double *, double *, double *))derivative_of(context, module, &request, "two", &code);
    if (lanes) {
        lanes(a, 0.5, -1.0, x, dx[0], dx[1], work, dwork[0], dwork[1], N, &out[0], &out[1], &value);
        CLOSE(out[0], slope(a, x, 0.5, dx[0]));
        CLOSE(out[1], slope(a, x, -1.0, dx[1]));
        CLOSE(value, energy(a, x, work, N));
    }
    enzyme_code_free(code);
}

static void other_shapes(EnzymeContext *context, EnzymeModule *module)
{
    EnzymeRequest request = {.size = sizeof request, .function = "small"};
    EnzymeCode *code = NULL;
    void (*small)(float, float *, float, float *) =
        (void (*)(float, float *, float, float *))derivative_of(context, module, &request, "small_gradient", &code);
    if (small) {
        float dx = 0.0f, dy = 0.0f;
        small(3.0f, &dx, 2.0f, &dy);
        CHECK(dx == 12.0f && dy == 9.0f);
    }
    enzyme_code_free(code);

    request.function = "scale";
    void (*scale)(double *, double *, double, double *, int) =
        (void (*)(double *, double *, double, double *, int))derivative_of(context, module, &request, "scale_gradient", &code);
    if (scale) {
        double x[2] = {3.0, 4.0}, dx[2] = {1.0, 10.0}, dfactor = 0.0;
        scale(x, dx, 2.0, &dfactor, 2);
        CHECK(x[0] == 6.0 && x[1] == 8.0);
        CHECK(dx[0] == 2.0 && dx[1] == 20.0 && dfactor == 43.0);
    }
    enzyme_code_free(code);
}

// A derivative goes out as bytes and comes in again, and is differentiated once more.
static void bytes(EnzymeContext *context, EnzymeModule *module)
{
    EnzymeRequest request = {.size = sizeof request, .function = "small", .mode = EnzymeMode_Tangent, .name = "first"};
    EnzymeModule *once = NULL, *again = NULL;
    EnzymeCode *code = NULL;
    EnzymeError *error = NULL;
    size_t size = 0, whole = 0;
    CHECK(enzyme_differentiate(context, module, &request, &once, &error) == EnzymeStatus_Ok);
    CHECK(enzyme_module_bitcode(once, NULL, 0, &size, &error) == EnzymeStatus_Ok && size > 100);
    char *data = malloc(size);
    CHECK(enzyme_module_bitcode(once, data, size, &whole, &error) == EnzymeStatus_Ok && whole == size);
    CHECK(enzyme_module_read(context, data, size, &again, &error) == EnzymeStatus_Ok);
    free(data);
    CHECK(enzyme_module_text(again, NULL, 0, &size, &error) == EnzymeStatus_Ok);
    data = malloc(size + 1);
    CHECK(enzyme_module_text(again, data, size, &whole, &error) == EnzymeStatus_Ok);
    data[size] = 0;
    CHECK(strstr(data, "define float @first(float") != NULL);
    free(data);
    request.function = "first";
    request.mode = EnzymeMode_Gradient;
    request.name = "second";
    void (*second)(float, float *, float, float *, float, float *, float, float *) =
        (void (*)(float, float *, float, float *, float, float *, float, float *))derivative_of(context, again, &request, "second", &code);
    if (second) {
        float d[4] = {0};
        second(3.0f, &d[0], 1.0f, &d[1], 2.0f, &d[2], 0.0f, &d[3]);
        CHECK(d[0] == 4.0f && d[1] == 12.0f && d[2] == 6.0f && d[3] == 9.0f);
    }
    enzyme_code_free(code);
    enzyme_module_free(once);
    enzyme_module_free(again);
}

static void expect(EnzymeStatus status, EnzymeStatus wanted, EnzymeError *error, const char *code, const char *part, int line)
{
    int right = status == wanted && enzyme_error_status(error) == wanted && enzyme_error_count(error) > 0 &&
                strcmp(enzyme_error_code(error, 0), code) == 0 && strstr(enzyme_error_message(error, 0), part);
    if (!right) {
        fprintf(stderr, "line %d: status %d, [%s] %s\n", line, (int)status, enzyme_error_code(error, 0), enzyme_error_message(error, 0));
        failures++;
    }
    enzyme_error_free(error);
}

#define EXPECT(call, wanted, code, part)                                                                               \
    do {                                                                                                               \
        EnzymeError *error = NULL;                                                                                     \
        EnzymeStatus status = call;                                                                                    \
        expect(status, wanted, error, code, part, __LINE__);                                                           \
    } while (0)

static const char disordered[] =
    "define double @f(double %x) !dbg !3 {\n  %b = fadd double %a, %x\n  %a = fmul double %x, %x\n  ret double %b\n}\n"
    "!llvm.module.flags = !{!0}\n!llvm.dbg.cu = !{!1}\n!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
    "!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2, emissionKind: FullDebug)\n"
    "!2 = !DIFile(filename: \"a.c\", directory: \"\")\n"
    "!3 = distinct !DISubprogram(name: \"f\", file: !2, unit: !1, type: !4)\n!4 = !DISubroutineType(types: !{})\n";

static void misuse(EnzymeContext *context, EnzymeModule *module)
{
    EnzymeContext *other = NULL;
    EnzymeModule *out = NULL, *copy = NULL;
    EnzymeCode *code = NULL;
    void *address = NULL;
    size_t size = 0;
    EnzymeRequest request = {.size = sizeof request, .function = "energy"};

    EXPECT(enzyme_context_new(ENZYME_ABI_VERSION + 1, &other, &error), EnzymeStatus_Misuse, "", "version");
    EXPECT(enzyme_context_new(ENZYME_ABI_VERSION, NULL, &error), EnzymeStatus_Misuse, "", "null");
    EXPECT(enzyme_context_set(context, "enzyme-no-such", "1", &error), EnzymeStatus_Misuse, "", "no option");
    EXPECT(enzyme_context_set(context, "enzyme-max-tape", "much", &error), EnzymeStatus_Misuse, "", "cannot be");
    EXPECT(enzyme_context_set(context, NULL, "1", &error), EnzymeStatus_Misuse, "", "null");
    EXPECT(enzyme_module_read(context, "garbage", 7, &out, &error), EnzymeStatus_Malformed, "", "expected");
    EXPECT(enzyme_module_read(context, "BC\xc0\xde garbage", 12, &out, &error), EnzymeStatus_Malformed, "", "");
    EXPECT(enzyme_module_read(context, NULL, 7, &out, &error), EnzymeStatus_Misuse, "", "null");
    EXPECT(enzyme_module_read(context, "", (size_t)-1, &out, &error), EnzymeStatus_Misuse, "", "bytes");
    EXPECT(enzyme_module_read(NULL, "", 0, &out, &error), EnzymeStatus_Misuse, "", "null");
    EXPECT(enzyme_module_read((EnzymeContext *)(void *)module, "", 0, &out, &error), EnzymeStatus_Misuse, "", "no context");
    EXPECT(enzyme_module_read(context, "define void @f() { ret i32 1 }", 30, &out, &error), EnzymeStatus_Malformed, "", "");
    // Debug information is read last, after what is wrong with the code was told.
    EXPECT(enzyme_module_read(context, disordered, sizeof disordered - 1, &out, &error), EnzymeStatus_Malformed, "", "dominate");
    EXPECT(enzyme_differentiate(context, NULL, &request, &out, &error), EnzymeStatus_Misuse, "", "null");
    EXPECT(enzyme_differentiate(context, module, NULL, &out, &error), EnzymeStatus_Misuse, "", "null");
    EXPECT(enzyme_differentiate(context, module, &request, NULL, &error), EnzymeStatus_Misuse, "", "null");
    EXPECT(enzyme_code_address(code, "f", &address, &error), EnzymeStatus_Misuse, "", "null");
    CHECK(enzyme_differentiate(context, module, NULL, &out, NULL) == EnzymeStatus_Misuse);

    // What was freed is known to be so.
    CHECK(enzyme_module_text(module, NULL, 0, &size, NULL) == EnzymeStatus_Ok);
    char *text = malloc(size);
    CHECK(enzyme_module_text(module, text, size, &size, NULL) == EnzymeStatus_Ok);
    CHECK(enzyme_module_read(context, text, size, &copy, NULL) == EnzymeStatus_Ok);
    free(text);
    enzyme_module_free(copy);
    enzyme_module_free(copy);
    EXPECT(enzyme_differentiate(context, copy, &request, &out, &error), EnzymeStatus_Misuse, "", "freed");
    CHECK(enzyme_context_new(ENZYME_ABI_VERSION, &other, NULL) == EnzymeStatus_Ok);
    enzyme_context_free(other);
    EXPECT(enzyme_differentiate(other, module, &request, &out, &error), EnzymeStatus_Misuse, "", "freed");
    CHECK(enzyme_error_count(NULL) == 0 && *enzyme_error_message(NULL, 0) == 0 && enzyme_error_line(NULL, 3) == 0);

    request.size = 0;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Misuse, "", "bytes");
    request.size = sizeof request;
    request.mode = 7;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Misuse, "", "mode");
    request.mode = EnzymeMode_Gradient;
    request.flags = 1u << 31;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Misuse, "", "flags");
    request.flags = 0;
    request.num_activities = 4;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Misuse, "", "null");
    uint32_t activities[] = {EnzymeActivity_Active, EnzymeActivity_Active, EnzymeActivity_Active, EnzymeActivity_Active};
    request.activities = activities;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Refused, "E0114", "parameter 4");
    request.num_activities = 3;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Refused, "E0114", "4 parameters");
    request.num_activities = (size_t)-1;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Misuse, "", "parameters");
    request.num_activities = 3;
    activities[0] = 9;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Misuse, "", "activity");
    request.num_activities = 0;
    request.function = "no_such";
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Refused, "E0114", "no_such");
    request.function = "energy";
    request.name = "small";
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Refused, "E0114", "taken");
    request.name = NULL;
    request.width = 65;
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Refused, "E0114", "lanes");
    request.width = 0;
    request.function = "many";
    EXPECT(enzyme_differentiate(context, module, &request, &out, &error), EnzymeStatus_Refused, "E0114", "variable");
    CHECK(out == NULL);
}

// Refusals name the code, the line and what to do.
static void refusals(EnzymeContext *context, EnzymeModule *module)
{
    EnzymeModule *out = NULL;
    EnzymeError *error = NULL;
    EnzymeRequest request = {.size = sizeof request, .function = "stuck"};
    CHECK(enzyme_differentiate(context, module, &request, &out, &error) == EnzymeStatus_Refused);
    CHECK(enzyme_error_count(error) == 1);
    CHECK(strcmp(enzyme_error_code(error, 0), "E0201") == 0);
    CHECK(strstr(enzyme_error_message(error, 0), "unknown") != NULL);
    CHECK(strstr(enzyme_error_file(error, 0), "functions.c") != NULL);
    CHECK(strcmp(enzyme_error_function(error, 0), "stuck") == 0);
    CHECK(enzyme_error_line(error, 0) == 24 && enzyme_error_column(error, 0) > 0);
    CHECK(*enzyme_error_help(error, 0) != 0);
    CHECK(enzyme_error_note_count(error, 0) > 0 && *enzyme_error_note(error, 0, 0) != 0);
    CHECK(*enzyme_error_note(error, 0, 99) == 0 && *enzyme_error_code(error, 99) == 0);
    enzyme_error_free(error);
    // Code that needs what is not there is refused when it is looked up.
    EnzymeCode *code = NULL;
    void *address = NULL;
    CHECK(enzyme_compile(module, 0, &code, NULL) == EnzymeStatus_Ok);
    EXPECT(enzyme_code_address(code, "no_such", &address, &error), EnzymeStatus_NoCode, "", "no_such");
    EXPECT(enzyme_code_address(code, "stuck", &address, &error), EnzymeStatus_NoCode, "", "needs 'unknown'");
    CHECK(enzyme_code_address(code, "energy", &address, NULL) == EnzymeStatus_Ok);
    enzyme_code_free(code);
    // What the code generator cannot do is an error as well.
    const char asked[] = "define void @f() {\n  call void asm sideeffect \"no_such_instruction\", \"\"()\n  ret void\n}\n";
    CHECK(enzyme_module_read(context, asked, sizeof asked - 1, &out, NULL) == EnzymeStatus_Ok);
    CHECK(enzyme_compile(out, 0, &code, NULL) == EnzymeStatus_Ok);
    EXPECT(enzyme_code_address(code, "f", &address, &error), EnzymeStatus_NoCode, "", "instruction");
    enzyme_code_free(code);
    enzyme_module_free(out);
    CHECK(enzyme_compile(module, 0, &code, NULL) == EnzymeStatus_Ok);
    enzyme_code_free(code);
    EXPECT(enzyme_code_address(code, "energy", &address, &error), EnzymeStatus_Misuse, "", "freed");
}

int main(int argc, char **argv)
{
    EnzymeContext *context = NULL;
    EnzymeModule *module = NULL;
    EnzymeError *error = NULL;
    size_t size = 0;
    void *data = bytes_of(argc > 1 ? argv[1] : "functions.bc", &size);
    CHECK(enzyme_abi_version() == ENZYME_ABI_VERSION && *enzyme_version() != 0);
    CHECK(enzyme_context_new(ENZYME_ABI_VERSION, &context, &error) == EnzymeStatus_Ok);
    CHECK(enzyme_context_set(context, "enzyme-max-tape", "16M", &error) == EnzymeStatus_Ok);
    CHECK(enzyme_module_read(context, data, size, &module, &error) == EnzymeStatus_Ok);
    free(data);
    gradients(context, module);
    tangents(context, module);
    other_shapes(context, module);
    bytes(context, module);
    misuse(context, module);
    refusals(context, module);
    enzyme_module_free(module);
    enzyme_context_free(context);
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
