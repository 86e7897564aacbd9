// The C face of the bridge: what the Rust side may call, and the flat structures that cross.
//
// Rules: every function has the prefix enz_; strings are pointer and length and stay owned by whoever made them, until
// the next call into the bridge with the same host; enumerations have explicit numbers of our own, so that a change
// of LLVM's enumerations cannot reach Rust; results are flat arrays; nothing throws; nothing aborts on input that a
// user can give. src/ffi.rs declares the same, in the same order.
#ifndef ENZYME_BRIDGE_H
#define ENZYME_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct EnzOpaqueModule *EnzModule;
typedef struct EnzOpaqueType *EnzType;
typedef struct EnzOpaqueValue *EnzValue; // also functions, globals, constants, instructions
typedef struct EnzOpaqueBlock *EnzBlock;
typedef struct EnzOpaqueLoc *EnzLoc;
typedef struct EnzOpaqueScope *EnzScope; // debug information of a function
typedef struct EnzOpaqueHost *EnzHost;   // a module and the analysis managers to look at it with

typedef struct EnzStr {
  const char *data;
  size_t len;
} EnzStr;

// Receives text of any length.
typedef void (*EnzTextSink)(void *context, const char *data, size_t len);

// ---- describe.cpp ---------------------------------------------------------------------------------------------

// A line for each parameter: its name, a tab, its type.
void enz_describe_params(EnzValue function, EnzTextSink sink, void *context);
// Definitions but `except` give way to others of the same name when linked.
void enz_yield_to_others(EnzHost host, EnzStr except);
// Makes a function of the module visible to others, or not; whether there is one.
uint8_t enz_set_visible(EnzHost host, EnzStr name, uint8_t visible);

// ---- jit.cpp --------------------------------------------------------------------------------------------------

typedef struct EnzJit EnzJit;
EnzJit *enz_jit_make(EnzHost host, uint32_t speed, EnzTextSink error, void *context);
uint64_t enz_jit_address(EnzJit *jit, EnzStr name, EnzTextSink error, void *context);
void enz_jit_drop(EnzJit *jit);

// ---- plugin.cpp -----------------------------------------------------------------------------------------------

enum EnzPhase : uint32_t {
  ENZ_PHASE_EXPLICIT = 0,  // named by the user in a pass pipeline
  ENZ_PHASE_COMPILE = 1,   // one file, no link-time optimisation to follow
  ENZ_PHASE_PRE_LINK = 2,  // one file, a link-time phase may follow
  ENZ_PHASE_THIN_LINK = 3, // one module of a thin link
  ENZ_PHASE_FULL_LINK = 4, // the whole program
};

typedef uint8_t (*EnzRunFunction)(EnzHost host, uint32_t phase, uint32_t level, uint32_t size_level);
typedef struct EnzPluginInfo {
  uint32_t api;
  const char *name;
  const char *version;
  void *register_callbacks;
  void *pre_codegen;
} EnzPluginInfo;
void enz_plugin_info(EnzPluginInfo *out, EnzRunFunction run);

// ---- options.cpp ----------------------------------------------------------------------------------------------

enum EnzOptionKind : uint32_t { ENZ_OPTION_BOOL = 0, ENZ_OPTION_INT = 1, ENZ_OPTION_TEXT = 2 };
typedef struct EnzOption {
  EnzStr name;
  EnzStr help;
  uint32_t kind;
  int64_t initial;
} EnzOption;
void enz_options_register(const EnzOption *options, size_t count);
uint8_t enz_option_number(EnzStr name, int64_t *out);
uint8_t enz_option_text(EnzStr name, EnzTextSink sink, void *context);

// ---- host.cpp -------------------------------------------------------------------------------------------------

