# Julia's module, rewritten so that the engine can read it: what is a number or a convention of Julia's becomes a name or plain C.
#
# - Calls of C functions by address get the function's name (dladdr), which lets the engine know them; their operand bundles go.
# - Calls in the conventions of boxed calls (37: function and arguments, 38: with the method, too) get an array of arguments.
# - Arrays are allocated as a header and its data, boxes as objects: models.ll says how.
# - Mathematics of Julia's own is marked with the name of the function of libm that it computes: the call stays, its
#   derivative is by rule.
# - Functions that never return, and calls on paths that end in an exception, are inactive.
#
# Invariant: what a program computes stays the same; only derivatives see more.
# Not handled: calls by name (jl_apply_generic), which the engine refuses where they matter.

module Normalise

import ..LLVM, ..Emit, ..Bitcode, ..Unions, ..seldom

# Functions of Base on one float, and the names under which libm and the engine know them.
const UNARY = Dict(:sin => "sin", :cos => "cos", :tan => "tan", :asin => "asin", :acos => "acos", :atan => "atan", :sinh => "sinh",
    :cosh => "cosh", :tanh => "tanh", :asinh => "asinh", :acosh => "acosh", :atanh => "atanh", :exp => "exp", :exp2 => "exp2",
    :exp10 => "exp10", :expm1 => "expm1", :log => "log", :log2 => "log2", :log10 => "log10", :log1p => "log1p", :cbrt => "cbrt")
const BINARY = Dict(:atan => "atan2", :hypot => "hypot")
# Of a double and an integer.
const SCALING = Dict(:ldexp => "scalbln")

"Whether the function is the code of Base's method for these types."
function is_method(native, @nospecialize(f), @nospecialize(types), symbol::String, world::UInt)
    instance = Emit.method_instance(Tuple{typeof(f), types...}, world)
    code = instance === nothing ? nothing : Emit.code_instance(instance, world)
    code !== nothing && Emit.symbol(native, code) == symbol
end

"The name of the method whose code has this symbol; empty if it is of none. Julia writes `YY.` for `#` in symbols."
function method_name(symbol::String)
    last = findlast(isequal('_'), symbol)
    startswith(symbol, "julia_") && last !== nothing && last > 7 ? Symbol(replace(SubString(symbol, 7, last - 1), "YY." => "#")) : Symbol("")
end

"Marks mathematics, before anything is inlined. `throws`: it matters that it throws where it is not defined."
function mark_mathematics!(native, world::UInt, throws::Bool = false)
    c = LLVM.GetModuleContext(native.mod)
    for f in LLVM.functions(native.mod)
        LLVM.IsDeclaration(f) == 0 || continue
        symbol = LLVM.name(f)
        base = method_name(symbol)
        count = LLVM.CountParams(f)
        if count == 2 && haskey(SCALING, base)
            is_method(native, getfield(Base, base), Any[Float64, Int64], symbol, world) && mark_known!(c, f, SCALING[base], throws)
            continue
        end
        table = count == 1 ? UNARY : count == 2 ? BINARY : nothing
        (table === nothing || !haskey(table, base)) && continue
        for type in Any[Float64, Float32]
            is_method(native, getfield(Base, base), count == 1 ? Any[type] : Any[type, type], symbol, world) || continue
            mark_known!(c, f, LLVM.texts(table[base], type === Float32 ? "f" : ""), throws)
        end
    end
end

function mark_known!(c::LLVM.Ref, f::LLVM.Ref, name::String, throws::Bool)
    LLVM.mark(f, c, "enzyme_math", name)
    # A function of libm, which the engine takes it for, does not.
    throws || LLVM.mark_enum(f, c, "nounwind")
    LLVM.unmark_enum(f, "alwaysinline")
    LLVM.mark_enum(f, c, "noinline")
end

# Names in Julia's tree of types for alias analysis: of reads of immutable objects, and of what else writes or reads the same memory.
const CONSTANT = "jtbaa_const"
const HEADER = "enzyme_header"
const UNCHANGED = ("jtbaa_stack", "jtbaa_immut")
# Of memory of any kind, as `unsafe_load` reads it: a float below would lie beside the elements of arrays, and would meet none of them.
const GENERAL = ("jtbaa", "jtbaa_data", "jtbaa_value")

"What the tags of a module become; each is asked for often."
mutable struct Tags
    context::LLVM.Ref
    made::Dict{Tuple{LLVM.Ref,Int},LLVM.Ref}
    unions::Bool # some are of the numbers of elements' types
    Tags(m::LLVM.Module) = new(LLVM.GetModuleContext(m), Dict{Tuple{LLVM.Ref,Int},LLVM.Ref}(), false)
end

function type_node(c::LLVM.Ref, name::String, above::LLVM.Ref)
    LLVM.MDNodeInContext(c, [LLVM.MDStringInContext(c, name, sizeof(name)), above, LLVM.ConstInt(LLVM.Int64TypeInContext(c), 0, 0)], 3)
end

"Whether a read is of the address of an array's data."
function reads_data_address(i::LLVM.Ref)
    type = LLVM.TypeOf(i)
    LLVM.GetTypeKind(type) == LLVM.KIND_POINTER && LLVM.GetPointerAddressSpace(type) == LLVM.SPACE_DATA
