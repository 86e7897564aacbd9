//! Declarations of the bridge, in the order of `bridge/bridge.h`.
//!
//! Handles are non-null pointers to LLVM's objects, copied freely; a session keeps them within the life of its module.
//! Every enumeration crosses as a plain integer, converted by `import` and `export` with a check, since
//! an unknown value in a Rust enumeration would be undefined behaviour. Structures match those of the header field by
//! field; a test compares their sizes.

#![allow(missing_docs, reason = "documented in bridge/bridge.h")]

// Only linked.
use enzyme_bridge as _;
use std::ffi::c_void;
use std::ptr::NonNull;

macro_rules! handle {
    ($($name:ident $opaque:ident),+ $(,)?) => {$(
        #[repr(C)]
        #[derive(Debug)]
        pub struct $opaque {
            _private: [u8; 0],
        }
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub(crate) NonNull<$opaque>);
    )+};
}

handle!(
    TypeRef OpaqueType, ValueRef OpaqueValue, BlockRef OpaqueBlock, LocRef OpaqueLoc, ScopeRef OpaqueScope,
    HostRef OpaqueHost, OwnedRef OpaqueOwned, JitRef OpaqueJit, BuilderRef OpaqueBuilder,
);

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Str {
    pub data: *const u8,
    pub len: usize,
}

impl Default for Str {
    fn default() -> Str {
        Str::EMPTY
    }
}

pub type TextSink = unsafe extern "C" fn(*mut c_void, *const u8, usize);

#[repr(C)]
pub struct PluginInfo {
    pub api: u32,
    pub name: *const std::ffi::c_char,
    pub version: *const std::ffi::c_char,
    pub register_callbacks: *mut c_void,
    pub pre_codegen: *mut c_void,
}

pub type RunFunction = unsafe extern "C" fn(HostRef, u32, u32, u32) -> u8;