typedef struct EnzOwned EnzOwned; // a context, a module and managers of their own, for tools
EnzOwned *enz_read_module(EnzStr path, EnzTextSink error, void *context);
EnzOwned *enz_parse_module(EnzStr text, EnzTextSink error, void *context);
EnzOwned *enz_parse_quietly(EnzStr bytes, EnzTextSink error, void *context); // prints nothing, neither then nor later
void enz_owned_drop(EnzOwned *owned);
EnzHost enz_owned_host(EnzOwned *owned);
uint8_t enz_write_module(EnzHost host, EnzStr path, uint8_t bitcode, EnzTextSink error, void *context);
uint8_t enz_link_module(EnzHost host, EnzStr bytes, EnzTextSink error, void *context); // adds definitions
uint8_t enz_verify_module(EnzHost host, EnzTextSink error, void *context);
void enz_module_bitcode(EnzHost host, EnzTextSink sink, void *context);
void enz_print_module(EnzHost host, EnzTextSink sink, void *context);
void enz_print_value(EnzValue value, EnzTextSink sink, void *context);
void enz_module_names(EnzHost host, EnzStr *name, EnzStr *triple, EnzTextSink layout, void *context);
size_t enz_module_functions(EnzHost host, EnzValue *out, size_t capacity);
size_t enz_module_globals(EnzHost host, EnzValue *out, size_t capacity);
EnzValue enz_module_function(EnzHost host, EnzStr name);
EnzValue enz_module_global(EnzHost host, EnzStr name);
void enz_module_strip_markers(EnzHost host, const EnzStr *substrings, size_t count);

// Sizes of the structures below, in the order of their definition here, for the test that compares declarations.
size_t enz_struct_sizes(size_t *out, size_t capacity);

// ---- types.cpp ------------------------------------------------------------------------------------------------

enum EnzTypeKind : uint32_t {
  ENZ_TYPE_VOID = 0,
  ENZ_TYPE_INT = 1,
  ENZ_TYPE_FLOAT = 2,
  ENZ_TYPE_PTR = 3,
  ENZ_TYPE_VECTOR = 4,
  ENZ_TYPE_ARRAY = 5,
  ENZ_TYPE_STRUCT = 6,
  ENZ_TYPE_FUNC = 7,
  ENZ_TYPE_LABEL = 8,
  ENZ_TYPE_METADATA = 9,
  ENZ_TYPE_TOKEN = 10,
  ENZ_TYPE_AMX = 11,
  ENZ_TYPE_TARGET = 12,
  ENZ_TYPE_OTHER = 13,
};
enum EnzFloat : uint32_t {
  ENZ_FLOAT_HALF = 0,
  ENZ_FLOAT_BFLOAT = 1,
  ENZ_FLOAT_FLOAT = 2,
  ENZ_FLOAT_DOUBLE = 3,
  ENZ_FLOAT_X86 = 4,
  ENZ_FLOAT_FP128 = 5,
  ENZ_FLOAT_PPC = 6,
};
typedef struct EnzTypeInfo {
  uint32_t kind;
  uint32_t bits;  // width, address space or EnzFloat
  uint64_t count; // lanes, elements, fields, parameters or type parameters
  uint32_t ints;  // integer parameters of a target type
  uint8_t scalable;
  uint8_t packed;
  uint8_t variadic;
  uint8_t opaque;
  EnzStr name;
  EnzType elem; // lane, element or return type
} EnzTypeInfo;
void enz_type_info(EnzType type, EnzTypeInfo *out);
EnzType enz_type_part(EnzType type, uint32_t index);
uint32_t enz_type_int(EnzType type, uint32_t index);
// Null where the parts do not make a valid type.
EnzType enz_type_make(EnzHost host, const EnzTypeInfo *info, const EnzType *parts, const uint32_t *ints);
EnzType enz_value_type(EnzValue value);

// ---- constants.cpp --------------------------------------------------------------------------------------------

enum EnzConstKind : uint32_t {
  ENZ_CONST_INT = 0,
  ENZ_CONST_FLOAT = 1,
  ENZ_CONST_ZERO = 2,
  ENZ_CONST_UNDEF = 3,
  ENZ_CONST_POISON = 4,
  ENZ_CONST_AGGREGATE = 5,
  ENZ_CONST_DATA = 6,
  ENZ_CONST_GLOBAL = 7,
  ENZ_CONST_FUNC = 8,
  ENZ_CONST_BLOCK_ADDRESS = 9,
  ENZ_CONST_EXPR = 10,
  ENZ_CONST_TOKEN_NONE = 11,
  ENZ_CONST_METADATA = 12,
  ENZ_CONST_OPAQUE = 13,
  ENZ_CONST_SPLAT_INT = 14,
  ENZ_CONST_SPLAT_FLOAT = 15,
  ENZ_CONST_NOT = 16,
};
enum EnzExpr : uint32_t {
  ENZ_EXPR_CAST = 0,
  ENZ_EXPR_BINARY = 1,
  ENZ_EXPR_GEP = 2,
  ENZ_EXPR_EXTRACT = 3,
  ENZ_EXPR_INSERT = 4,
  ENZ_EXPR_SHUFFLE = 5,
};
typedef struct EnzConstInfo {
  uint32_t kind;
  uint32_t count; // operands, words or mask entries
  EnzType type;
  const uint64_t *words; // integer words
  uint64_t bits[2];      // float encoding
  EnzStr bytes;          // data
  EnzValue target;       // global, function, or the function of a block address
  uint32_t index;        // position of the block
  uint32_t expr;
  uint32_t sub;   // cast or binary operation
  uint32_t flags; // of a gep
  EnzType elem;   // of a gep
} EnzConstInfo;
void enz_const_info(EnzValue constant, EnzConstInfo *out);
EnzValue enz_const_part(EnzValue constant, uint32_t index);
size_t enz_const_mask(EnzValue constant, int32_t *out, size_t capacity);
// Null where the parts do not make a valid constant. Global, function and opaque constants are not made here.
EnzValue enz_const_make(EnzHost host, const EnzConstInfo *info, const EnzValue *parts, const int32_t *mask);