end

"Whether a read is of a size in the header of an array, which lies among addresses."
function reads_size(i::LLVM.Ref)
    type, from = LLVM.TypeOf(i), LLVM.GetOperand(i, 0)
    LLVM.GetTypeKind(type) == LLVM.KIND_INTEGER && LLVM.is_operation(from, LLVM.OP_BITCAST) || return false
    from = LLVM.GetOperand(from, 0)
    LLVM.is_operation(from, LLVM.OP_GEP) && LLVM.GetTypeKind(LLVM.GetElementType(LLVM.TypeOf(from))) == LLVM.KIND_POINTER
end

"A tag of the type of headers, that says constant or does not."
function header_tag(c::LLVM.Ref, given::LLVM.Ref, constant::Bool)
    parts = LLVM.operands(given)
    type = type_node(c, HEADER, LLVM.operands(parts[2])[2])
    constant ? LLVM.MDNodeInContext(c, [type, type, parts[3], parts[4]], 4) : LLVM.MDNodeInContext(c, [type, type, parts[3]], 3)
end

"The tag for an access to a value of a kind of type, for what Julia says of it."
function tag!(tags::Tags, given::LLVM.Ref, kind::Int, constants::Bool)
    haskey(tags.made, (given, kind)) && return tags.made[(given, kind)]
    tags.made[(given, kind)] = made_tag(tags, given, kind, constants)
end

function made_tag(tags::Tags, given::LLVM.Ref, kind::Int, constants::Bool)
    c, parts = tags.context, LLVM.operands(given)
    length(parts) < 3 && return given
    type = parts[2]
    name, above = LLVM.md_string(LLVM.operands(type)[1]), LLVM.operands(type)[2]
    name == Unions.NUMBERS && (tags.unions = true)
    (name == HEADER || name == CONSTANT && !constants) && return given
    (name == "double" || name == "float" || name in GENERAL) && return given
    plain = name in UNCHANGED || name == CONSTANT
    if plain
        # What is above them all says nothing of them.
        while LLVM.GetMDNodeNumOperands(above) > 1 && LLVM.md_string(LLVM.operands(above)[1]) != "jtbaa"
            above = LLVM.operands(above)[2]
        end
        type = type_node(c, "jtbaa_immut", type_node(c, "jtbaa_value", type_node(c, "jtbaa_data", above)))
    end
    float = kind == LLVM.KIND_DOUBLE ? "double" : kind == LLVM.KIND_FLOAT ? "float" : ""
    plain || !isempty(float) || return given
    isempty(float) || (type = type_node(c, float, type))
    LLVM.MDNodeInContext(c, [type, type, LLVM.ConstInt(LLVM.Int64TypeInContext(c), 0, 0)], 3)
end

"""
Says of accesses to floats that they are of floats, in Julia's tree of types for alias analysis and by the names that the engine knows. Copies
that LLVM later makes with integers keep that. Floats become children of what Julia says, if nothing else is below that, so accesses of other types still
meet them.

Immutable objects, in memory of their own or on the stack, are of one type then. Julia reads them as memory that never changes, which holds in functions
that are given them; derivatives put these and those that make the objects into one, so that is taken back (`constants`) once Julia has optimised. It stays
for the sizes of arrays of several dimensions, which calls write that the engine does not look into; not for the address of the data, which models store.
Returns whether the numbers of elements' types are among what is accessed.
"""
function mark_types!(m::LLVM.Module, constants::Bool)
    c = LLVM.GetModuleContext(m)
    tbaa, invariant = LLVM.GetMDKindIDInContext(c, "tbaa", 4), LLVM.GetMDKindIDInContext(c, "invariant.load", 14)
    tags = Tags(m)
    for f in LLVM.functions(m), b in LLVM.blocks(f), i in LLVM.instructions(b)
        op = LLVM.GetInstructionOpcode(i)
        op == LLVM.OP_LOAD || op == LLVM.OP_STORE || op == LLVM.OP_CALL || continue
        given = LLVM.GetMetadata(i, tbaa)
        if op == LLVM.OP_LOAD && LLVM.GetMetadata(i, invariant) != C_NULL
            if !constants && given != C_NULL && LLVM.GetMDNodeNumOperands(given) == 4 && (reads_size(i) || reads_data_address(i))
                LLVM.SetMetadata(i, tbaa, header_tag(c, given, reads_size(i)))
                continue
            end
            size = given != C_NULL && LLVM.GetMDNodeNumOperands(given) == 4 && LLVM.md_string(LLVM.operands(LLVM.operands(given)[2])[1]) == HEADER
            constants && !size && LLVM.SetMetadata(i, invariant, C_NULL)
        end
        given == C_NULL && continue
        kind = op == LLVM.OP_CALL ? LLVM.KIND_VOID : Int(LLVM.GetTypeKind(LLVM.TypeOf(op == LLVM.OP_LOAD ? i : LLVM.GetOperand(i, 0))))
        wanted = tag!(tags, given, kind, constants)
        wanted == given || LLVM.SetMetadata(i, tbaa, wanted)
    end
    tags.unions
end

