# Derivatives as addresses: what is compiled, once for each method, world and request, and how it is called.
#
# Whatever a function takes and returns, the engine sees one shape: `primal(result, f, arguments...)`, all of them `Ref`s, whose content is
# loaded, the method called, and its result stored. Julia's compiler writes that function, so no convention for parameters is spelled
# out here. The shadow of a `Ref` is another `Ref`: it holds the tangent, the adjoint, or the shadow of an array. Around it stands
# `enzyme_thunk(addresses)`, a marker call in LLVM's text, which takes the addresses of all `Ref`s in one array.
#
# Invariants: a compiled thunk is used only in worlds in which the code instance that it was made from is valid; what a call makes is rooted from
# then to after the last use of what the call leaves (runtime.ll), and so is what it may take out of its arguments.

const RefValue = Base.RefValue
import .Dynamic: settle!

primal(result::RefValue, f::RefValue, arguments::Vararg{RefValue,N}) where {N} = settle!(result, f[](map(getindex, arguments)...))
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
    what::Any              # in the user's words
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

"Whether the first of `primal`'s parameters has its result's place."
has_result(plan::Plan) = plan.signature.parameters[2] !== Nothing

"The functions that a plan is called by."
entries(plan::Plan) = plan.kind === :split ? ["enzyme_thunk", "enzyme_thunk_back", "enzyme_seal"] : ["enzyme_thunk", "enzyme_seal"]

const PROTOTYPES = """
    @enzyme_const = external global i32
    @enzyme_dup = external global i32
    @enzyme_width = external global i32
    @enzyme_runtime_activity = external global i32
    @enzyme_strong_zero = external global i32
    declare void @__enzyme_autodiff(i8*, ...)
    declare void @__enzyme_fwddiff(i8*, ...)
    declare void @enzyme.enter(i8*, i8*)
    declare void @enzyme.leave(i8*)
    declare i8* @__enzyme_augmentfwd(i8*, ...)
    declare void @__enzyme_reverse(i8*, ...)
    """

"The annotation and the values of each slot: addresses taken from the array that the thunk is called with."
function slot_arguments!(out::Vector{String}, io::IO, slots::Vector{Slot}, zeros::Vector{Bool} = Bool[], width::Int = 1)
    count = 0
    for (k, s) in enumerate(slots)
        has_zero = !isempty(zeros) && zeros[k]
        push!(out, s.shadows == 0 && !has_zero ? "i32* @enzyme_const" : "i32* @enzyme_dup")
        at = count
        for _ in 0:s.shadows
            n = string(count)
            LLVM.put!(io, "  %p", n, " = getelementptr i8*, i8** %slots, i64 ", n, "\n  %s", n, " = load i8*, i8** %p", n, ", align 8\n")
            push!(out, LLVM.texts("i8* %s", n))
            count += 1
        end
        for lane in 1:(has_zero ? width : 0)
            n, l = string(at), string(lane)
            LLVM.put!(io, "  %z", n, ".", l, " = call i8* @enzyme.dynamic.zero(i8* %s", n, ", i8* %roots, i64 ", l, ")\n")
            push!(out, LLVM.texts("i8* %z", n, ".", l))
        end
    end
    out
end

"What a marker is given before the arguments: the function and what is asked for of all of it."
function marker_start(plan::Plan, symbol::String)
    first = String[LLVM.texts("i8* bitcast (void ()* @", symbol, " to i8*)")]
    for n in plan.flags
        push!(first, LLVM.texts("i32* @", n))
    end
    if plan.width > 1
        push!(first, "i32* @enzyme_width")
        push!(first, LLVM.texts("i64 ", string(plan.width)))
    end
    first
end