// ---- inspect.cpp: functions, globals, instructions ----------------------------------------------------------------

enum EnzParam : uint32_t {
  ENZ_PARAM_NOALIAS = 1,
  ENZ_PARAM_READONLY = 2,
  ENZ_PARAM_WRITEONLY = 4,
  ENZ_PARAM_NOCAPTURE = 8,
};
enum EnzFunc : uint32_t {
  ENZ_FUNC_NO_READ = 1,
  ENZ_FUNC_NO_WRITE = 2,
  ENZ_FUNC_ARG_MEM_ONLY = 4,
  ENZ_FUNC_NORETURN = 8,
  ENZ_FUNC_NOUNWIND = 16,
  ENZ_FUNC_INACTIVE = 32,
  ENZ_FUNC_INTERPOSABLE = 64,
  ENZ_FUNC_DECLARATION = 128,
  ENZ_FUNC_INTERNAL = 256,
  ENZ_FUNC_INTRINSIC = 512,
};
typedef struct EnzFuncInfo {
  EnzStr name;
  EnzType sig;
  uint32_t flags;
  uint32_t conv;
  uint32_t num_params;
  uint32_t num_blocks;
  EnzScope scope;
  EnzValue personality;
  EnzStr like; // the library function that it is to be taken for
} EnzFuncInfo;
void enz_func_info(EnzHost host, EnzValue function, EnzFuncInfo *out);
EnzValue enz_func_param(EnzValue function, uint32_t index);
typedef struct EnzParamInfo {
  uint32_t flags;
  EnzType sret;
  EnzType byval;
} EnzParamInfo;
void enz_param_info(EnzValue function_or_call, uint32_t index, EnzParamInfo *out);
size_t enz_func_blocks(EnzValue function, EnzBlock *out, size_t capacity);
size_t enz_block_insts(EnzBlock block, EnzValue *out, size_t capacity);
EnzStr enz_block_name(EnzBlock block);
EnzStr enz_value_name(EnzValue value);
void enz_value_set_name(EnzValue value, EnzStr name);

typedef struct EnzGlobalInfo {
  EnzStr name;
  EnzType type;
  EnzValue init;
  uint32_t align;
  uint32_t space;
  uint8_t constant;
  uint8_t thread_local_;
  uint8_t internal;
  uint8_t inactive;
} EnzGlobalInfo;
void enz_global_info(EnzValue global, EnzGlobalInfo *out);