struct SymbolInfo
    file::Cstring
    base::Ptr{Cvoid}
    name::Cstring
    address::Ptr{Cvoid}
end

# What the C library chooses at run time has no symbol at its address; what has several has one of them.
const CHOSEN = (:memcpy, :memmove, :memset, :memcmp, :memchr, :strlen, :sin, :cos, :tan, :exp, :log, :pow, :atan, :atan2, :fma, :floor,
    :ceil, :trunc, :rint, :nearbyint, :sincos, :exp2, :expm1, :log1p, :sinf, :cosf, :expf, :logf, :powf, :malloc, :calloc, :free)
const chosen = IdDict{Any,Any}()

function fill_chosen()
    for s in CHOSEN
        p = ccall(:dlsym, Ptr{Cvoid}, (Ptr{Cvoid}, Cstring), C_NULL, string(s))
        p == C_NULL || (chosen[UInt(p)] = string(s))
    end
end

"The name of the C function at an address and the library that it is of; empty if it has none."
function c_name(address::UInt)
    isempty(chosen) && fill_chosen()
    haskey(chosen, address) && return chosen[address]::String, ""
    info = Ref(SymbolInfo(C_NULL, C_NULL, C_NULL, C_NULL))
    found = ccall(:dladdr, Cint, (UInt, Ref{SymbolInfo}), address, info)
    i = info[]
    (found == 0 || i.name == C_NULL || UInt(i.address) != address) ? ("", "") : (unsafe_string(i.name), unsafe_string(i.file))
end

is_global(name::String) = ccall(:dlsym, Ptr{Cvoid}, (Ptr{Cvoid}, Cstring), C_NULL, name) != C_NULL

# Functions of the run-time system through which no derivative flows, whatever they are given.
const INACTIVE = Set(["jl_throw", "jl_error", "jl_errorf", "jl_undefined_var_error", "jl_bounds_error_ints", "jl_bounds_error_int", "jl_bounds_error_tuple_int",
    "jl_bounds_error_unboxed_int", "jl_bounds_error", "jl_type_error", "jl_throw_out_of_memory_error", "jl_rethrow", "jl_rethrow_other",
    "jl_box_int8", "jl_box_uint8", "jl_box_int16", "jl_box_uint16", "jl_box_int32", "jl_box_uint32", "jl_box_int64", "jl_box_uint64",
    "jl_box_char", "jl_alloc_string", "jl_string_to_array", "jl_array_to_string", "jl_pchar_to_string", "jl_cstr_to_string",
    "jl_symbol_n", "jl_object_id", "jl_object_id_", "jl_egal", "jl_isa", "jl_subtype", "jl_typeassert", "jl_get_world_counter", "jl_get_keyword_sorter", "jl_hrtime", "memcmp",
    "jl_gc_queue_root", "jl_gc_add_ptr_finalizer", "jl_get_binding_or_error", "jl_boundp", "memhash_seed", "memhash32_seed", "jl_types_equal", "jl_f_isdefined", "jl_stored_inline",
    "jl_get_ptls_states", "jl_uv_puts", "jl_process_events", "jl_idtable_size", "jl_breakpoint", "u8_isvalid", "u8_iswprint", "jl_gc_safepoint", "jl_f_typeof", "jl_f_isa",
    "jl_f_is", "jl_pop_handler", "jl_excstack_state", "jl_restore_excstack", "jl_current_exception", "julia.write_barrier", "julia.ptls_states", "julia.typeof", "jl_f_issubtype", "jl_f_sizeof", "jl_f_nfields", "jl_f_fieldtype", "jl_f_apply_type"])

# Functions of the run-time system that have a body in models.ll.
const MODELS = Dict("jl_alloc_array_1d" => "enzyme.array_1d", "jl_alloc_array_2d" => "enzyme.array_2d", "jl_alloc_array_3d" => "enzyme.array_3d",
    "memcpy" => "enzyme.memcpy", "memmove" => "enzyme.memmove", "memset" => "enzyme.memset", "jl_reshape_array" => "enzyme.reshape", "jl_array_copy" => "enzyme.array_copy", "jl_array_ptr_copy" => "enzyme.ptr_copy", "jl_box_float64" => "enzyme.box_float64", "jl_box_float32" => "enzyme.box_float32",
    "jl_array_grow_end" => "enzyme.grow_end", "jl_array_del_end" => "enzyme.del_end", "jl_array_sizehint" => "enzyme.sizehint", "jl_array_grow_at" => "enzyme.grow_at", "jl_array_grow_beg" => "enzyme.grow_beg",
    "jl_array_del_at" => "enzyme.del_at", "jl_array_del_beg" => "enzyme.del_beg", "jl_new_array" => "enzyme.array_nd", "malloc" => "enzyme.malloc", "free" => "enzyme.free", "jl_array_typetagdata" => "enzyme.tags")

"Blocks from which the function may return, as the keys of a table."
function returning(f::LLVM.Value)
    all, warm = LLVM.blocks(f), IdDict{Any,Any}()
    changed = true
    while changed
        changed = false
        for n in length(all):-1:1
            b = all[n]
            if !haskey(warm, b) && leads_to(warm, b)
                changed = warm[b] = true
            end
        end
    end
    warm
end