function thunk_text(plan::Plan, symbol::String, zeros::Vector{Bool})
    io = IOBuffer()
    LLVM.put!(io, PROTOTYPES, "declare void @", symbol, "()\n")
    first = marker_start(plan, symbol)
    head = "define void @enzyme_thunk(i8** nocapture readonly %slots, i8* %roots) {\n"
    if plan.kind === :split
        write(io, "define i8* @enzyme_thunk(i8** nocapture readonly %slots, i8* %roots) {\n")
        marker!(io, "  %tape = call i8* (i8*, ...) @__enzyme_augmentfwd", slot_arguments!(copy(first), io, plan.slots, zeros, plan.width), "i8* %tape")
        write(io, "define void @enzyme_thunk_back(i8** nocapture readonly %slots, i8* %roots, i8* %tape) {\n")
        marker!(io, "  call void (i8*, ...) @__enzyme_reverse", push!(slot_arguments!(copy(first), io, plan.slots, zeros, plan.width), "i8* %tape"), "void")
    elseif plan.kind === :second
        # The gradient, as a function of all that it reads and writes, in forward mode: result, seed, function, argument, gradient.
        write(io, "define internal void @enzyme_gradient(i8* %r, i8* %s, i8* %f, i8* %x, i8* %g) {\n")
        gradient = append!(copy(first), ["i32* @enzyme_dup", "i8* %r", "i8* %s", "i32* @enzyme_const", "i8* %f", "i32* @enzyme_dup", "i8* %x", "i8* %g"])
        marker!(io, "  call void (i8*, ...) @__enzyme_autodiff", gradient, "void"; enters = false)
        write(io, head)
        inner = ["i8* bitcast (void (i8*, i8*, i8*, i8*, i8*)* @enzyme_gradient to i8*)"]
        marker!(io, "  call void (i8*, ...) @__enzyme_fwddiff", slot_arguments!(inner, io, [Slot(1), Slot(1), Slot(0), Slot(1), Slot(1)]), "void")
    else
        write(io, head)
        call = plan.kind === :reverse ? "  call void (i8*, ...) @__enzyme_autodiff" : "  call void (i8*, ...) @__enzyme_fwddiff"
        marker!(io, call, slot_arguments!(first, io, plan.slots, zeros, plan.width), "void")
    end
    String(take!(io))
end

"What takes the place of an inner call: a function of all `Ref`s that calls a marker."
function inner_text(plan::Plan, symbol::String, name::String)
    io, first, given = IOBuffer(), marker_start(plan, symbol), String[]
    LLVM.put!(io, PROTOTYPES, "declare void @", symbol, "()\n")
    for s in plan.slots
        push!(first, s.shadows == 0 ? "i32* @enzyme_const" : "i32* @enzyme_dup")
        for _ in 0:s.shadows
            push!(given, LLVM.texts("i8* %s", string(length(given))))
            push!(first, given[end])
        end
    end
    LLVM.put!(io, "define void @", name, "(", LLVM.listed(given), ") {\n")
    marker!(io, plan.kind === :reverse ? "  call void (i8*, ...) @__enzyme_autodiff" : "  call void (i8*, ...) @__enzyme_fwddiff", first, "void"; enters = false)
    String(take!(io))
end

"The end of a function: the call of a marker, and what is returned."
function marker!(io::IO, call::String, arguments::Vector{String}, result::String; enters = true)
    enters && LLVM.put!(io, "  %frame = alloca [24 x i8], align 16\n  %entered = bitcast [24 x i8]* %frame to i8*\n  call void @enzyme.enter(i8* %entered, i8* %roots)\n")
    LLVM.put!(io, call, "(", LLVM.listed(arguments), ")\n")
    enters && write(io, "  call void @enzyme.leave(i8* %entered)\n")
    LLVM.put!(io, "  ret ", result, "\n}\n")
end

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

"What a derivative needs of the collector."
struct Needs
    roots::Bool  # it makes objects, or is given some by functions of the run-time system
    stores::Bool # it stores references in objects
    calls::Bool  # some of its calls are dispatched at run time, whose needs are known then
    unions::Bool # there may be arrays of values of one of several types
    all::Bool    # all that it holds can be rooted: not what functions give that are unknown, nor what it may take out of global objects
end

"What derivatives call of the run-time system, without declarations of functions that these definitions are of."
undeclared(definitions::String) = join((line for line in split(runtime_text, '\n')
    if !(startswith(line, "declare ") && occursin(string(" ptr ", match(r"@[^(]*\(", line).match), definitions))), '\n')

no_inner(plan, dynamic) = refuse(plan.what, dynamic ? "a derivative within it, where calls are dispatched at run time" : "a derivative within one in two sweeps")

"Of arrays of values of one of several types the engine must know where floats lie."
check_unions(plan) = any(T -> Unions.leads_to_array(T, true), plan.signature.parameters) &&
    refuse(plan.what, "an argument or the result leads to an array whose elements are floats of one size or of another")

