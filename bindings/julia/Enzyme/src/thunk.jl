# Derivatives as addresses: what is compiled, once for each method, world and request, and how it is called.
#
# Whatever a function takes and returns, the engine sees one shape: `primal(result, f, arguments...)`, all of them `Ref`s, whose content is
# loaded, the method called, and its result stored. Julia's compiler writes that function, so no convention for parameters is spelled
# out here. The shadow of a `Ref` is another `Ref`: it holds the tangent, the adjoint, or the shadow of an array. Around it stands
# `enzyme_thunk(addresses)`, a marker call in LLVM's text, which takes the addresses of all `Ref`s in one array.
#
# Invariants: a compiled thunk is used only in worlds in which the code instance that it was made from is valid; the collector is off
# from before the first `Ref` to after the last use of what the call leaves.

const RefValue = Base.RefValue

primal(result::RefValue, f::RefValue, arguments::Vararg{RefValue,N}) where {N} = (result[] = f[](map(getindex, arguments)...); nothing)
primal(::Nothing, f::RefValue, arguments::Vararg{RefValue,N}) where {N} = (f[](map(getindex, arguments)...); nothing)

"What a `Ref` among the addresses is: without shadow, or with so many behind it."
struct Slot
    shadows::Int
end

"What is compiled."
struct Plan
    kind::Symbol           # :reverse, :forward, :split (two sweeps), :second (forward over reverse)
    signature::Any         # of `primal`
    slots::Vector{Slot}    # the result's, if there is one, the function's, the arguments'
    width::Int
    flags::Vector{String}
    what::String           # in the user's words
end

"The types of what lies behind `primal`'s parameters, `nothing` for what has no shadow."
function contents(plan::Plan)
    types = Any[]
    for T in plan.signature.parameters[2:end]
        T === Nothing || push!(types, eltype(T))
    end
    for (n, s) in enumerate(plan.slots)
        s.shadows == 0 && (types[n] = nothing)
    end
    types
end

"The functions that a plan is called by."
entries(plan::Plan) = plan.kind === :split ? ["enzyme_thunk", "enzyme_thunk_back"] : ["enzyme_thunk"]

const PROTOTYPES = """
    @enzyme_const = external global i32
    @enzyme_dup = external global i32
    @enzyme_width = external global i32
    @enzyme_runtime_activity = external global i32
    @enzyme_strong_zero = external global i32
    declare void @__enzyme_autodiff(i8*, ...)
    declare void @__enzyme_fwddiff(i8*, ...)
    declare i8* @__enzyme_augmentfwd(i8*, ...)
    declare void @__enzyme_reverse(i8*, ...)
    """

"The annotation and the values of each slot: addresses taken from the array that the thunk is called with."
function slot_arguments(io::IO, slots)
    out, count = String[], 0
    for s in slots
        push!(out, s.shadows == 0 ? "i32* @enzyme_const" : "i32* @enzyme_dup")
        for _ in 0:s.shadows
            println(io, "  %p$count = getelementptr i8*, i8** %slots, i64 $count")
            println(io, "  %s$count = load i8*, i8** %p$count, align 8")
            push!(out, "i8* %s$count")
            count += 1
        end
    end
    out
end

function thunk_text(plan::Plan, symbol::String)
    io = IOBuffer()
    println(io, PROTOTYPES, "declare void @$symbol()")
    first = ["i8* bitcast (void ()* @$symbol to i8*)"; ["i32* @$n" for n in plan.flags]]
    plan.width > 1 && append!(first, ["i32* @enzyme_width", "i64 $(plan.width)"])
    call(marker, arguments) = "call $marker(" * join(arguments, ", ") * ")"
    open(head) = println(io, "define $head {")
    if plan.kind === :split
        open("i8* @enzyme_thunk(i8** nocapture readonly %slots)")
        println(io, "  %tape = ", call("i8* (i8*, ...) @__enzyme_augmentfwd", [first; slot_arguments(io, plan.slots)]), "\n  ret i8* %tape\n}")
        open("void @enzyme_thunk_back(i8** nocapture readonly %slots, i8* %tape)")
        println(io, "  ", call("void (i8*, ...) @__enzyme_reverse", [first; slot_arguments(io, plan.slots); "i8* %tape"]), "\n  ret void\n}")
    elseif plan.kind === :second
        # The gradient, as a function of all that it reads and writes, in forward mode: result, seed, function, argument, gradient.
        open("internal void @enzyme_gradient(i8* %r, i8* %s, i8* %f, i8* %x, i8* %g)")
        gradient = [first; "i32* @enzyme_dup"; "i8* %r"; "i8* %s"; "i32* @enzyme_const"; "i8* %f"; "i32* @enzyme_dup"; "i8* %x"; "i8* %g"]
        println(io, "  ", call("void (i8*, ...) @__enzyme_autodiff", gradient), "\n  ret void\n}")
        open("void @enzyme_thunk(i8** nocapture readonly %slots)")
        slots = [Slot(1), Slot(1), Slot(0), Slot(1), Slot(1)]
        inner = "i8* bitcast (void (i8*, i8*, i8*, i8*, i8*)* @enzyme_gradient to i8*)"
        println(io, "  ", call("void (i8*, ...) @__enzyme_fwddiff", [inner; slot_arguments(io, slots)]), "\n  ret void\n}")
    else
        marker = plan.kind === :reverse ? "@__enzyme_autodiff" : "@__enzyme_fwddiff"
        open("void @enzyme_thunk(i8** nocapture readonly %slots)")
        println(io, "  ", call("void (i8*, ...) $marker", [first; slot_arguments(io, plan.slots)]), "\n  ret void\n}")
    end
    String(take!(io))