function leads_to(warm::IdDict{Any,Any}, b::LLVM.Ref)
    last = LLVM.GetBasicBlockTerminator(b)
    LLVM.GetInstructionOpcode(last) == LLVM.OP_RET && return true
    for n in 1:Int(LLVM.GetNumSuccessors(last))
        haskey(warm, LLVM.GetSuccessor(last, n - 1)) && return true
    end
    false
end

mutable struct Work
    mod::LLVM.Module
    context::LLVM.Ref
    builder::LLVM.Builder
    bytes::LLVM.Type         # i8*
    stale::Vector{Tuple{String,LLVM.Value}} # calls of markers, to be erased
    storing::Vector{LLVM.Value} # functions that store references in objects, and go on
    reads_globals::Bool       # references are taken out of objects that are constants of the code
    linked::Vector{Bitcode.Given} # bitcode of C functions that are called
    dynamic::Bool             # calls that are dispatched at run time have a rule
    elsewhere::Vector{Pair{String,UInt}} # C functions of libraries that the process keeps to themselves, with their addresses
    unions::Bool              # there are arrays of values of one of several types
    harmless::Any             # where exceptions are caught: which calls on the way to one change nothing that others see
end

"Whether a call on the way to an exception counts as others do."
counts(w::Work, call::LLVM.Value) = w.harmless !== nothing && !seldom(parentmodule(Normalise).Catching.harmless_call!, w.harmless, call)::Bool

function declared(w::Work, name::String, type::LLVM.Type)
    f = LLVM.GetNamedFunction(w.mod, name)
    f == C_NULL && return LLVM.AddFunction(w.mod, name, type)
    # Another prototype: the one that is there is called through a cast.
    LLVM.GetElementType(LLVM.TypeOf(f)) == type ? f :
        ccall((:LLVMConstBitCast, LLVM.library), LLVM.Ref, (LLVM.Ref, LLVM.Ref), f, LLVM.PointerType(type, 0))
end

function arguments(call::LLVM.Value)
    out = LLVM.Ref[]
    for n in 1:Int(LLVM.GetNumArgOperands(call))
        push!(out, LLVM.GetOperand(call, n - 1))
    end
    out
end

"Puts a call of another function in the place of `call`."
function replace_call!(w::Work, call::LLVM.Value, callee::LLVM.Value, args::Vector{LLVM.Ref})
    LLVM.PositionBuilderBefore(w.builder, call)
    LLVM.SetInstDebugLocation(w.builder, call)
    copy_location!(w, call)
    made = LLVM.BuildCall(w.builder, callee, args, length(args), "")
    LLVM.SetInstDebugLocation(w.builder, made)
    old = LLVM.TypeOf(call)
    if LLVM.GetTypeKind(old) != LLVM.KIND_VOID
        made = convert_to(w.builder, made, old)
    end
    LLVM.GetTypeKind(old) == LLVM.KIND_VOID || LLVM.ReplaceAllUsesWith(call, made)
    LLVM.InstructionEraseFromParent(call)
    made
end

function copy_location!(w::Work, call)
    location = ccall((:LLVMInstructionGetDebugLoc, LLVM.library), LLVM.Ref, (LLVM.Ref,), call)
    ccall((:LLVMSetCurrentDebugLocation2, LLVM.library), Cvoid, (LLVM.Ref, LLVM.Ref), w.builder, location)
end

"A value as one of another type of the same bits: pointers and integers of Julia's `Ptr` are the same."
function convert_to(builder, v, type)
    from = LLVM.TypeOf(v)
    from == type && return v
    a, b = LLVM.GetTypeKind(from), LLVM.GetTypeKind(type)
    a == LLVM.KIND_INTEGER && b == LLVM.KIND_POINTER && return LLVM.BuildIntToPtr(builder, v, type, "")
    a == LLVM.KIND_POINTER && b == LLVM.KIND_INTEGER && return LLVM.BuildPtrToInt(builder, v, type, "")
    LLVM.BuildBitCast(builder, v, type, "")
end

cast(w::Work, v, type) = LLVM.TypeOf(v) == type ? v : LLVM.BuildBitCast(w.builder, v, type, "")

function integer(v::LLVM.Value)
    LLVM.GetValueKind(v) == LLVM.VALUE_CONSTANT_INT ? UInt(LLVM.ConstIntGetZExtValue(v)) : nothing
end

"The address that a constant is, through casts; nothing if it is none."
function address(v::LLVM.Value)
    while LLVM.GetValueKind(v) == LLVM.VALUE_CONSTANT_EXPR
        LLVM.GetConstOpcode(v) == LLVM.OP_INTTOPTR && return integer(LLVM.GetOperand(v, 0))
        LLVM.GetNumOperands(v) == 1 || return nothing
        v = LLVM.GetOperand(v, 0)
    end
    nothing
end

i64(w::Work, n) = LLVM.ConstInt(LLVM.Int64TypeInContext(w.context), UInt64(n), 0)