enum EnzOp : uint32_t {
  ENZ_OP_FNEG = 0,
  ENZ_OP_BINARY = 1,
  ENZ_OP_CAST = 2,
  ENZ_OP_ICMP = 3,
  ENZ_OP_FCMP = 4,
  ENZ_OP_PHI = 5,
  ENZ_OP_SELECT = 6,
  ENZ_OP_FREEZE = 7,
  ENZ_OP_ALLOCA = 8,
  ENZ_OP_LOAD = 9,
  ENZ_OP_STORE = 10,
  ENZ_OP_GEP = 11,
  ENZ_OP_FENCE = 12,
  ENZ_OP_CMPXCHG = 13,
  ENZ_OP_RMW = 14,
  ENZ_OP_CALL = 15,
  ENZ_OP_VAARG = 16,
  ENZ_OP_EXTRACT_ELEMENT = 17,
  ENZ_OP_INSERT_ELEMENT = 18,
  ENZ_OP_SHUFFLE = 19,
  ENZ_OP_EXTRACT_VALUE = 20,
  ENZ_OP_INSERT_VALUE = 21,
  ENZ_OP_LANDING_PAD = 22,
  ENZ_OP_CLEANUP_PAD = 23,
  ENZ_OP_CATCH_PAD = 24,
  ENZ_OP_RET = 25,
  ENZ_OP_BR = 26,
  ENZ_OP_COND_BR = 27,
  ENZ_OP_SWITCH = 28,
  ENZ_OP_INDIRECT_BR = 29,
  ENZ_OP_INVOKE = 30,
  ENZ_OP_CALL_BR = 31,
  ENZ_OP_RESUME = 32,
  ENZ_OP_UNREACHABLE = 33,
  ENZ_OP_CLEANUP_RET = 34,
  ENZ_OP_CATCH_RET = 35,
  ENZ_OP_CATCH_SWITCH = 36,
  ENZ_OP_SKIP = 37,
  ENZ_OP_UNKNOWN = 38,
};
typedef struct EnzInstInfo {
  uint32_t op;
  uint32_t sub;   // operation or predicate within the kind; for SWITCH the number of cases
  EnzType type;   // of the result
  EnzType elem;   // allocated type, source element type or signature of a call
  uint32_t align; // 0 is the ABI's
  uint32_t conv;
  uint32_t num_args; // of a call
  uint32_t num_operands;
  uint32_t num_targets;
  uint32_t num_indices;
  uint8_t fast;
  uint8_t ints;
  uint8_t gep;
  uint8_t volatile_;
  uint8_t ordering;
  uint8_t failure;
  uint8_t weak;
  uint8_t tail;
  uint8_t cleanup; // of a landing pad; of a cleanupret or catchswitch: has an unwind target
  uint8_t mem;     // EnzMem, when building
  EnzLoc loc;
  EnzStr name;
} EnzInstInfo;
void enz_inst_info(EnzValue inst, EnzInstInfo *out);
// Operands in our order: callee before arguments, then bundle operands. The arrays must hold the numbers announced.
void enz_inst_operands(EnzValue inst, EnzValue *out);
void enz_inst_targets(EnzValue inst, EnzBlock *out);
void enz_inst_indices(EnzValue inst, int32_t *out);
void enz_switch_values(EnzValue inst, EnzValue *out);

typedef struct EnzLocInfo {
  EnzStr file;
  EnzStr scope;
  uint32_t line;
  uint32_t column;
  EnzLoc inlined_at;
} EnzLocInfo;
void enz_loc_info(EnzLoc loc, EnzLocInfo *out);
void enz_scope_info(EnzScope scope, EnzLocInfo *out);

// ---- prepare.cpp ----------------------------------------------------------------------------------------------

typedef struct EnzPrepare {
  uint64_t inline_budget; // instructions that may be brought in by inlining; 0 disables it
  uint64_t inline_callee; // largest callee, in instructions
  const EnzStr *keep;     // names never inlined
  size_t num_keep;
  const EnzStr *keep_containing; // parts of names never inlined
  size_t num_keep_containing;
  const EnzStr *force; // names inlined whatever their size and attributes, unless they are recursive
  size_t num_force;
  uint64_t force_budget; // instructions that these may bring in
  const EnzStr *avoid;   // names of functions that no pointer is taken to hold
  size_t num_avoid;
  uint8_t excuse;       // calls through pointers of which nothing is known are never made
  uint8_t by_member;    // members of structures hold what is seen to be put there
  uint8_t declared;     // and are no floats where they are declared as integers
  uint8_t keep_guesses; // functions that a pointer may hold stay calls
  uint8_t checkpoints;  // loops may be checkpointed
  uint8_t samples;      // iterations of loops over independent samples become functions
  uint8_t disjoint;     // a second body for arrays that turn out to be apart
  uint8_t products;     // products of matrices that libraries compute have rules
  uint64_t max_tape;    // bytes beyond which a loop is checkpointed; 0 for never
  // Told of loops that are not checkpointed, with the reason; asked whether an external function writes memory, as in
  // `EnzFactSink`. Both may be null.
  void *context;
  EnzTextSink note;
  uint8_t (*harmless)(void *context, EnzStr name);
  uint8_t *has_second_body; // set if `disjoint` gave one
} EnzPrepare;
// Begins to count what inlining copies beside the first copy of each function, of which `growth` instructions may be
// more.
void enz_inline_begin(EnzHost host, uint64_t growth);
// A simplified clone of a defined function; null if it cannot be cloned.
EnzValue enz_prepare(EnzHost host, EnzValue function, const EnzPrepare *options);
void enz_function_erase(EnzHost host, EnzValue function);
// Erases the marks of loops that are to be checkpointed, in the whole module; whether there were any.
uint8_t enz_module_drop_checkpoint_marks(EnzHost host);