"The code of a derivative, and the code instances that say how long it holds: of the function and of rules."
function compile(plan::Plan, instance::Core.MethodInstance, world::UInt, dynamic::Bool, again::Bool, empty::Bool, shown::Union{Nothing,Set{String}})
    catches = shown !== nothing
    isempty(Emit.missing_parts) || seldom(refuse, plan.what, LLVM.texts("not on Julia ", string(VERSION), ": ", Emit.missing_parts))
    Library.load()
    native = Emit.native(instance)
    code = Emit.code_instance(instance, world)
    code === nothing && seldom(refuse, plan.what, "the call has no single method")
    symbol = Emit.symbol(native, code)
    isempty(symbol) && seldom(refuse, plan.what, "Julia gives this method no code of its own")
    m = native.mod
    for f in LLVM.functions(m)
        LLVM.name(f) == symbol && LLVM.SetLinkage(f, LLVM.LINKAGE_EXTERNAL)
    end
    LLVM.prune!(m)
    inner = Nested.find!(native, world)
    inner !== nothing && (dynamic || plan.kind === :split) && seldom(no_inner, plan, dynamic)
    Normalise.mark_mathematics!(native, world, catches)
    rules, used = Rules.install!(native, plan, world, catches)
    Models.use!(native, world)
    if inner !== nothing
        seldom(Nested.add!, m, inner, plan, world, again)
        append!(used, inner.used)
    end
    Normalise.mark_types!(m, false)
    objects = Literals.objects(m)
    Emit.optimise!(m)
    unions = Normalise.mark_types!(m, true)
    literals = Literals.addresses(m, objects)
    Emit.strip_address_spaces!(m)
    unions = unions || Unions.are_in(objects, plan.signature)
    unions && seldom(check_unions, plan)
    models = replace(replace(replace(models_text, "@KIND@" => unions ? Unions.TEXT : Unions.PLAIN), "@FLOAT64@" => type_address(Float64)), "@FLOAT32@" => type_address(Float32))
    stores, reads_globals, linked, elsewhere = Normalise.rewrite!(m, models, dynamic, catches, unions)
    inner === nothing || seldom(Nested.replace!, m, inner)
    dynamic = dynamic && any(name -> LLVM.GetNamedFunction(m, name) != C_NULL, ("enzyme.dynamic", "enzyme.rest"))
    Statements.add!(m, LLVM.GetNamedFunction(m, symbol), contents(plan), has_result(plan))
    LLVM.link_text!(m, LLVM.texts(thunk_text(plan, symbol, dynamic ? seldom(Dynamic.without_shadow, plan)::Vector{Bool} : Bool[]), dynamic ? seldom(Dynamic.registration, plan.kind, plan.width)::String : "", rules))
    isempty(rules) || seldom(Rules.seal!, m, rules)
    catching = LLVM.GetNamedFunction(m, "julia.except_enter") == C_NULL ? nothing : seldom(Catching.places!, m, shown)
    LLVM.inline!(m)
    # Compiled only if the derivative calls it.
    LLVM.SetLinkage(LLVM.GetNamedFunction(m, symbol), LLVM.LINKAGE_INTERNAL)
    roots, roots_all, roots_none = Normalise.roots!(m)
    hidden = isempty(elsewhere) ? "" : seldom(Normalise.elsewhere, m, elsewhere)::String
    dumps[] === nothing || dump_text("before.ll", LLVM.text(m))
    bytes = LLVM.bitcode(m)
    LLVM.DisposeModule(m)
    given = Library.read_module(bytes)
    derived = C_NULL
    addresses = Ptr{Cvoid}[]
    refused = nothing
    try
        for l in linked
            Library.link(given, l.bytes)
        end
        dumps[] === nothing || dump_text("given.ll", Library.module_text(given))
        isempty(literals) && !empty || (given = seldom(Literals.name!, given, literals, empty, objects)::Ptr{Cvoid})
        derived = Library.replace_markers(given)
        caught = catching === nothing ? Library.Item[] : seldom(Catching.differentiated, derived, catching)::Vector{Library.Item}
        if !isempty(literals) || empty
            derived, mixed = seldom(Literals.unname!, derived)::Tuple{Ptr{Cvoid},Vector{Library.Item}}
            append!(caught, mixed)
        end
        Library.link(derived, LLVM.texts(replace(replace(isempty(roots) ? runtime_text : seldom(undeclared, roots)::String, "@FLOATS@" => type_address(Vector{Float64})),
            "@WRITE@" => string(UInt(cglobal(:write)))), roots))
        isempty(hidden) || Library.link(derived, hidden)
        catches && Library.link(derived, seldom(Catching.definition)::String)
        dynamic && Library.link(derived, seldom(Dynamic.definitions, Dynamic.bits(plan.flags) | (catches && plan.kind === :forward ? Dynamic.CAUGHT : 0), plan.width)::String)
        dumps[] === nothing || dump_text("after.ll", Library.module_text(derived))
        if isempty(caught)
            addresses = Library.compile(derived, entries(plan))
        else
            refused = caught
        end
    catch e
        e isa Library.Refusal || rethrow()
        refused = isempty(literals) ? e.items : seldom(map, Literals.explain, e.items)::Vector{Library.Item}
    finally
        Library.free_module(given)
        derived == C_NULL || Library.free_module(derived)
    end
    refused === nothing || seldom(refuse, plan.what, refused)
    code, addresses, Needs(!roots_none || dynamic, stores || dynamic, dynamic, unions || dynamic, roots_all && !((stores || dynamic) && reads_globals)), used
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
    seal::Ptr{Cvoid} # of what a call has made
    needs::Needs
    dynamic::Bool # without a rule for calls that are dispatched at run time it was refused
    again::Bool   # what it asks for itself was inferred anew
    empty::Bool   # it was refused where the engine knew not that `nothing` has no content
    shown::Union{Nothing,Set{String}} # functions that catch exceptions in what the derivative depends on
    Cached() = new(UInt(0), UInt(0), UInt(0), [], nothing, C_NULL, C_NULL, C_NULL, Needs(false, false, false, false, true), false, false, false, nothing)