"A call of a model of the run-time system's function, or nothing if the model does not fit this call."
function model!(w::Work, call, name::String)
    args = arguments(call)
    # Only modules without such arrays come to this; there the model would give another address.
    name == "jl_array_typetagdata" && !w.unions && return false
    model = w.unions && (name == "memmove" || name == "memcpy") && is_of_tags(args[1]) && is_of_tags(args[2]) ? "enzyme.move_tags" : MODELS[name]
    callee = LLVM.GetNamedFunction(w.mod, model)
    extra = LLVM.Ref[]
    if name == "jl_reshape_array"
        at = address(args[1])
        at === nothing && return false
        type = unsafe_pointer_to_objref(Ptr{Cvoid}(at))
        (type isa DataType && isconcretetype(type)) || return false
        extra = [i64(w, Emit.array_header(ndims(type)))]
    elseif startswith(name, "jl_alloc_array") || name == "jl_new_array"
        at = address(args[1])
        at === nothing && return false
        type = unsafe_pointer_to_objref(Ptr{Cvoid}(at))
        found = Unions.element(type)
        found === nothing && return false
        extra = [i64(w, found[1]), i64(w, found[2])]
        if name == "jl_new_array"
            vector = i64(w, UInt(pointer_from_objref(Array{eltype(type),1})))
            LLVM.PositionBuilderBefore(w.builder, call)
            extra = [LLVM.BuildIntToPtr(w.builder, vector, w.bytes, ""), i64(w, ndims(type)), extra..., i64(w, Emit.array_header(ndims(type)))]
        end
    end
    LLVM.PositionBuilderBefore(w.builder, call)
    for n in 1:length(args)
        args[n] = convert_to(w.builder, args[n], LLVM.TypeOf(LLVM.GetParam(callee, n - 1)))
    end
    states = !isempty(extra) && name != "jl_reshape_array" && found[2] == Unions.FLOATS
    after = states ? LLVM.GetNextInstruction(call) : call
    made = replace_call!(w, call, callee, append!(args, extra))
    if states
        LLVM.PositionBuilderBefore(w.builder, after)
        LLVM.BuildCall(w.builder, LLVM.GetNamedFunction(w.mod, LLVM.texts("enzyme.state.", string(sizeof(Unions.float_of(eltype(type)))))), LLVM.Ref[cast(w, made, w.bytes)], 1, "")
    end
    true
end

"A call of our code for a function of BLAS; false if there is none."
function of_blas!(w::Work, call, name::String)
    before = LLVM.functions(w.mod)
    g = parentmodule(Normalise).Models.of_blas(w.mod, name)
    g === nothing && return false
    for f in setdiff(LLVM.functions(w.mod), before)
        # Code without derivative calls LAPACK itself.
        LLVM.IsDeclaration(f) == 0 && !LLVM.has_mark(f, "enzyme_inactive") && function!(w, f)
    end
    # Of a method that returns one of several types the code takes more.
    LLVM.CountParams(g) <= LLVM.GetNumArgOperands(call) || error("Enzyme: internal: the code for $name takes other parameters")
    LLVM.PositionBuilderBefore(w.builder, call)
    given = LLVM.Ref[convert_to(w.builder, LLVM.GetOperand(call, n), LLVM.TypeOf(LLVM.GetParam(g, n))) for n in 0:(Int(LLVM.CountParams(g)) - 1)]
    replace_call!(w, call, g, given)
    true
end

"A call of a C function as its bitcode defines it, with pointers where Julia has integers; false if none was given."
function of_bitcode!(w::Work, call, library::String, name::String)
    found = Bitcode.of(library, name)
    found === nothing && return false
    pointers, returns_pointer = found.functions[name]
    args = arguments(call)
    length(args) == length(pointers) || return false
    types = LLVM.Ref[p ? w.bytes : LLVM.TypeOf(a) for (p, a) in zip(pointers, args)]
    type = LLVM.FunctionType(returns_pointer ? w.bytes : LLVM.TypeOf(call), types, length(types), 0)
    LLVM.PositionBuilderBefore(w.builder, call)
    replace_call!(w, call, declared(w, name, type), LLVM.Ref[convert_to(w.builder, a, t) for (a, t) in zip(args, types)])
    found in w.linked || push!(w.linked, found)
    true
end

# Functions that make text of what they are given, and write it: there is no derivative of that.
const TEXT = (print, println, show, display, string, repr, sprint, Base.print_to_string)
const TEXT_KEYWORDS = r"^#+(print|println|show|display|string|repr|sprint|printstyled)(#[0-9]+|##kw)$"

"Whether the constant is one of these functions, or their code with keywords."
function writes_text(f::LLVM.Value)
    at = address(f)
    at === nothing && return false
    object = unsafe_pointer_to_objref(Ptr{Cvoid}(at))
    object isa Function || return false
    any(t -> t === object, TEXT) || parentmodule(typeof(object)) === Base && occursin(TEXT_KEYWORDS, string(typeof(object).name.name))
end

