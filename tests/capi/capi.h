// What the tests of the C ABI share: checks, and bytes of a file.
#ifndef CAPI_H
#define CAPI_H

#include <enzyme/enzyme.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

// Rounding alone lies between what is compared: both are sums of a few products.
#define CLOSE(got, want) CHECK(fabs((got) - (want)) <= 1e-12 * (1.0 + fabs(want)))

static inline void *bytes_of(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    void *bytes = malloc(1 << 20);
    if (!file || !bytes) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

// Says what an error holds, and frees it.
static inline void say(EnzymeError *error)
{
    for (size_t n = 0; n < enzyme_error_count(error); n++)
        fprintf(stderr, "%s:%u: [%s] %s\n", enzyme_error_file(error, n), enzyme_error_line(error, n),
                enzyme_error_code(error, n), enzyme_error_message(error, n));
    enzyme_error_free(error);
}

// The address of the derivative that a request asks for; the code goes to `code`.
static inline void *derivative_of(EnzymeContext *context, EnzymeModule *module, const EnzymeRequest *request,
                                  const char *name, EnzymeCode **code)
{
    EnzymeModule *derivative = NULL;
    EnzymeError *error = NULL;
    void *address = NULL;
    if (enzyme_differentiate(context, module, request, &derivative, &error) ||
        enzyme_compile(derivative, 2, code, &error) || enzyme_code_address(*code, name, &address, &error)) {
        say(error);
        failures++;
    }
    enzyme_module_free(derivative);
    return address;
}

#endif