// ---- facts.cpp ------------------------------------------------------------------------------------------------

typedef struct EnzTripCount {
  EnzBlock header;
  EnzValue count;
} EnzTripCount;
typedef struct EnzSteadyLoad {
  EnzValue load;
  EnzBlock header;    // of the loop in whose iterations it loads the same
  EnzValue condition; // under which it does, at the end of the preheader; null: always
  uint64_t varies;    // the loops in each of whose iterations it loads something else: bit 0 is the innermost around it
  EnzValue most;      // backedges that the innermost takes at most, if another number each time; null: the same number
} EnzSteadyLoad;
// A store that the reverse sweep can take back, with the load of what it overwrites. What others can see of it:
// `start`, and so many bytes on for each iteration of up to three loops, all of it known before the loop of `header`.
enum { ENZ_MOST_STEPS = 3 };
typedef struct EnzUndoneStore {
  EnzValue store;
  EnzValue old;
  EnzBlock header; // null: nobody sees it
  EnzValue start;
  EnzBlock headers[ENZ_MOST_STEPS];
  EnzValue strides[ENZ_MOST_STEPS];
  uint32_t steps;
} EnzUndoneStore;
typedef struct EnzArgFact {
  EnzValue call;
  uint32_t arg;
} EnzArgFact;
enum EnzByte : uint32_t { ENZ_BYTE_FLOAT = 0, ENZ_BYTE_POINTER = 1, ENZ_BYTE_INTEGER = 2 };
typedef struct EnzByteRun {
  EnzValue inst; // null for a parameter
  uint32_t param;
  uint32_t kind;
  uint32_t float_kind;
  uint8_t is_alone; // no element of an array
  uint64_t offset;
  uint64_t size;
} EnzByteRun;
typedef struct EnzFactSink {
  void *context;
  void (*trip_count)(void *context, EnzTripCount fact);
  // `by_type`: only type-based alias analysis says so.
  void (*stable_load)(void *context, EnzValue load, uint8_t by_type);
  void (*stable_store)(void *context, EnzValue store);
  // A load in a loop of what `write` overwrites, as far as is known; `apart` if they go through different pointers, and
  // all that may overwrite it does.
  void (*overwritten)(void *context, EnzValue load, EnzValue write, uint8_t apart);
  void (*steady_load)(void *context, EnzSteadyLoad fact);
  void (*undone_store)(void *context, EnzUndoneStore fact);
  // A load that reads the same again once `store`, and all others that it is told with, were taken back.
  void (*repeated_load)(void *context, EnzValue load, EnzValue store);
  // A phi that has the value of a load which is there for nothing else.
  void (*stands_for)(void *context, EnzValue phi, EnzValue load);
  void (*stable_arg)(void *context, EnzArgFact fact);
  void (*byte_run)(void *context, EnzByteRun run);
  // A call through a pointer from which the calls of all functions that are known to fit were branched off; and such a
  // call that was branched off.
  void (*fallback)(void *context, EnzValue call);
  void (*guess)(void *context, EnzValue call);
  // A copy that only runs where a loop over bytes reads what it wrote.
  void (*overlapping)(void *context, EnzValue copy);
  // A call, of a function that has versions for vectors, in a loop that may run in vectors.
  void (*vector_call)(void *context, EnzValue call);
  // Asked of external functions: 1 if it writes no memory of the program other than through its arguments, 2 if none
  // whose loss a derivative would notice, 0 if that is not known.
  uint8_t (*harmless)(void *context, EnzStr name);
} EnzFactSink;
// Writes the trip counts of the loops of a prepared function into it, as instructions, and reports them. Changes the
// function, so it comes before the import; the sink is called with values that the import will meet.
void enz_trip_counts(EnzHost host, EnzValue function, const EnzFactSink *sink);
// Reports what stays in memory; writes conditions for it into the function, in the same way.
void enz_memory_facts(EnzHost host, EnzValue function, const EnzFactSink *sink);
// Changes nothing.
void enz_type_facts(EnzHost host, EnzValue function, const EnzFactSink *sink);