end

"Functions that make objects of the collector's."
const ALLOCATORS = ("julia.gc_alloc_obj", "julia.array_header", "julia.array_header_like", "julia.array_header_reshaped", "julia.array_data", "julia.box")

const here = @__DIR__
const models_text = read(joinpath(here, "models.ll"), String)
const runtime_text = read(joinpath(here, "runtime.ll"), String)
include_dependency("models.ll")
include_dependency("runtime.ll")

type_address(T) = string(UInt(pointer_from_objref(T)))

"What was compiled, for those who look for defects: the module before differentiation and after."
const dumps = Ref{Union{Nothing,String}}(nothing)

function dump_text(name, text)
    dumps[] === nothing && return
    write(joinpath(dumps[], name), text)
end

"The code of a derivative, and the code instances that say how long it holds: of the function and of rules."
function compile(plan::Plan, instance::Core.MethodInstance, world::UInt)
    Library.load()
    native = Emit.native(instance)
    code = Emit.code_instance(instance, world)
    code === nothing && refuse("$(plan.what): the call has no single method")
    symbol = Emit.symbol(native, code)
    isempty(symbol) && refuse("$(plan.what): Julia gives this method no code of its own")
    m = native.mod
    for f in LLVM.functions(m)
        LLVM.name(f) == symbol && LLVM.SetLinkage(f, LLVM.LINKAGE_EXTERNAL)
    end
    LLVM.run_passes(m, LLVM.AddGlobalDCEPass, LLVM.AddStripDeadPrototypesPass)
    Normalise.mark_mathematics!(native, world)
    Models.use!(native, world)
    rules, used = Rules.install!(native, plan, world)
    Normalise.mark_floats!(m)
    Emit.optimise!(m)
    Emit.strip_address_spaces!(m)
    models = replace(replace(models_text, "@FLOAT64@" => type_address(Float64)), "@FLOAT32@" => type_address(Float32))
    stores, linked = Normalise.rewrite!(m, models)
    Statements.add!(m, LLVM.GetNamedFunction(m, symbol), contents(plan))
    LLVM.link_text!(m, thunk_text(plan, symbol) * rules)
    Rules.seal!(m, rules)
    LLVM.run_passes(m, LLVM.AddAlwaysInlinerPass, LLVM.AddGlobalDCEPass, LLVM.AddStripDeadPrototypesPass)
    if plan.kind === :split && any(n -> LLVM.GetNamedFunction(m, n) != C_NULL, ALLOCATORS)
        refuse("$(plan.what): the function allocates, and what it allocates would have to outlive the forward sweep: use autodiff(Reverse, ...)")
    end
    dumps[] === nothing || dump_text("before.ll", LLVM.text(m))
    if LLVM.GetNamedFunction(m, "julia.except_enter") != C_NULL
        refuse("$(plan.what): it catches exceptions (try/catch), which has no derivative yet")
    end
    bytes = LLVM.bitcode(m)
    LLVM.DisposeModule(m)
    given = Library.read_module(bytes)
    derived = C_NULL
    addresses = Ptr{Cvoid}[]
    refused = nothing
    try
        foreach(l -> Library.link(given, l.bytes), linked)
        derived = Library.replace_markers(given)
        Library.link(derived, runtime_text)
        dumps[] === nothing || dump_text("after.ll", Library.module_text(derived))
        addresses = Library.compile(derived, entries(plan))
    catch e
        e isa Library.Refusal || rethrow()
        refused = e.items
    finally
        Library.free_module(given)
        derived == C_NULL || Library.free_module(derived)
    end
    refused === nothing || throw(EnzymeError(plan.what, refused))
    code, addresses, stores, used
end

"The derivative of one method for one request, as it was compiled last."
mutable struct Cached
    world::UInt
    session::UInt
    rules::UInt      # the age of all that there were
    used::Vector{Pair{Core.MethodInstance,Any}} # of rules, with their code
    code::Any
    address::Ptr{Cvoid}
    back::Ptr{Cvoid} # of the second sweep
    stores::Bool     # the function stores references in objects
    Cached() = new(UInt(0), UInt(0), UInt(0), [], nothing, C_NULL, C_NULL, false)
end

# Constants of compiled code can outlive a process, in the files of precompiled packages; addresses do not.
const session = Ref(UInt(0))

const compiling = ReentrantLock()

"The address for a request in this world. "
@inline function address!(cached::Cached, plan::Plan)
    Emit.world_age() == cached.world && cached.session == session[] && return cached.address
    renew!(cached, plan)
end

@noinline function renew!(cached::Cached, made::Plan)
    lock(compiling)
    try
        Rules.keep_calls!()
        world, rules = Emit.world_age(), Rules.age()
        instance = Emit.method_instance(made.signature, world)
        instance === nothing && refuse("$(made.what): no method fits these arguments")
        code = Emit.code_instance(instance, world)
        holds = code !== nothing && code === cached.code && cached.session == session[] && cached.rules == rules &&
            all(((i, c),) -> Emit.code_instance(i, world) === c, cached.used)
        if !holds
            cached.code, addresses, cached.stores, cached.used = compile(made, instance, world)
            cached.address, cached.back = first(addresses), last(addresses)
        end
        cached.world, cached.session, cached.rules = world, session[], rules
        return cached.address
    finally
        unlock(compiling)
    end
end
