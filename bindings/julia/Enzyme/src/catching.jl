# `try` with `catch` or `finally` in what is differentiated. Julia enters a handler by a call that returns twice, and an exception jumps there by a way
# that LLVM's control flow does not show. Where the derivative depends on such code it is made once more with these ways shown: the
# engine is told which functions begin and end a block with a handler, makes its calls that may throw invokes, differentiates those, and
# makes them such blocks again. What the program then catches is looked at first (`passes`): exceptions by which a derivative is stopped are not
# the program's.
#
# The calls on the way to an exception, which are without derivative elsewhere, have one here if they may change memory that others see:
# the way may end in a handler.
#
# Not handled, and refused: blocks that do not nest in the code that Julia makes of them.

module Catching

import ..LLVM, ..Library, ..Normalise, ..Emit

"A function that catches, and where it does."
struct Place
    symbol::String
    file::String
    line::Int
end

"The name of a function's method in its symbol, which ends with a number that is another each time."
method_name(symbol::String) = replace(symbol, r"_[0-9]+$" => "")

"""
The functions of the module that catch. Of those that are named in `shown` the engine is told where their handlers are; nothing inlines the others from
now on.
"""
function places!(m::LLVM.Module, shown::Union{Nothing,Set{String}})
    c = LLVM.GetModuleContext(m)
    enter = LLVM.GetNamedFunction(m, "julia.except_enter")
    LLVM.mark(enter, c, "enzyme_inactive")
    out = Place[]
    for f in LLVM.functions(m), b in LLVM.blocks(f), i in LLVM.instructions(b)
        LLVM.GetInstructionOpcode(i) == LLVM.OP_CALL && LLVM.GetCalledValue(i) == enter || continue
        LLVM.unmark_enum(f, "alwaysinline")
        push!(out, Place(LLVM.name(f), LLVM.location(i)...))
        shown !== nothing && method_name(LLVM.name(f)) in shown && continue
        LLVM.mark_enum(f, c, "noinline")
        shown === nothing || LLVM.SetOperand(i, LLVM.GetNumOperands(i) - 1, kept(m, c, enter))
    end
    shown === nothing || show!(m, c, enter)
    out
end

"What enters a handler that stays as it is."
function kept(m::LLVM.Module, c, enter)
    known = LLVM.GetNamedFunction(m, "julia.except_enter.kept")
    known == C_NULL || return known
    f = LLVM.AddFunction(m, "julia.except_enter.kept", LLVM.GetElementType(LLVM.TypeOf(enter)))
    LLVM.mark(f, c, "enzyme_inactive")
    LLVM.mark_enum(f, c, "returns_twice")
    f
end

# Functions that give objects of known size, or look at something: no exception comes from there but that no memory is left.
const QUIET = Set(["jl_box_int8", "jl_box_uint8", "jl_box_int16", "jl_box_uint16", "jl_box_int32", "jl_box_uint32", "jl_box_int64", "jl_box_uint64", "jl_box_char",
    "jl_box_float32", "jl_box_float64", "jl_excstack_state", "jl_restore_excstack", "jl_current_exception", "jl_pop_handler", "jl_get_ptls_states", "jl_egal", "jl_object_id",
    "jl_object_id_", "jl_isa", "jl_subtype", "jl_types_equal", "jl_gc_queue_root", "jl_hrtime", "jl_get_world_counter", "memcmp", "memchr", "strlen", "malloc", "free",
    "memhash_seed", "memhash32_seed", "jl_breakpoint",
    # What these change the end of a handler would change back.
    "jl_iolock_begin", "jl_iolock_end", "jl_mutex_lock", "jl_mutex_unlock", "jl_sigatomic_begin", "jl_sigatomic_end", "jl_gc_enable", "jl_gc_enable_finalizers",
    "jl_gc_safepoint", "jl_gc_safe_enter", "jl_gc_safe_leave", "jl_gc_unsafe_enter", "jl_gc_unsafe_leave"])
is_quiet(name::String) = name in QUIET || startswith(name, "llvm.") || startswith(name, "enzyme.enter") || startswith(name, "enzyme.leave") ||
    startswith(name, "julia.") && !startswith(name, "julia.array_header") || startswith(name, "__enzyme_") && !occursin("autodiff", name) && !occursin("fwddiff", name)

"States where handlers begin and end, and which functions do not throw."
function show!(m::LLVM.Module, c, enter)
    LLVM.mark(enter, c, "enzyme_handler", "enter")
    leave = LLVM.GetNamedFunction(m, "jl_pop_handler")
    leave == C_NULL || LLVM.mark(leave, c, "enzyme_handler", "leave")
    for f in LLVM.functions(m)
        LLVM.IsDeclaration(f) != 0 && is_quiet(LLVM.name(f)) && LLVM.mark_enum(f, c, "nounwind")
    end
end

"Places that were differentiated, as reasons of a refusal: the engine's copies of functions have names of their own."
function differentiated(derived::Ptr{Cvoid}, places)
    own, found, at = Set(p.symbol for p in places), Place[], ""
    for line in split(Library.module_text(derived), '\n')
        if startswith(line, "define ")
            at = name_of(line)
        elseif occursin("@julia.except_enter", line) && !startswith(line, "declare") && !(at in own)
            append!(found, filter(p -> occursin(p.symbol, at), places))
        end
    end
    [Library.Item("", WHAT, p.symbol, p.file, p.line, String[],
        "move what can fail out of the function, ask before (isfinite, haskey, checkbounds), or give the function a rule (EnzymeRules)") for p in unique(found)]
end
const WHAT = "exceptions are caught here (try), in code that the derivative depends on"