"A function that calls `callee` and is inactive: for calls on the way to an exception."
function outline(w::Work, callee::LLVM.Value, type::LLVM.Type, name::String)
    name in INACTIVE && return callee
    known = LLVM.GetNamedFunction(w.mod, "enzyme.cold." * name)
    known == C_NULL || return known
    f = LLVM.AddFunction(w.mod, "enzyme.cold." * name, type)
    b = LLVM.CreateBuilderInContext(w.context)
    LLVM.PositionBuilderAtEnd(b, LLVM.AppendBasicBlockInContext(w.context, f, "top"))
    count = LLVM.CountParams(f)
    r = LLVM.BuildCall(b, callee, LLVM.parameters(f), count, "")
    LLVM.GetTypeKind(LLVM.GetReturnType(type)) == LLVM.KIND_VOID ? LLVM.BuildRetVoid(b) : LLVM.BuildRet(b, r)
    LLVM.DisposeBuilder(b)
    LLVM.SetLinkage(f, LLVM.LINKAGE_INTERNAL)
    inactive!(w, f)
    f
end

"""
A call that is an error if it is reached. Where types are only known at run time, code for all of them is in the module, that for numbers of any precision too,
which has no derivative.
"""
function never!(w::Work, call::LLVM.Value, type::LLVM.Type, name::String)
    known = LLVM.GetNamedFunction(w.mod, "enzyme.never." * name)
    f = known == C_NULL ? LLVM.AddFunction(w.mod, "enzyme.never." * name, type) : known
    if known == C_NULL
        b = LLVM.CreateBuilderInContext(w.context)
        LLVM.PositionBuilderAtEnd(b, LLVM.AppendBasicBlockInContext(w.context, f, "top"))
        LLVM.BuildCall(b, LLVM.GetNamedFunction(w.mod, "enzyme.no_big_numbers"), LLVM.Ref[], 0, "")
        LLVM.GetTypeKind(LLVM.GetReturnType(type)) == LLVM.KIND_VOID ? LLVM.BuildRetVoid(b) : LLVM.BuildRet(b, LLVM.ConstNull(LLVM.GetReturnType(type)))
        LLVM.DisposeBuilder(b)
        LLVM.SetLinkage(f, LLVM.LINKAGE_INTERNAL)
        inactive!(w, f)
    end
    replace_call!(w, call, f, arguments(call))
end

inactive!(w::Work, f) = inactive!(w.context, f)
function inactive!(c::LLVM.Ref, f)
    LLVM.mark(f, c, "enzyme_inactive")
    LLVM.unmark_enum(f, "alwaysinline")
    LLVM.mark_enum(f, c, "noinline")
end

const MARKERS = ("llvm.julia.gc_preserve_end", "llvm.julia.gc_preserve_begin", "julia.gcroot_flush", "julia.loopinfo_marker")

function function!(w::Work, f::LLVM.Value)
    warm = returning(f)
    if isempty(warm) && (w.harmless === nothing || seldom(parentmodule(Normalise).Catching.harmless!, w.harmless, f)::Bool)
        inactive!(w, f)
    end
    for b in LLVM.blocks(f), i in LLVM.instructions(b)
        op = LLVM.GetInstructionOpcode(i)
        w.dynamic && haskey(warm, b) && hands_on(i, op) && seldom(unshare!, w, i, op)
        if op == LLVM.OP_CALL
            call!(w, f, i, haskey(warm, b) || counts(w, i))
        elseif w.unions && (op == LLVM.OP_LOAD || op == LLVM.OP_STORE) && Unions.is_tag(w.context, i)
            seldom(access_tag!, w, i, op)
            continue
        elseif op == LLVM.OP_LOAD && !w.reads_globals && LLVM.GetTypeKind(LLVM.TypeOf(i)) == LLVM.KIND_POINTER
            w.reads_globals = is_literal(LLVM.GetOperand(i, 0))
        end
        op == LLVM.OP_LOAD && LLVM.GetTypeKind(LLVM.TypeOf(i)) == LLVM.KIND_INTEGER && is_address(w, i) && address!(w, i)
    end
end

"Whether an integer is read that is never zero, which is LLVM's word for an address that it made a number."
function is_address(w::Work, read::LLVM.Value)
    range = LLVM.GetMetadata(read, LLVM.GetMDKindIDInContext(w.context, "range", 5))
    (range == C_NULL || LLVM.GetIntTypeWidth(LLVM.TypeOf(read)) != 64) && return false
    ends = LLVM.operands(range)
    length(ends) == 2 && LLVM.ConstIntGetZExtValue(ends[1]) == 1 && LLVM.ConstIntGetZExtValue(ends[2]) == 0
end

"An address is read as one, and made a number afterwards."
function address!(w::Work, read::LLVM.Value)
    LLVM.PositionBuilderBefore(w.builder, read)
    copy_location!(w, read)
    from = LLVM.BuildBitCast(w.builder, LLVM.GetOperand(read, 0), LLVM.PointerType(w.bytes, 0), "")
    number = LLVM.BuildPtrToInt(w.builder, LLVM.BuildLoad(w.builder, from, ""), LLVM.TypeOf(read), "")
    LLVM.ReplaceAllUsesWith(read, number)
    LLVM.InstructionEraseFromParent(read)
end

"Whether an address is a constant number, or lies behind one, at most a few steps away."
function is_literal(v::LLVM.Value)
    for _ in 1:8
        kind = LLVM.GetValueKind(v)
        if kind == LLVM.VALUE_CONSTANT_EXPR
            LLVM.GetConstOpcode(v) == LLVM.OP_INTTOPTR && return true
        elseif kind != LLVM.VALUE_INSTRUCTION || !(LLVM.GetInstructionOpcode(v) in (LLVM.OP_GEP, LLVM.OP_BITCAST))
            return false
        end
        v = LLVM.GetOperand(v, 0)
    end
    true