end

# Constants of compiled code can outlive a process, in the files of precompiled packages; addresses do not.
const session = Ref(UInt(0))

const compiling = ReentrantLock()

"The address for a request in this world. "
@inline function address!(cached::Cached, plan::Plan)
    Emit.world_age() == cached.world && cached.session == session[] && return cached.address
    seldom(renew!, cached, plan)::Ptr{Cvoid}
end

@noinline function renew!(cached::Cached, made::Plan)
    lock(compiling)
    try
        return mended!(cached, made)
    finally
        unlock(compiling)
    end
end

"Compiles, again after each change that may help; each is made once, and one may bring the need of another to light."
function mended!(cached::Cached, made::Plan)
    try
        return renewed!(cached, made)
    catch e
        e isa Nested.Uncertain && (cached.again = seldom(Nested.infer!, e)::Bool) ||
            e isa EnzymeError && (seldom(may_catch!, cached, e)::Bool || seldom(may_be_empty!, cached, e)::Bool || seldom(may_be_mended!, e)::Bool || seldom(may_be_dynamic!, cached, made, e)::Bool) || rethrow()
    end
    seldom(mended!, cached, made)::Ptr{Cvoid}
end

"Whether there are handlers that may be shown."
function may_catch!(cached::Cached, e::EnzymeError)
    known = something(cached.shown, Set{String}())
    names = union(known, (Catching.method_name(i.func) for i in e.items if i.message == Catching.WHAT))
    length(names) > length(known) || return false
    cached.shown = names
    true
end

"Whether memory may be taken for that of `nothing`, as a field holds now this, now an array."
function may_be_empty!(cached::Cached, e::EnzymeError)
    (cached.empty || !any(i -> i.code == "E0203" || i.code == "E0305", e.items)) && return false
    cached.empty = true
end

"Whether calls that are dispatched at run time, or constants that these are given, may be what a refusal is about."
function may_be_dynamic!(cached::Cached, made::Plan, e::EnzymeError)
    (cached.dynamic || made.kind === :second) && return false
    says(item, name) = occursin("'$name'", item.message) || any(note -> occursin("'$name'", note), item.notes)
    any(i -> i.code == "E0301" || i.code == "E0304" || i.code in ("E0201", "E0203") && any(name -> says(i, name), keys(Dynamic.NAMES)), e.items) || return false
    Unrolled.add_methods!()
    cached.dynamic = true
end

"Whether something was changed in Base that may be what a refusal is about: functions that work on the bits of floats, or call what they do at run time."
function may_be_mended!(e::EnzymeError)
    codes = Set(i.code for i in e.items)
    ("E0205" in codes || any(i -> occursin("'modf'", i.message), e.items)) && Models.keep_bits!(Rules.never_inline!) ||
        any(i -> i.code == "E0201" && occursin("'jl_", i.message) || i.code == "E0301" || i.code == "E0304" || i.code == "" && occursin("dict.jl", i.file) ||
            i.code == "E0205" && any(note -> occursin("lu.jl", note), i.notes), e.items) &&
            Unrolled.add_methods!() ||
        any(i -> i.code == "E0205" || i.code == "E0301" && any(note -> occursin("memmove", note), i.notes), e.items) && Unrolled.add_rooms!()
end

function renewed!(cached::Cached, made::Plan)
    Unrolled.keep_solutions!()
    Rules.keep_calls!()
    Unrolled.keep_factors!()
    Models.keep_short!(Rules.never_inline!)
    world, rules = Emit.world_age(), Rules.age()
    instance = Emit.method_instance(made.signature, world)
    instance === nothing && seldom(refuse, made.what, "no method fits these arguments")
    code = Emit.code_instance(instance, world)
    holds = code !== nothing && code === cached.code && cached.session == session[] && cached.rules == rules &&
        all(((i, c),) -> Emit.code_instance(i, world) === c, cached.used)
    if !holds
        cached.code, addresses, cached.needs, cached.used = compile(made, instance, world, cached.dynamic, cached.again, cached.empty, cached.shown)
        cached.address, cached.back, cached.seal = addresses[1], addresses[end-1], addresses[end]
    end
    cached.world, cached.session, cached.rules = world, session[], rules
    cached.address
end
