// The C interface of Enzyme: derivatives of functions in LLVM IR, asked for by name, as IR or as code to call.
//
//   EnzymeContext *context;  EnzymeModule *module, *derivative;  EnzymeCode *code;  void *gradient;
//   enzyme_context_new(ENZYME_ABI_VERSION, &context, NULL);
//   enzyme_module_read(context, bytes, size, &module, NULL);
//   EnzymeRequest request = {.size = sizeof request, .function = "f", .flags = ENZYME_WITH_VALUE};
//   enzyme_differentiate(context, module, &request, &derivative, &error);
//   enzyme_compile(derivative, 3, &code, &error);
//   enzyme_code_address(code, "f_gradient", &gradient, &error);
//
// Handles are numbers that are looked up: null and freed ones are errors, and nothing worse. Out-parameters come last and are written
// only on success; the error comes behind them, is written only on failure, and may be null. Calls may come from any thread.
// Link with -lEnzyme-22 (or libEnzyme-22.a, libLLVM-22 and the C++ library).

#ifndef ENZYME_ENZYME_H
#define ENZYME_ENZYME_H

// Made by `cargo xtask generate` from the crate in capi: not to be edited.

#include <stddef.h>
#include <stdint.h>

// The version of this interface. It grows when something is taken away or changes its meaning; what is new is found by
// its name.
#define ENZYME_ABI_VERSION 1

// The function's value is wanted, too: a gradient returns it; a tangent stores it through a pointer that is its last parameter.
#define ENZYME_WITH_VALUE 1

// Pointers may turn out at run time to have no shadow of their own.
#define ENZYME_RUNTIME_ACTIVITY 2

// A zero adjoint stays zero through infinite partial derivatives.
#define ENZYME_STRONG_ZERO 4

// How a call ended.
typedef enum EnzymeStatus {
  // All is well.
  EnzymeStatus_Ok = 0,
  // The caller broke a rule of this interface: a null or freed handle, a null pointer, an unknown option or version.
  EnzymeStatus_Misuse = 1,
  // The bytes are no module of LLVM IR.
  EnzymeStatus_Malformed = 2,
  // There is no derivative; the error says why, where and what to do.
  EnzymeStatus_Refused = 3,
  // Native code could not be made, or does not have the symbol.
  EnzymeStatus_NoCode = 4,
  // A defect of this library.
  EnzymeStatus_Internal = 5,
} EnzymeStatus;

// What kind of derivative is asked for.
typedef enum EnzymeMode {
  // Reverse mode. For `double f(double x, double *y, int n)` it is `void g(double x, double *dx, double *y, double *dy, int n)`: adjoints
  // are added to what lies behind `dx` and `dy`, the adjoint of the result is 1.
  EnzymeMode_Gradient = 0,
  // Forward mode. For the same function it is `double t(double x, double dx, double *y, double *dy, int n)`: the tangent of the
  // result is returned, tangents of memory are left behind `dy`.
  EnzymeMode_Tangent = 1,
} EnzymeMode;

// What a parameter is to the derivative.
typedef enum EnzymeActivity {
  // What its type says: floats and pointers are active, integers are constant.
  EnzymeActivity_ByType = 0,
  // Constant: the derivative has the parameter alone.
  EnzymeActivity_Const = 1,
  // Active: behind the parameter come its tangents, or pointers to its adjoints, one for each lane.
  EnzymeActivity_Active = 2,
  // Active memory whose final content is not needed.
  EnzymeActivity_NoNeed = 3,
} EnzymeActivity;

// Native code in this process.
typedef struct EnzymeCode EnzymeCode;

// Settings for what is made with it.
typedef struct EnzymeContext EnzymeContext;

// What went wrong, in one or more items.
typedef struct EnzymeError EnzymeError;

// A module of LLVM IR.
typedef struct EnzymeModule EnzymeModule;

// A derivative that is asked for. Begin with all bytes zero and set what is needed.
typedef struct EnzymeRequest {
  // `sizeof(EnzymeRequest)`: later versions may have more fields.
  size_t size;
  // The symbol of the function, in UTF-8.
  const char *function;
  // The symbol that the derivative gets; null for that of the function and `_gradient` or `_tangent`.
  const char *name;
  // An `EnzymeMode`.
  uint32_t mode;
  // `ENZYME_WITH_VALUE` and kin, or-ed.
  uint32_t flags;
  // One `EnzymeActivity` per parameter; null if all are by type.
  const uint32_t *activities;
  // How many there are; 0 if all are by type.
  size_t num_activities;
  // Lanes, 1 to 64; 0 is 1. With several, each `dx` and `dy` is that many parameters, and a tangent of the result is stored through as
  // many pointers behind all others.
  uint32_t width;
  // Zero.
  uint32_t reserved;
} EnzymeRequest;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface that this library has; compare it with `ENZYME_ABI_VERSION` of the header.
uint32_t enzyme_abi_version(void);

// The version of this library, as text.
const char *enzyme_version(void);

// Makes a context. `abi_version` is `ENZYME_ABI_VERSION` of the header that the caller was compiled with.
//
// `context` and `error` are null or places for handles.
enum EnzymeStatus enzyme_context_new(uint32_t abi_version, struct EnzymeContext **context, struct EnzymeError **error);

// Frees a context. Modules and code made with it stay. Null and freed handles are ignored, here and in the functions like this one.
void enzyme_context_free(struct EnzymeContext *context);

