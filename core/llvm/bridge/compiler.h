// What compilers that use the C interface need of the bridge, beside bridge.h: modules that are lent (loan.cpp),
// derivatives of calls that they write by callbacks (handlers.cpp), and help with LLVM's objects (helpers.cpp).
// src/compiler.rs declares the same. Values, types and builders are those of LLVM-C.
#ifndef ENZYME_COMPILER_H
#define ENZYME_COMPILER_H

#include "bridge.h"

#include "llvm-c/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- loan.cpp -------------------------------------------------------------------------------------------------

typedef struct EnzLoan EnzLoan;

// A copy of what `function` needs of its module; null and a reason if there is none. Diagnostics of the context are
// silent until the loan is dropped.
EnzLoan *enz_loan_take(LLVMValueRef function, EnzTextSink error, void *context);
// The module of the copy.
EnzHost enz_loan_host(EnzLoan *loan);
// The name of the function in the copy.
EnzStr enz_loan_root(EnzLoan *loan);
// Moves the functions of these names, and what they need that is new, into the module that lent; what they share with
// it is that module's again. Nothing is moved if one is missing.
uint8_t enz_loan_return(EnzLoan *loan, const EnzStr *names, size_t count, LLVMValueRef *out);
// Whether what these functions need allocates memory that the program did not ask for.
uint8_t enz_loan_allocates(EnzLoan *loan, const EnzStr *names, size_t count);
// Bytes behind a parameter of the function: so many from `offset` on, or all if that is -1.
typedef enum EnzBytesType { ENZ_BYTES_INTEGER, ENZ_BYTES_POINTER, ENZ_BYTES_FLOAT, ENZ_BYTES_DOUBLE } EnzBytesType;
typedef struct EnzStatedBytes {
  uint32_t param;
  uint32_t type; // an EnzBytesType
  int64_t offset;
  uint64_t bytes;
} EnzStatedBytes;
// States these at the entry of the function in the copy, unless others there call it, which may mean other bytes.
void enz_loan_state(EnzLoan *loan, const EnzStatedBytes *stated, size_t count);
// Gives the function `from` a body that calls `to`; 0 if that does not fit.
uint8_t enz_redirect(LLVMValueRef from, LLVMValueRef to);
void enz_loan_drop(EnzLoan *loan);

// A value that may be erased by others: null then.
typedef struct EnzWatched EnzWatched;
EnzWatched *enz_watch(LLVMValueRef value);
LLVMValueRef enz_watched(const EnzWatched *watched);
void enz_unwatch(EnzWatched *watched);

// ---- handlers.cpp ---------------------------------------------------------------------------------------------

// A derivative of a call that is being written.
typedef struct EnzRule EnzRule;

// What a compiler registered for calls of a name. Each may be null.
typedef struct EnzHandler {
  EnzStr name;
  uint8_t (*augmented)(LLVMBuilderRef, LLVMValueRef, void *, LLVMValueRef *, LLVMValueRef *, LLVMValueRef *);
  void (*reverse)(LLVMBuilderRef, LLVMValueRef, void *, LLVMValueRef);
  uint8_t (*forward)(LLVMBuilderRef, LLVMValueRef, void *, LLVMValueRef *, LLVMValueRef *);
  // Whether the reverse part uses a value of the call, or its shadow; by default if the last place is not zero.
  uint8_t (*uses)(LLVMValueRef, void *, LLVMValueRef, uint8_t, uint32_t, uint8_t *);
  // The shadow of memory that the call allocates, from its arguments; and what frees that.
  LLVMValueRef (*allocate)(LLVMBuilderRef, LLVMValueRef, size_t, LLVMValueRef *, void *);
  LLVMValueRef (*release)(LLVMBuilderRef, LLVMValueRef);
} EnzHandler;

// Gives a rule a handle while a callback runs, and takes it back.
typedef struct EnzHandles {
  void *context;
  void *(*enter)(void *context, EnzRule *rule);
  void (*leave)(void *context, void *handle);
} EnzHandles;

// Lets the handlers write derivatives of the functions of the copy that they are for; 0 and a reason if that fails.
uint8_t enz_rules_write(EnzLoan *loan, const EnzHandler *handlers, size_t count, const EnzHandles *handles,
                        EnzTextSink error, void *context);

// ---- gradient.cpp: what callbacks ask of a rule that they write; null where there is no answer ----------------