name_of(line) = (m = match(r"@\"?([^\"(]+)", line); m === nothing ? "" : String(m.captures[1]))

# ---- on the way to an exception ----

"Which functions of a module, before it is rewritten, change no memory that their callers see; `calls` says it of a call."
struct Harmless
    known::IdDict{Any,Bool}
end

"What is known of functions as Julia made them."
function survey(functions)
    h = Harmless(IdDict{Any,Bool}())
    foreach(f -> harmless!(h, f), functions)
    h
end

function harmless!(h::Harmless, f::LLVM.Value)
    haskey(h.known, f) && return h.known[f]
    LLVM.has_mark(f, "enzyme_inactive") && return h.known[f] = true
    # Recursion is harmless if all else is.
    h.known[f] = true
    h.known[f] = LLVM.IsDeclaration(f) != 0 ? of_name(LLVM.name(f)) :
        all(b -> all(i -> harmless_instruction!(h, i), LLVM.instructions(b)), LLVM.blocks(f))
end

function harmless_instruction!(h::Harmless, i::LLVM.Value)
    op = LLVM.GetInstructionOpcode(i)
    op == LLVM.OP_STORE && return is_own(LLVM.GetOperand(i, 1))
    op == LLVM.OP_CALL ? harmless_call!(h, i) : true
end

function harmless_call!(h::Harmless, call::LLVM.Value)
    convention = LLVM.GetInstructionCallConv(call)
    callee = Normalise.behind(LLVM.GetCalledValue(call))
    if LLVM.GetValueKind(callee) == LLVM.VALUE_FUNCTION
        name = LLVM.name(callee)
        copies(name) && return is_own(LLVM.GetOperand(call, 0))
        (convention == 37 || convention == 38) && LLVM.IsDeclaration(callee) != 0 && return of_boxed(call, name)
        return harmless!(h, callee)
    end
    at = Normalise.address(callee)
    at === nothing && return false
    name = Normalise.c_name(at)[1]
    copies(name) ? is_own(LLVM.GetOperand(call, 0)) : of_name(name)
end

copies(name::String) = name in ("memcpy", "memmove", "memset") || startswith(name, "llvm.mem")

# Functions of the run-time system that put something into what they are given.
const CHANGING = r"^jl_(array_|f_setfield|f_arrayset|f__apply|f_invoke|apply|invoke|call|set_|declare|switch|copy_ast|call_in|gf_|unbox|arrayset|uv_|idtable|eqtable)"
of_name(name::String) = name in Normalise.INACTIVE || startswith(name, "llvm.") || startswith(name, "julia.") || startswith(name, "__enzyme") || name == "jl_array_copy" ||
    startswith(name, "jl_") && match(CHANGING, name) === nothing || name in QUIET

# Functions that change nothing, and call none that they are given.
const LOOKING = (size, axes, length, eltype, ndims, getindex, getproperty, ==, <, <=, >, >=, +, -, *, /, isnan, isfinite, lastindex, firstindex, Normalise.TEXT...)

"Of a call by an object: types make values."
function of_boxed(call::LLVM.Value, name::String)
    at = name == "jl_invoke" ? 1 : name == "jl_apply_generic" ? 0 : -1
    at < 0 && return of_name(name)
    address = Normalise.address(LLVM.GetOperand(call, at))
    address === nothing && return false
    f = unsafe_pointer_to_objref(Ptr{Cvoid}(address))
    f isa Type || any(g -> g === f, LOOKING) || Normalise.writes_text(LLVM.GetOperand(call, at))
end

"Whether an address is in memory that the function has made."
function is_own(v::LLVM.Value)
    for _ in 1:16
        LLVM.GetValueKind(v) == LLVM.VALUE_INSTRUCTION || return false
        op = LLVM.GetInstructionOpcode(v)
        op == LLVM.OP_ALLOCA && return true
        if op == LLVM.OP_CALL
            callee = Normalise.behind(LLVM.GetCalledValue(v))
            LLVM.GetValueKind(callee) == LLVM.VALUE_FUNCTION || return false
            name = LLVM.name(callee)
            (name == "julia.gc_alloc_obj" || startswith(name, "jl_box_")) && return true
            name == "julia.pointer_from_objref" || return false
        elseif !(op in (LLVM.OP_GEP, LLVM.OP_BITCAST, LLVM.OP_ADDRSPACECAST))
            return false
        end
        v = LLVM.GetOperand(v, 0)
    end
    false
end

# ---- when an exception was caught ----

"Whether the exception that was caught is not the program's, and is thrown again."
passes() = Cint(stops(ccall(:jl_current_exception, Any, ())))
function stops(@nospecialize(e))
    of_engine(e) && return true
    # A call that is dispatched at run time left no tape behind, nor does a rule of the program's.
    E = parentmodule(Catching)
    from = E.Dynamic.lost_in(e)
    isempty(from) || E.refuse("autodiff: [E0204] an exception was caught that came out of $from, and may have changed its arguments before: " *
        "let inference know what is called, check before anything is written, or catch the exception in what is called")
    false
end
of_engine(@nospecialize(e)) = e isa parentmodule(Catching).EnzymeError || e isa ErrorException && startswith(e.msg, "Enzyme: ")

"What native code calls when it has caught an exception."
definition() = """
    declare void @jl_rethrow() noreturn
    define linkonce_odr void @enzyme.caught() noinline {
      %passes = call i32 inttoptr (i64 $(UInt(@cfunction(passes, Cint, ()))) to ptr)()
      %is.other = icmp ne i32 %passes, 0
      br i1 %is.other, label %again, label %done
    again:
      call void @jl_rethrow()
      unreachable
    done:
      ret void
    }
    """

end