// Sets an option of the plugin's, by its name without dashes: `enzyme_context_set(context, "enzyme-max-tape", "16M", &error)`.
//
// `name` and `value` are null or end with a zero; `error` is null or a place for a handle.
enum EnzymeStatus enzyme_context_set(struct EnzymeContext *context,
                                     const char *name,
                                     const char *value,
                                     struct EnzymeError **error);

// Reads a module, bitcode or text, from `size` bytes at `data`, which are copied.
//
// `data` is null or points to `size` bytes; `module` and `error` are null or places for handles.
enum EnzymeStatus enzyme_module_read(struct EnzymeContext *context,
                                     const void *data,
                                     size_t size,
                                     struct EnzymeModule **module,
                                     struct EnzymeError **error);

// Frees a module.
void enzyme_module_free(struct EnzymeModule *module);

// The module as bitcode: up to `capacity` bytes of it go to `buffer`, which may be null, and its size to `size`.
//
// `buffer` is null or has room for `capacity` bytes; `size` is null or valid; `error` is null or a place for a handle.
enum EnzymeStatus enzyme_module_bitcode(const struct EnzymeModule *module,
                                        void *buffer,
                                        size_t capacity,
                                        size_t *size,
                                        struct EnzymeError **error);

// The module as text, as `enzyme_module_bitcode`; no zero follows.
//
// As for `enzyme_module_bitcode`.
enum EnzymeStatus enzyme_module_text(const struct EnzymeModule *module,
                                     void *buffer,
                                     size_t capacity,
                                     size_t *size,
                                     struct EnzymeError **error);

// Differentiates a function of `module`. `derivative` is a copy of the module that has the derivative, too; `module` stays as it is.
//
// `request` is null or a request, whose texts end with zeros and which has as many activities as it says; `derivative` and
// `error` are null or places for handles.
enum EnzymeStatus enzyme_differentiate(struct EnzymeContext *context,
                                       const struct EnzymeModule *module,
                                       const struct EnzymeRequest *request,
                                       struct EnzymeModule **derivative,
                                       struct EnzymeError **error);

// Replaces the marker calls (`__enzyme_autodiff` and kin) that a module has. `derivative` is a copy of the module that calls derivatives
// in their place; `module` stays as it is. For languages whose calls need more than `enzyme_differentiate` can be told.
//
// `derivative` and `error` are null or places for handles.
enum EnzymeStatus enzyme_replace_markers(struct EnzymeContext *context,
                                         const struct EnzymeModule *module,
                                         struct EnzymeModule **derivative,
                                         struct EnzymeError **error);

// Adds the definitions of another module, bitcode or text of `size` bytes at `data`, to `module`: run-time functions that derivatives call.
// If it fails, `module` is of no more use.
//
// `data` is null or points to `size` bytes; `error` is null or a place for a handle.
enum EnzymeStatus enzyme_module_link(struct EnzymeModule *module,
                                     const void *data,
                                     size_t size,
                                     struct EnzymeError **error);

// Makes native code of a copy of `module`, optimised for this machine at `level`: 0 as it is; 1 as 2, with machine code that is
// made in a fraction of the time and is slower; 2 or 3. What the module does not define is looked for in this process.
//
// `code` and `error` are null or places for handles.
enum EnzymeStatus enzyme_compile(const struct EnzymeModule *module,
                                 uint32_t level,
                                 struct EnzymeCode **code,
                                 struct EnzymeError **error);

// The address of a function or variable, valid until the code is freed.
//
// `name` is null or ends with a zero; `address` is null or a place for an address; `error` is null or a place for a handle.
enum EnzymeStatus enzyme_code_address(const struct EnzymeCode *code,
                                      const char *name,
                                      void **address,
                                      struct EnzymeError **error);

// Frees native code. None of it may be running, or be called again.
void enzyme_code_free(struct EnzymeCode *code);

// How the call ended that made this error; `EnzymeStatus_Misuse` for a handle that is none.
enum EnzymeStatus enzyme_error_status(const struct EnzymeError *error);

// How many items an error has; 0 for a handle that is none.
size_t enzyme_error_count(const struct EnzymeError *error);

// The code of item `at`, as `E0201`; empty if it has none. Texts live as long as their error.
const char *enzyme_error_code(const struct EnzymeError *error, size_t at);

// What item `at` says.
const char *enzyme_error_message(const struct EnzymeError *error, size_t at);

// What to do about item `at`; empty if nothing is known.
const char *enzyme_error_help(const struct EnzymeError *error, size_t at);

// The function that item `at` is about; empty if not known.
const char *enzyme_error_function(const struct EnzymeError *error, size_t at);

// The source file that item `at` is about; empty if not known.
const char *enzyme_error_file(const struct EnzymeError *error, size_t at);

// The line, from 1, that item `at` is about; 0 if not known.
uint32_t enzyme_error_line(const struct EnzymeError *error, size_t at);

// The column, from 1, that item `at` is about; 0 if not known.
uint32_t enzyme_error_column(const struct EnzymeError *error, size_t at);

// How many notes item `at` has.
size_t enzyme_error_note_count(const struct EnzymeError *error, size_t at);

// Note `number` of item `at`: why.
const char *enzyme_error_note(const struct EnzymeError *error, size_t at, size_t number);

// Frees an error, and its texts.
void enzyme_error_free(struct EnzymeError *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ENZYME_ENZYME_H */