LLVMValueRef enz_rule_primal(EnzRule *rule, LLVMValueRef original);
LLVMValueRef enz_rule_shadow(EnzRule *rule, LLVMValueRef original);
LLVMValueRef enz_rule_lookup(EnzRule *rule, LLVMValueRef value);
LLVMValueRef enz_rule_adjoint(EnzRule *rule, LLVMValueRef original, LLVMBuilderRef builder);
uint8_t enz_rule_set_adjoint(EnzRule *rule, LLVMValueRef original, LLVMValueRef value, LLVMBuilderRef builder);
uint8_t enz_rule_add_adjoint(EnzRule *rule, LLVMValueRef original, LLVMValueRef value, LLVMBuilderRef builder);
uint8_t enz_rule_add_to_memory(EnzRule *rule, LLVMValueRef pointer, LLVMValueRef value, LLVMBuilderRef builder,
                               uint32_t align);
// 1 for what has no derivative, 0 for what has; 2 if it is no part of the call.
uint8_t enz_rule_is_constant(EnzRule *rule, LLVMValueRef original);
uint32_t enz_rule_mode(EnzRule *rule);
// A CConcreteType: what the type of a value says.
uint32_t enz_rule_concrete(LLVMValueRef value);
uint8_t enz_rule_replace(EnzRule *rule, LLVMValueRef value, LLVMValueRef by);
uint8_t enz_rule_erase(EnzRule *rule, LLVMValueRef value);
void enz_rule_map(EnzRule *rule, LLVMValueRef original, LLVMValueRef value);
LLVMBasicBlockRef enz_rule_entry(EnzRule *rule);
LLVMBasicBlockRef enz_rule_new_block(EnzRule *rule, LLVMBasicBlockRef behind, const char *name);
void enz_rule_set_last(EnzRule *rule, LLVMBasicBlockRef block);
LLVMValueRef enz_rule_call(EnzRule *rule, LLVMValueRef function, LLVMTypeRef type, LLVMValueRef *args, size_t count,
                           LLVMValueRef original, LLVMBuilderRef builder);
void enz_rule_describe(EnzRule *rule, EnzTextSink sink, void *context);

// ---- helpers.cpp: null or 0 where the objects are not of the right kind ---------------------------------------

LLVMTypeRef enz_help_alloca_type(LLVMValueRef value);
LLVMMetadataRef enz_help_scope_domain(const char *name, LLVMContextRef context);
LLVMMetadataRef enz_help_scope(LLVMMetadataRef domain, const char *name);
LLVMValueRef enz_help_extract(LLVMBuilderRef builder, LLVMValueRef whole, const unsigned *path, size_t size,
                              const char *name);
LLVMValueRef enz_help_insert(LLVMBuilderRef builder, LLVMValueRef whole, LLVMValueRef part, const unsigned *path,
                             size_t size, const char *name);
LLVMValueRef enz_help_gep_offset(LLVMBuilderRef builder, LLVMValueRef gep, LLVMTypeRef type);
uint8_t enz_help_copy_alignment(LLVMValueRef to, LLVMValueRef from);
uint8_t enz_help_copy_metadata(LLVMValueRef to, LLVMValueRef from);
uint8_t enz_help_take_name(LLVMValueRef to, LLVMValueRef from);
uint8_t enz_help_move_before(LLVMValueRef moved, LLVMValueRef place, LLVMBuilderRef builder);
uint8_t enz_help_copy_place(LLVMValueRef to, LLVMValueRef from);
uint8_t enz_help_set_metadata(LLVMValueRef value, const char *kind, LLVMValueRef metadata);
LLVMValueRef enz_help_get_metadata(LLVMValueRef value, const char *kind);
uint8_t enz_help_mark(LLVMValueRef value, const char *kind);
LLVMTypeRef enz_help_array(LLVMTypeRef type, uint64_t width);
LLVMMetadataRef enz_help_writable_tbaa(LLVMMetadataRef node);
uint8_t enz_help_set_called(LLVMValueRef call, LLVMValueRef function, const uint64_t *removed, size_t count);
LLVMValueRef enz_help_clone_without(LLVMValueRef function, uint8_t keep_result, const uint64_t *removed, size_t count);
void enz_help_dump_value(LLVMValueRef value);
void enz_help_dump_type(LLVMTypeRef type);
void enz_help_dump_module(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