end

"The function behind casts, or the constant that there is."
function behind(v::LLVM.Value)
    while LLVM.GetValueKind(v) == LLVM.VALUE_CONSTANT_EXPR && LLVM.GetConstOpcode(v) != LLVM.OP_INTTOPTR && LLVM.GetNumOperands(v) == 1
        v = LLVM.GetOperand(v, 0)
    end
    v
end

"A call that stays as it is, without the collector's bundle, which code is not made of."
without_roots!(w::Work, call) = LLVM.GetNumOperands(call) > LLVM.GetNumArgOperands(call) + 1 && (replace_call!(w, call, LLVM.GetCalledValue(call), arguments(call)); nothing)

include("numbers.jl")
include("boxed.jl")

function call!(w::Work, f, call, is_warm::Bool)
    convention = LLVM.GetInstructionCallConv(call)
    if convention == 37 || convention == 38
        seldom(boxed!, w, f, call, convention, is_warm)
        return
    end
    callee = LLVM.GetCalledValue(call)
    kind = LLVM.GetValueKind(callee)
    type = LLVM.GetElementType(LLVM.TypeOf(callee))
    if kind == LLVM.VALUE_CONSTANT_EXPR
        at = address(callee)
        name, library = at === nothing ? ("", "") : c_name(at)
        isempty(name) && return seldom(without_roots!, w, call)
        is_warm && name == "jl_array_ptr_copy" && push!(w.storing, f)
        haskey(MODELS, name) && seldom(model!, w, call, name) === true && return
        endswith(name, "64_") && seldom(of_blas!, w, call, name) === true && return
        isempty(Bitcode.given) || seldom(of_bitcode!, w, call, library, name) === true && return
        if w.dynamic && (startswith(name, "mpfr_") || startswith(name, "__gmpz_"))
            seldom(never!, w, call, type, name)
            return
        end
        target = declared(w, name, type)
        LLVM.GetValueKind(target) == LLVM.VALUE_FUNCTION && note!(w, target, name)
        is_global(name) || any(f -> f.first == name, w.elsewhere) || push!(w.elsewhere, name => at)
        if !is_warm
            target = outline(w, target, type, name)
        end
        replace_call!(w, call, target, arguments(call))
        return
    end
    kind == LLVM.VALUE_FUNCTION || return seldom(without_roots!, w, call)
    name = LLVM.name(callee)
    if name in MARKERS
        push!(w.stale, (name, call))
        return
    end
    startswith(name, "llvm.") && return seldom(without_roots!, w, call)
    if name == "julia.pointer_from_objref"
        LLVM.PositionBuilderBefore(w.builder, call)
        LLVM.ReplaceAllUsesWith(call, cast(w, LLVM.GetOperand(call, 0), LLVM.TypeOf(call)))
        LLVM.InstructionEraseFromParent(call)
        return
    end
    w.dynamic && is_warm && name == "jl_f_tuple" && return seldom(rest!, w, call)
    haskey(MODELS, name) && seldom(model!, w, call, name) === true && return
    if startswith(name, "julia.")
        is_warm && name == "julia.write_barrier" && LLVM.GetNumArgOperands(call) > 1 && push!(w.storing, f)
        note!(w, callee, name)
        return
    end
    LLVM.IsDeclaration(callee) != 0 && note!(w, callee, name)
    variadic = LLVM.IsFunctionVarArg(type) != 0
    if !is_warm && !variadic
        replace_call!(w, call, outline(w, callee, type, name), arguments(call))
    elseif LLVM.IsDeclaration(callee) != 0
        # A call without the collector's bundle.
        replace_call!(w, call, callee, arguments(call))
    end
end

function note!(w::Work, f, name)
    name in INACTIVE && LLVM.mark(f, w.context, "enzyme_inactive")
    nothing
end

# Functions that give pointers which are no objects, or are never collected.
const PLAIN = ["jl_get_ptls_states", "jl_get_binding_or_error", "jl_load_and_lookup", "memcpy", "memmove", "memset", "memchr"]

"""
Definitions (for the engine's LLVM) of functions of the run-time system that return objects: they call what they stand for by its address, and root what that
returns. Whether that is all: other functions may give objects that nothing roots.
"""
function roots!(m::LLVM.Module)
    io, all, none = IOBuffer(), true, true
    for f in LLVM.functions(m)
        LLVM.IsDeclaration(f) == 0 && continue
        type = LLVM.GetElementType(LLVM.TypeOf(f))
        LLVM.GetTypeKind(LLVM.GetReturnType(type)) == LLVM.KIND_POINTER || continue
        name = LLVM.name(f)
        if startswith(name, "julia.")
            none &= name == "julia.ptls_states" || name == "julia.typeof"
        elseif !(startswith(name, "llvm.") || startswith(name, "__enzyme") || is_plain(name))
            none = false
            address = startswith(name, "jl_") && LLVM.IsFunctionVarArg(type) == 0 ? ccall(:dlsym, Ptr{Cvoid}, (Ptr{Cvoid}, Cstring), C_NULL, name) : C_NULL
            all &= address != C_NULL && seldom(rooted!, io, name, f, UInt(address))::Bool
        end
    end
    String(take!(io)), all, none