#[repr(C)]
pub struct OptionSpec {
    pub name: Str,
    pub help: Str,
    pub kind: u32,
    pub initial: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TypeInfo {
    pub kind: u32,
    pub bits: u32,
    pub count: u64,
    pub ints: u32,
    pub scalable: u8,
    pub packed: u8,
    pub variadic: u8,
    pub opaque: u8,
    pub name: Str,
    pub elem: Option<TypeRef>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ConstInfo {
    pub kind: u32,
    pub count: u32,
    pub ty: Option<TypeRef>,
    pub words: *const u64,
    pub bits: [u64; 2],
    pub bytes: Str,
    pub target: Option<ValueRef>,
    pub index: u32,
    pub expr: u32,
    pub sub: u32,
    pub flags: u32,
    pub elem: Option<TypeRef>,
}

impl Default for ConstInfo {
    fn default() -> ConstInfo {
        ConstInfo {
            kind: 0,
            count: 0,
            ty: None,
            words: std::ptr::null(),
            bits: [0; 2],
            bytes: Str::EMPTY,
            target: None,
            index: 0,
            expr: 0,
            sub: 0,
            flags: 0,
            elem: None,
        }
    }
}

pub const PARAM_NOALIAS: u32 = 1;
pub const PARAM_READONLY: u32 = 2;
pub const PARAM_WRITEONLY: u32 = 4;
pub const PARAM_NOCAPTURE: u32 = 8;

pub const FUNC_NO_READ: u32 = 1;
pub const FUNC_NO_WRITE: u32 = 2;
pub const FUNC_ARG_MEM_ONLY: u32 = 4;
pub const FUNC_NORETURN: u32 = 8;
pub const FUNC_NOUNWIND: u32 = 16;
pub const FUNC_INACTIVE: u32 = 32;
pub const FUNC_INTERPOSABLE: u32 = 64;
pub const FUNC_DECLARATION: u32 = 128;
pub const FUNC_INTERNAL: u32 = 256;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FuncInfo {
    pub name: Str,
    pub sig: Option<TypeRef>,
    pub flags: u32,
    pub conv: u32,
    pub num_params: u32,
    pub num_blocks: u32,
    pub scope: Option<ScopeRef>,
    pub personality: Option<ValueRef>,
    pub like: Str,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ParamInfo {
    pub flags: u32,
    pub sret: Option<TypeRef>,
    pub byval: Option<TypeRef>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct GlobalInfo {
    pub name: Str,
    pub ty: Option<TypeRef>,
    pub init: Option<ValueRef>,
    pub align: u32,
    pub space: u32,
    pub constant: u8,
    pub thread_local: u8,
    pub internal: u8,
    pub inactive: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct InstInfo {
    pub op: u32,
    pub sub: u32,
    pub ty: Option<TypeRef>,
    pub elem: Option<TypeRef>,
    pub align: u32,
    pub conv: u32,
    pub num_args: u32,
    pub num_operands: u32,
    pub num_targets: u32,
    pub num_indices: u32,
    pub fast: u8,
    pub ints: u8,
    pub gep: u8,
    pub volatile: u8,
    pub ordering: u8,
    pub failure: u8,
    pub weak: u8,
    pub tail: u8,
    pub cleanup: u8,
    pub mem: u8,
    pub loc: Option<LocRef>,
    pub name: Str,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LocInfo {
    pub file: Str,
    pub scope: Str,
    pub line: u32,
    pub column: u32,
    pub inlined_at: Option<LocRef>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Prepare {
    pub inline_budget: u64,
    pub inline_callee: u64,
    pub keep: *const Str,
    pub num_keep: usize,
    pub keep_containing: *const Str,
    pub num_keep_containing: usize,
    pub force: *const Str,
    pub num_force: usize,
    pub force_budget: u64,
    pub avoid: *const Str,
    pub num_avoid: usize,
    pub excuse: u8,
    pub by_member: u8,
    pub declared: u8,
    pub keep_guesses: u8,
    pub checkpoints: u8,
    pub samples: u8,
    pub disjoint: u8,
    pub products: u8,
    pub max_tape: u64,
    pub context: *mut c_void,
    pub note: Option<TextSink>,
    pub harmless: Option<unsafe extern "C" fn(*mut c_void, Str) -> u8>,
    pub has_second_body: *mut u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TripCount {
    pub header: BlockRef,
    pub count: ValueRef,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SteadyLoad {
    pub load: ValueRef,
    pub header: BlockRef,
    pub condition: Option<ValueRef>,
    pub varies: u64,
    pub most: Option<ValueRef>,
}

pub const MOST_STEPS: usize = 3;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UndoneStore {
    pub store: ValueRef,
    pub old: ValueRef,
    pub header: Option<BlockRef>,
    pub start: Option<ValueRef>,
    pub headers: [Option<BlockRef>; MOST_STEPS],
    pub strides: [Option<ValueRef>; MOST_STEPS],
    pub steps: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArgFact {
    pub call: ValueRef,
    pub arg: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ByteRunFact {
    pub inst: Option<ValueRef>,
    pub param: u32,
    pub kind: u32,
    pub float_kind: u32,
    pub is_alone: u8,
    pub offset: u64,
    pub size: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FactSink {
    pub context: *mut c_void,
    pub trip_count: unsafe extern "C" fn(*mut c_void, TripCount),
    pub stable_load: unsafe extern "C" fn(*mut c_void, ValueRef, u8),
    pub stable_store: unsafe extern "C" fn(*mut c_void, ValueRef),
    pub overwritten: unsafe extern "C" fn(*mut c_void, ValueRef, ValueRef, u8),
    pub steady_load: unsafe extern "C" fn(*mut c_void, SteadyLoad),
    pub undone_store: unsafe extern "C" fn(*mut c_void, UndoneStore),
    pub repeated_load: unsafe extern "C" fn(*mut c_void, ValueRef, ValueRef),
    pub stands_for: unsafe extern "C" fn(*mut c_void, ValueRef, ValueRef),
    pub stable_arg: unsafe extern "C" fn(*mut c_void, ArgFact),
    pub byte_run: unsafe extern "C" fn(*mut c_void, ByteRunFact),
    pub fallback: unsafe extern "C" fn(*mut c_void, ValueRef),
    pub guess: unsafe extern "C" fn(*mut c_void, ValueRef),
    pub overlapping: unsafe extern "C" fn(*mut c_void, ValueRef),
    pub vector_call: unsafe extern "C" fn(*mut c_void, ValueRef),
    pub harmless: unsafe extern "C" fn(*mut c_void, Str) -> u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FuncSpec {
    pub name: Str,
    pub sig: TypeRef,
    pub flags: u32,
    pub conv: u32,
    pub internal: u8,
    pub always_inline: u8,
    pub generated: u8,
    pub like: Option<ValueRef>,
    pub params: *const ParamInfo,
    pub num_params: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkerArgInfo {
    pub kind: u32,
    pub target: Option<ValueRef>,
    pub number: u64,
    pub ty: Option<TypeRef>,
    pub attrs: ParamInfo,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkerCallInfo {
    pub call: Option<ValueRef>,
    pub callee: Option<ValueRef>,
    pub caller: Option<ValueRef>,
    pub loc: Option<LocRef>,
    pub ret: Option<TypeRef>,
    pub num_args: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkerNeed {
    pub call: u32,
    pub inner: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RegistrationInfo {
    pub kind: u32,
    pub count: u32,
    pub functions: [Option<ValueRef>; 4],
    pub stated_in: Option<ValueRef>,
    pub name: Str,
    pub text: Str,
}

unsafe extern "C" {
    pub fn enz_describe_params(function: ValueRef, sink: TextSink, context: *mut c_void);
    pub fn enz_set_visible(host: HostRef, name: Str, visible: u8) -> u8;
    pub fn enz_yield_to_others(host: HostRef, except: Str);

    pub fn enz_jit_make(host: HostRef, speed: u32, error: TextSink, context: *mut c_void) -> Option<JitRef>;
    pub fn enz_jit_address(jit: JitRef, name: Str, error: TextSink, context: *mut c_void) -> u64;
    pub fn enz_jit_drop(jit: JitRef);

    pub fn enz_plugin_info(out: *mut PluginInfo, run: RunFunction);

    pub fn enz_options_register(options: *const OptionSpec, count: usize);
    pub fn enz_option_number(name: Str, out: *mut i64) -> u8;
    pub fn enz_option_text(name: Str, sink: TextSink, context: *mut c_void) -> u8;

    pub fn enz_read_module(path: Str, error: TextSink, context: *mut c_void) -> Option<OwnedRef>;
    pub fn enz_parse_module(text: Str, error: TextSink, context: *mut c_void) -> Option<OwnedRef>;
    pub fn enz_parse_quietly(bytes: Str, error: TextSink, context: *mut c_void) -> Option<OwnedRef>;
    pub fn enz_owned_drop(owned: OwnedRef);
    pub fn enz_owned_host(owned: OwnedRef) -> HostRef;
    pub fn enz_write_module(host: HostRef, path: Str, bitcode: u8, error: TextSink, context: *mut c_void) -> u8;
    pub fn enz_link_module(host: HostRef, bytes: Str, error: TextSink, context: *mut c_void) -> u8;
    pub fn enz_verify_module(host: HostRef, error: TextSink, context: *mut c_void) -> u8;
    pub fn enz_module_bitcode(host: HostRef, sink: TextSink, context: *mut c_void);
    pub fn enz_print_module(host: HostRef, sink: TextSink, context: *mut c_void);
    pub fn enz_print_value(value: ValueRef, sink: TextSink, context: *mut c_void);
    pub fn enz_module_names(host: HostRef, name: *mut Str, triple: *mut Str, layout: TextSink, context: *mut c_void);
    pub fn enz_module_functions(host: HostRef, out: *mut ValueRef, capacity: usize) -> usize;
    pub fn enz_module_globals(host: HostRef, out: *mut ValueRef, capacity: usize) -> usize;
    pub fn enz_module_function(host: HostRef, name: Str) -> Option<ValueRef>;
    pub fn enz_module_global(host: HostRef, name: Str) -> Option<ValueRef>;
    pub fn enz_module_strip_markers(host: HostRef, substrings: *const Str, count: usize);

    pub fn enz_struct_sizes(out: *mut usize, capacity: usize) -> usize;

    pub fn enz_type_info(ty: TypeRef, out: *mut TypeInfo);
    pub fn enz_type_part(ty: TypeRef, index: u32) -> Option<TypeRef>;
    pub fn enz_type_int(ty: TypeRef, index: u32) -> u32;
    pub fn enz_type_make(
        host: HostRef,
        info: *const TypeInfo,
        parts: *const TypeRef,
        ints: *const u32,
    ) -> Option<TypeRef>;
    pub fn enz_value_type(value: ValueRef) -> TypeRef;

    pub fn enz_const_info(constant: ValueRef, out: *mut ConstInfo);
    pub fn enz_const_part(constant: ValueRef, index: u32) -> Option<ValueRef>;
    pub fn enz_const_mask(constant: ValueRef, out: *mut i32, capacity: usize) -> usize;
    pub fn enz_const_make(
        host: HostRef,
        info: *const ConstInfo,
        parts: *const ValueRef,
        mask: *const i32,
    ) -> Option<ValueRef>;

    pub fn enz_func_info(host: HostRef, function: ValueRef, out: *mut FuncInfo);
    pub fn enz_func_param(function: ValueRef, index: u32) -> Option<ValueRef>;
    pub fn enz_param_info(function_or_call: ValueRef, index: u32, out: *mut ParamInfo);
    pub fn enz_func_blocks(function: ValueRef, out: *mut BlockRef, capacity: usize) -> usize;
    pub fn enz_block_insts(block: BlockRef, out: *mut ValueRef, capacity: usize) -> usize;
    pub fn enz_block_name(block: BlockRef) -> Str;
    pub fn enz_value_name(value: ValueRef) -> Str;
    pub fn enz_value_set_name(value: ValueRef, name: Str);
    pub fn enz_global_info(global: ValueRef, out: *mut GlobalInfo);
    pub fn enz_inst_info(inst: ValueRef, out: *mut InstInfo);
    pub fn enz_inst_operands(inst: ValueRef, out: *mut ValueRef);
    pub fn enz_inst_targets(inst: ValueRef, out: *mut BlockRef);
    pub fn enz_inst_indices(inst: ValueRef, out: *mut i32);
    pub fn enz_switch_values(inst: ValueRef, out: *mut ValueRef);
    pub fn enz_loc_info(loc: LocRef, out: *mut LocInfo);
    pub fn enz_scope_info(scope: ScopeRef, out: *mut LocInfo);

    pub fn enz_prepare(host: HostRef, function: ValueRef, options: *const Prepare) -> Option<ValueRef>;
    pub fn enz_inline_begin(host: HostRef, growth: u64);
    pub fn enz_function_erase(host: HostRef, function: ValueRef);
    pub fn enz_module_drop_checkpoint_marks(host: HostRef) -> u8;

    pub fn enz_trip_counts(host: HostRef, function: ValueRef, sink: *const FactSink);
    pub fn enz_memory_facts(host: HostRef, function: ValueRef, sink: *const FactSink);
    pub fn enz_type_facts(host: HostRef, function: ValueRef, sink: *const FactSink);

    pub fn enz_func_make(host: HostRef, spec: *const FuncSpec) -> Option<ValueRef>;
    pub fn enz_block_make(function: ValueRef, name: Str) -> BlockRef;
    pub fn enz_builder_new(host: HostRef, function: ValueRef) -> BuilderRef;
    pub fn enz_builder_drop(builder: BuilderRef);
    pub fn enz_builder_access(builder: BuilderRef, made: ValueRef, like: ValueRef, mem: u8);
    pub fn enz_builder_block(builder: BuilderRef, block: BlockRef, end: ValueRef, turned: u8);
    pub fn enz_builder_finish(builder: BuilderRef);
    pub fn enz_build(
        builder: BuilderRef,
        block: BlockRef,
        info: *const InstInfo,
        operands: *const ValueRef,
        targets: *const BlockRef,
        indices: *const i32,
        cases: *const ValueRef,
        origin: Option<ValueRef>,
        error: TextSink,
        context: *mut c_void,
    ) -> Option<ValueRef>;
    pub fn enz_set_personality(function: ValueRef, routine: ValueRef) -> u8;
    pub fn enz_phi_add(phi: ValueRef, value: ValueRef, block: BlockRef) -> u8;
    pub fn enz_global_make(host: HostRef, info: *const GlobalInfo) -> Option<ValueRef>;
    pub fn enz_global_set_init(global: ValueRef, init: ValueRef) -> u8;
    pub fn enz_global_erase(global: ValueRef);
    pub fn enz_verify_function(function: ValueRef, error: TextSink, context: *mut c_void) -> u8;
    pub fn enz_function_clear(function: ValueRef);

    pub fn enz_split_markers(host: HostRef, substrings: *const Str, count: usize) -> usize;
    pub fn enz_why_no_function(call: ValueRef, sink: TextSink, context: *mut c_void);
    pub fn enz_marker_calls(
        host: HostRef,
        substrings: *const Str,
        count: usize,
        out: *mut MarkerCallInfo,
        capacity: usize,
    ) -> usize;
    pub fn enz_marker_arg(call: ValueRef, index: u32, out: *mut MarkerArgInfo);
    pub fn enz_is_integers(call: ValueRef, index: u32) -> u8;
    pub fn enz_is_descriptor(call: ValueRef, index: u32) -> u8;
    pub fn enz_wants_descriptor(function: ValueRef, index: u32) -> u8;
    pub fn enz_marker_replace(
        host: HostRef,
        call: ValueRef,
        wrapper: ValueRef,
        error: TextSink,
        context: *mut c_void,
    ) -> Option<ValueRef>;
    pub fn enz_marker_needs(calls: *const ValueRef, count: usize, out: *mut MarkerNeed, capacity: usize) -> usize;

    pub fn enz_registry_mark(host: HostRef);
    pub fn enz_registrations(host: HostRef, out: *mut RegistrationInfo, capacity: usize) -> usize;
    pub fn enz_make_products(host: HostRef);
    pub fn enz_statements_mark(host: HostRef);
    pub fn enz_statements_lower(host: HostRef, before_link: u8);

    pub fn enz_lower_dense(host: HostRef, call: ValueRef, why: TextSink, context: *mut c_void) -> u8;

    pub fn enz_truncate(
        host: HostRef,
        call: ValueRef,
        function: ValueRef,
        from: u32,
        to: u32,
        exponent: u32,
        digits: u32,
    ) -> u8;

    pub fn enz_widen(
        host: HostRef,
        call: ValueRef,
        function: ValueRef,
        from: u32,
        to: u32,
        exponent: u32,
        digits: u32,
        memory: u8,
        why: TextSink,
        context: *mut c_void,
    ) -> u8;

    pub fn enz_truncate_all(host: HostRef, from: u32, to: u32, exponent: u32, digits: u32) -> u8;

    pub fn enz_optimise(host: HostRef, functions: *const ValueRef, count: usize, level: u32, size_level: u32);
    pub fn enz_inline_wrappers(
        host: HostRef,
        wrappers: *const ValueRef,
        count: usize,
        generated: *const ValueRef,
        num_generated: usize,
        marks: *mut Option<ValueRef>,
        num_marks: usize,
        level: u32,
    );

    pub fn enz_diagnose(host: HostRef, severity: u32, function: Option<ValueRef>, loc: Option<LocRef>, message: Str);
}

#[cfg(all(test, feature = "link"))]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_the_header() {
        let ours = [
            size_of::<Str>(),
            size_of::<PluginInfo>(),
            size_of::<OptionSpec>(),
            size_of::<TypeInfo>(),
            size_of::<ConstInfo>(),
            size_of::<FuncInfo>(),
            size_of::<ParamInfo>(),
            size_of::<GlobalInfo>(),
            size_of::<InstInfo>(),
            size_of::<LocInfo>(),
            size_of::<Prepare>(),
            size_of::<TripCount>(),
            size_of::<ArgFact>(),
            size_of::<ByteRunFact>(),
            size_of::<FactSink>(),
            size_of::<FuncSpec>(),
            size_of::<MarkerArgInfo>(),
            size_of::<MarkerCallInfo>(),
            size_of::<SteadyLoad>(),
            size_of::<MarkerNeed>(),
            size_of::<RegistrationInfo>(),
        ];
        let mut theirs = [0usize; 21];
        // SAFETY: the array has room for the number given.
        let n = unsafe { enz_struct_sizes(theirs.as_mut_ptr(), theirs.len()) };
        assert_eq!(n, theirs.len());
        assert_eq!(ours, theirs);
    }
}