// ---- declare.cpp, build.cpp -------------------------------------------------------------------------------------

enum EnzMem : uint8_t {
  ENZ_MEM_UNKNOWN = 0,
  ENZ_MEM_PRIMAL = 1,
  ENZ_MEM_SHADOW = 2,
  ENZ_MEM_TAPE = 3,
  ENZ_MEM_LANES = 4, // and those behind it: shadows of the second and further lanes
  ENZ_MEM_END = 19,
};
typedef struct EnzFuncSpec {
  EnzStr name;
  EnzType sig;
  uint32_t flags; // EnzFunc
  uint32_t conv;
  uint8_t internal;
  uint8_t always_inline;
  uint8_t generated; // a definition to come: gets a fresh name
  EnzValue like;     // a function whose target attributes are taken, or null
  const EnzParamInfo *params;
  size_t num_params;
} EnzFuncSpec;
EnzValue enz_func_make(EnzHost host, const EnzFuncSpec *spec);
EnzBlock enz_block_make(EnzValue function, EnzStr name);
typedef struct EnzBuilder EnzBuilder; // alias scopes of one generated function
EnzBuilder *enz_builder_new(EnzHost host, EnzValue function);
void enz_builder_drop(EnzBuilder *builder);
// `made`, of memory `mem`, is made where the access `like` is in the primal, or where its adjoint is.
void enz_builder_access(EnzBuilder *builder, EnzValue made, EnzValue like, uint8_t mem);
// `block` runs where the block that ends in `end` does in the primal, or, `turned`, in its reverse.
void enz_builder_block(EnzBuilder *builder, EnzBlock block, EnzValue end, uint8_t turned);
// Writes the alias scopes of these accesses; before verification.
void enz_builder_finish(EnzBuilder *builder);
// Appends an instruction; null with a message if it would be malformed. `origin`, if not null, is copied.
EnzValue enz_build(EnzBuilder *builder, EnzBlock block, const EnzInstInfo *info, const EnzValue *operands,
                   const EnzBlock *targets, const int32_t *indices, const EnzValue *cases, EnzValue origin,
                   EnzTextSink error, void *context);
// Sets the routine that unwinds through the function's landing pads.
uint8_t enz_set_personality(EnzValue function, EnzValue routine);
uint8_t enz_phi_add(EnzValue phi, EnzValue value, EnzBlock block);
EnzValue enz_global_make(EnzHost host, const EnzGlobalInfo *info);
uint8_t enz_global_set_init(EnzValue global, EnzValue init);
void enz_global_erase(EnzValue global);
uint8_t enz_verify_function(EnzValue function, EnzTextSink error, void *context);
void enz_function_clear(EnzValue function);

// ---- markers.cpp ----------------------------------------------------------------------------------------------

enum EnzArgKind : uint32_t {
  ENZ_ARG_OTHER = 0,
  ENZ_ARG_GLOBAL = 1,
  ENZ_ARG_LOAD_OF_GLOBAL = 2,
  ENZ_ARG_FUNCTION = 3,
  ENZ_ARG_INT = 4,
};
typedef struct EnzMarkerArg {
  uint32_t kind;
  EnzValue target; // the global or function
  uint64_t number;
  EnzType type;
  EnzParamInfo attrs;
} EnzMarkerArg;
typedef struct EnzMarkerCall {
  EnzValue call;
  EnzValue callee;
  EnzValue caller;
  EnzLoc loc;
  EnzType ret;
  uint32_t num_args;
} EnzMarkerCall;
size_t enz_marker_calls(EnzHost host, const EnzStr *substrings, size_t count, EnzMarkerCall *out, size_t capacity);
// Makes calls whose function is one of several calls of each; how many there were.
size_t enz_split_markers(EnzHost host, const EnzStr *substrings, size_t count);
// Why the function of a call is none of those that are known; nothing where it is no function at all.
void enz_why_no_function(EnzValue call, EnzTextSink sink, void *context);
void enz_marker_arg(EnzValue call, uint32_t index, EnzMarkerArg *out);
// Whether an argument is the address of integers, whether it may be that of a descriptor of an array, and whether a
// function uses a parameter as one.
uint8_t enz_is_integers(EnzValue call, uint32_t index);
uint8_t enz_is_descriptor(EnzValue call, uint32_t index);
uint8_t enz_wants_descriptor(EnzValue function, uint32_t index);
EnzValue enz_marker_replace(EnzHost host, EnzValue call, EnzValue wrapper, EnzTextSink error, void *context);
// Which markers' functions lead to which other markers.
typedef struct EnzMarkerNeed {
  uint32_t call;  // index of a marker call
  uint32_t inner; // of one that stands in what its function calls or names, or that gives the function
} EnzMarkerNeed;
size_t enz_marker_needs(const EnzValue *calls, size_t count, EnzMarkerNeed *out, size_t capacity);