end

function is_plain(name::String)
    for p in PLAIN
        p == name && return true
    end
    false
end

"The definition of one; false if its parameters are of unforeseen types."
function rooted!(io::IO, name::String, f::LLVM.Value, address::UInt)
    types = map(p -> type_name(LLVM.TypeOf(p)), LLVM.parameters(f))
    "" in types && return false
    parameters = join(("$t %$n" for (n, t) in enumerate(types)), ", ")
    print(io, "define linkonce_odr hidden ptr @$name($parameters) {\n  %roots = call ptr @enzyme.room()\n",
        "  %object = call ptr inttoptr (i64 $address to ptr)($parameters)\n",
        "  call void @enzyme.put(ptr %roots, ptr %object)\n  ret ptr %object\n}\n")
    true
end

"""
Definitions (for the engine's LLVM) of C functions that the process has in a library of its own, as by the name no other part of it finds them: GMP, those
that make random numbers.
"""
function elsewhere(m::LLVM.Module, functions::Vector{Pair{String,UInt}})
    io = IOBuffer()
    for (name, address) in functions
        f = LLVM.GetNamedFunction(m, name)
        (f == C_NULL || LLVM.IsDeclaration(f) == 0) && continue
        result = LLVM.GetReturnType(LLVM.GetElementType(LLVM.TypeOf(f)))
        types, returned = map(p -> type_name(LLVM.TypeOf(p)), LLVM.parameters(f)), LLVM.GetTypeKind(result) == LLVM.KIND_VOID ? "void" : type_name(result)
        ("" in types || isempty(returned)) && continue
        parameters = join(("$t %$n" for (n, t) in enumerate(types)), ", ")
        print(io, "define linkonce_odr hidden $returned @$name($parameters) {\n  ", returned == "void" ? "" : "%r = ",
            "call $returned inttoptr (i64 $address to ptr)($parameters)\n  ret $returned", returned == "void" ? "" : " %r", "\n}\n")
    end
    String(take!(io))
end

function type_name(type::LLVM.Type)
    kind = LLVM.GetTypeKind(type)
    kind == LLVM.KIND_POINTER ? "ptr" : kind == LLVM.KIND_DOUBLE ? "double" : kind == LLVM.KIND_FLOAT ? "float" :
        kind == LLVM.KIND_INTEGER ? "i$(LLVM.GetIntTypeWidth(type))" : ""
end

"Rewrites a module without address spaces. Whether its code stores references in objects, whether it takes some out of global ones, and the bitcode that is to be linked."
function rewrite!(mod::LLVM.Module, models::String, dynamic::Bool, catches::Bool, unions::Bool)
    own = LLVM.functions(mod)
    harmless = catches ? seldom(parentmodule(Normalise).Catching.survey, own) : nothing
    LLVM.link_text!(mod, models)
    c = LLVM.GetModuleContext(mod)
    for f in LLVM.functions(mod)
        LLVM.IsDeclaration(f) == 0 && startswith(LLVM.name(f), "enzyme.") && LLVM.SetLinkage(f, LLVM.LINKAGE_INTERNAL)
        LLVM.name(f) == "jl_bounds_error_int" && LLVM.mark(f, c, "enzyme_inactive")
    end
    w = Work(mod, c, LLVM.CreateBuilderInContext(c), LLVM.PointerType(LLVM.Int8TypeInContext(c), 0), Tuple{String,LLVM.Value}[], LLVM.Value[], false, Bitcode.Given[], dynamic, Pair{String,UInt}[], unions, harmless)
    for f in own
        LLVM.IsDeclaration(f) == 0 && function!(w, f)
    end
    # Ends before beginnings, which they use.
    for marker in MARKERS, (name, i) in w.stale
        name == marker && LLVM.InstructionEraseFromParent(i)
    end
    LLVM.DisposeBuilder(w.builder)
    !isempty(w.storing) && seldom(reaches, mod, w.storing)::Bool, w.reads_globals, w.linked, w.elsewhere
end

"Whether functions that others see reach one of these, not on the way to an exception."
function reaches(mod::LLVM.Module, wanted::Vector{LLVM.Value})
    work = filter(f -> LLVM.IsDeclaration(f) == 0 && LLVM.GetLinkage(f) == LLVM.LINKAGE_EXTERNAL, LLVM.functions(mod))
    seen = IdDict{Any,Any}()
    while !isempty(work)
        f = pop!(work)
        haskey(seen, f) && continue
        seen[f] = true
        f in wanted && return true
        for b in LLVM.blocks(f), i in LLVM.instructions(b)
            LLVM.GetInstructionOpcode(i) == LLVM.OP_CALL || continue
            g = behind(LLVM.GetCalledValue(i))
            LLVM.GetValueKind(g) == LLVM.VALUE_FUNCTION && LLVM.IsDeclaration(g) == 0 && !startswith(LLVM.name(g), "enzyme.cold.") && push!(work, g)
        end
    end
    false
end

end