// ---- registry.cpp ---------------------------------------------------------------------------------------------

enum EnzRegistrationKind : uint32_t {
  ENZ_REG_GRADIENT = 0,
  ENZ_REG_DERIVATIVE = 1,
  ENZ_REG_SPLIT = 2,
  ENZ_REG_INACTIVE_FUNCTION = 3,
  ENZ_REG_INACTIVE_GLOBAL = 4,
  ENZ_REG_LIKE = 5,
  ENZ_REG_ALLOCATION = 6,
  ENZ_REG_PRODUCT = 7, // a product, its augmented primal, reverse and forward rule, all of them ours
};
typedef struct EnzRegistration {
  uint32_t kind;
  uint32_t count;        // entries of the global
  EnzValue functions[4]; // those of its first entries that are functions
  EnzValue stated_in;    // the function with the call that states it, if it is one
  EnzStr name;           // of the global, or of what is called
  EnzStr text;           // the name that a function is taken for; or why what a call states can't be had
} EnzRegistration;
void enz_registry_mark(EnzHost host);
size_t enz_registrations(EnzHost host, EnzRegistration *out, size_t capacity);

// ---- products.cpp ---------------------------------------------------------------------------------------------

// Writes functions and rules for the products of matrices that libraries compute in the module, once.
void enz_make_products(EnzHost host);

// ---- statements.cpp -------------------------------------------------------------------------------------------

void enz_statements_mark(EnzHost host);
void enz_statements_lower(EnzHost host, uint8_t before_link);

// ---- dense.cpp ------------------------------------------------------------------------------------------------

// Makes accesses through the view that `call` gives calls of the functions behind it; false, and why not, if it can't.
uint8_t enz_lower_dense(EnzHost host, EnzValue call, EnzTextSink why, void *context);

// ---- truncate.cpp ---------------------------------------------------------------------------------------------

// Replaces a call by the address of a clone of `function`; false if a format is not that of a type, or not narrower.
uint8_t enz_truncate(EnzHost host, EnzValue call, EnzValue function, uint32_t from, uint32_t to, uint32_t exponent,
                     uint32_t digits);

// Rounds the operations of all functions of the module; false if a format is unknown or not narrower.
uint8_t enz_truncate_all(EnzHost host, uint32_t from, uint32_t to, uint32_t exponent, uint32_t digits);

// ---- widen.cpp ------------------------------------------------------------------------------------------------

// As `enz_truncate`, for other formats; says why if something in a function is in the way.
uint8_t enz_widen(EnzHost host, EnzValue call, EnzValue function, uint32_t from, uint32_t to, uint32_t exponent,
                  uint32_t digits, uint8_t memory, EnzTextSink why, void *context);

// ---- optimise.cpp ---------------------------------------------------------------------------------------------

void enz_optimise(EnzHost host, const EnzValue *functions, size_t count, uint32_t level, uint32_t size_level);
// Inlines calls of the wrappers, erasing those that are then unused, and small generated functions after them. Calls
// among `marks` that go with code that is never reached become null there.
void enz_inline_wrappers(EnzHost host, const EnzValue *wrappers, size_t count, const EnzValue *generated,
                         size_t num_generated, EnzValue *marks, size_t num_marks, uint32_t level);

// ---- diagnose.cpp ---------------------------------------------------------------------------------------------

enum EnzSeverity : uint32_t { ENZ_ERROR = 0, ENZ_WARNING = 1, ENZ_REMARK = 2, ENZ_NOTE = 3 };
void enz_diagnose(EnzHost host, uint32_t severity, EnzValue function, EnzLoc loc, EnzStr message);

#ifdef __cplusplus
}
#endif
#endif
