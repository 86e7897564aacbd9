# Calls that Julia dispatches at run time (`jl_apply_generic` and its kin), differentiated when they happen: the types are known then, so the method that is
# called gets a thunk like those of users' calls, which is kept for these types. In a module such a call is one of `enzyme.dynamic(block, count)`, which
# has a rule: `block` holds the place of the result, the function, the method instance if the caller chose it, and the arguments, all as references.
#
# A number in an object is to a thunk what a number in a `Ref` is, so objects and their shadows are handed on as they are. Adjoints go by the shadows' memory.
# What a call makes is rooted in the list of the outermost call, which seals it when it ends (runtime.ll).
#
# Where there are several lanes the rule is called once for all, with a shadow of the block for each: what the call writes it writes once.
#
# Only in modules that were refused for such calls: the rule is taken wherever active data may lie behind a reference.
# Not handled: derivatives of derivatives, `invoke` of a method that the types alone do not lead to.

module Dynamic

import Base: RefValue
import ..Emit, ..seldom, ..refuse

"Names of the functions of the run-time system that are such calls, and the functions that they stand for (`nothing`: the first reference is the function)."
const NAMES = Dict{String,Any}("jl_apply_generic" => nothing, "jl_invoke" => nothing, "jl_f__apply_iterate" => Core._apply_iterate, "jl_f_tuple" => tuple,
    "jl_f_getfield" => getfield, "jl_f__apply_latest" => :latest, "jl_new_structv" => :made_of, "jl_f_setfield" => setfield!, "jl_f_typeassert" => typeassert)
for name in (:arrayref, :arrayset)
    isdefined(Core, name) && (NAMES["jl_f_$name"] = getfield(Core, name))
end

const TEXT = """
    declare void @enzyme.dynamic(i8*, i64)
    declare i8* @enzyme.dynamic.zero(i8*, i8*, i64)
    declare void @llvm.memcpy.p0i8.p0i8.i64(i8*, i8*, i64, i1)
    define linkonce_odr i8* @enzyme.rest(i8* %tuple, i8* %list, i32 %count) alwaysinline {
      %n = zext i32 %count to i64
      %size = add i64 %n, 3
      %place = alloca i8*, i64 %size, align 8
      store i8* null, i8** %place, align 8
      %function = getelementptr i8*, i8** %place, i64 1
      store i8* %tuple, i8** %function, align 8
      %method = getelementptr i8*, i8** %place, i64 2
      store i8* null, i8** %method, align 8
      %rest = getelementptr i8*, i8** %place, i64 3
      %to = bitcast i8** %rest to i8*
      %bytes = shl i64 %n, 3
      call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %to, i8* align 8 %list, i64 %bytes, i1 false)
      %block = bitcast i8** %place to i8*
      call void @enzyme.dynamic(i8* %block, i64 %n)
      %made = load i8*, i8** %place, align 8
      ret i8* %made
    }
    """

"Of which arguments without shadow the memory may hold floats."
function without_shadow(plan)
    types = Any[eltype(T) for T in plan.signature.parameters[2:end] if T !== Nothing]
    Bool[s.shadows == 0 && !isbitstype(T) && may_differentiate(T) for (s, T) in zip(plan.slots, types)]
end

"What the engine is told: the rule for the plan. Integers are followed by a zero, which tells them from a tape."
function registration(kind::Symbol, width::Int)
    head = "i8* bitcast (void (i8*, i64)* @enzyme.dynamic to i8*)"
    given = join(("i8*" for _ in 0:width), ", ") * ", i64, i64"
    kind === :forward && return TEXT * """
        declare void @enzyme.dynamic.forward($given)
        @__enzyme_register_derivative_dynamic = global [2 x i8*] [$head, i8* bitcast (void ($given)* @enzyme.dynamic.forward to i8*)]
        """
    TEXT * """
        declare i64 @enzyme.dynamic.augmented($given)
        declare void @enzyme.dynamic.reverse($given, i64)
        @__enzyme_register_gradient_dynamic = global [3 x i8*] [$head, i8* bitcast (i64 ($given)* @enzyme.dynamic.augmented to i8*),
            i8* bitcast (void ($given, i64)* @enzyme.dynamic.reverse to i8*)]
        """
end

const FLAGS = ("enzyme_runtime_activity", "enzyme_strong_zero")
bits(flags::Vector{String}) = sum(n -> FLAGS[n] in flags ? 1 << (n - 1) : 0, 1:length(FLAGS))
"Of calls in forward mode whose exceptions may be caught: what is done on the way to one counts."
const CAUGHT = 1 << length(FLAGS)
flags_of(bits::Integer) = String[FLAGS[n] for n in 1:length(FLAGS) if bits & (1 << (n - 1)) != 0]

# ---- when they happen ----

"A call: the function and what it is given, each with its shadows, one for each lane (none where it has none)."
struct Call
    objects::Vector{Any}
    shadows::Vector{Vector{Ptr{Cvoid}}}
end
const NO_SHADOWS = Ptr{Cvoid}[]

object(p::Ptr{Cvoid}) = unsafe_pointer_to_objref(p)
may_differentiate(@nospecialize(T)) = parentmodule(Dynamic).may_differentiate(T)::Bool

"A splat of containers: as many elements of each as there are."
struct Splat{N} end
@generated function (::Splat{N})(f, containers...) where {N}
    call, made = Expr(:call, :f), Any[]
    for (n, count) in enumerate(N)
        if count isa Symbol
            push!(call.args, :(containers[$n]...))
        else
            # What makes its elements as they are asked for is an array first.
            elements = containers[n] <: Base.Generator ? Symbol(:elements, n) : :(containers[$n])
            elements isa Symbol && push!(made, :($elements = collect(containers[$n])))
            push!(made, :(length($elements) == $count || throw(BoundsError($elements, $count))))
            append!(call.args, [:($elements[$i]) for i in 1:count])
        end
    end
    Expr(:block, made..., call)
end

"A field by its name or number, a constant of the code."
struct Field{N} end
(::Field{N})(x) where {N} = getfield(x, N)
struct Stored{N} end
(::Stored{N})(x, v) where {N} = setfield!(x, N, v)

"An immutable structure of its fields."
struct Made{T} end
@generated (::Made{T})(fields...) where {T} = Expr(:new, T, (:(fields[$n]::$(fieldtype(T, n))) for n in 1:length(fields))...)
"A list of things, functions among them, of whose types Julia makes no methods where they are handed on."
struct Listed end
@generated function (::Listed)(things...)
    T = reduce(promote_type, things; init = Union{})
    quote
        list = Vector{$T}(undef, $(length(things)))
        $((:(list[$n] = things[$n]) for n in 1:length(things))...)
        list
    end
end
"What stands for `new`, of the type and the fields."
made_of() = nothing
"What stands for `invokelatest`, of the function and a tuple of arguments."
latest() = nothing

# Of many pieces, in the order in which functions of any number of arguments take them.
folded(::typeof(hcat), v) = reduce(hcat, v)
folded(::typeof(vcat), v) = reduce(vcat, v)
folded(f, v) = foldl(f, v)
const FOLDED = Union{typeof(+),typeof(*),typeof(max),typeof(min)}
has_fold(f, v) = !isempty(v) && (f isa FOLDED && v isa Vector{<:Union{Float64,Float32}} ||
    f isa Union{typeof(hcat),typeof(vcat)} && v isa Vector{<:Union{Vector{Float64},Matrix{Float64},Vector{Float32},Matrix{Float32}}})

length_of(c::Union{Tuple,NamedTuple}) = :all
# A number is one element.
length_of(c::Number) = 1
length_of(c::AbstractArray) = length(c)
length_of(c::Base.Generator) = Base.IteratorSize(typeof(c)) isa Union{Base.HasLength,Base.HasShape} ? length(c) : refuse_length(c)
length_of(c) = refuse_length(c)
refuse_length(c) = refuse("autodiff: a call with the elements of a $(typeof(c)) (f(x...)), whose number only the program knows: collect them first")

"Says of functions that are built in what they are for these arguments."
function known!(c::Call)
    f = c.objects[1]
    if f === Core._apply_iterate
        popfirst!(c.objects), popfirst!(c.shadows)
        c.objects[1] === iterate || refuse("autodiff: a splat with an iteration of its own")
        popfirst!(c.objects), popfirst!(c.shadows)
        if length(c.objects) == 2 && has_fold(c.objects[1], c.objects[2])
            pushfirst!(c.objects, folded)
        else
            pushfirst!(c.objects, Splat{Tuple(map(length_of, c.objects[2:end]))}())
        end
        pushfirst!(c.shadows, NO_SHADOWS)
    elseif f === latest
        c.objects[1] = Splat{(:all,)}()
    elseif f === Base.vect && any(x -> x isa Function, c.objects[2:end])
        c.objects[1] = Listed()
    elseif f === made_of
        c.objects[1] = Made{c.objects[2]}()
        deleteat!(c.objects, 2), deleteat!(c.shadows, 2)
    elseif f === getfield && length(c.objects) >= 3 && c.objects[3] isa Union{Symbol,Int}
        c.objects[1] = Field{c.objects[3]}()
        resize!(c.objects, 2), resize!(c.shadows, 2)
    elseif f === setfield! && c.objects[3] isa Union{Symbol,Int}
        c.objects[1] = Stored{c.objects[3]}()
        deleteat!(c.objects, 3), deleteat!(c.shadows, 3)
    end
    c
end

# The engine stores the address of memory without derivative in shadows as well, and knows, in one module, where. Here nobody would: such memory gets a
# shadow that is zero, the same in all of a call. In a module with such calls arguments that are `Const` have one from the start. Where activity is found out at
# run time the address says it.

"Shadows that a call of a user's has in one lane: of memory that has none, which are zero, and of what was handed on."
struct Zeros
    of::IdDict{Any,Any}
    known::Dict{Ptr{Cvoid},Ptr{Cvoid}}
end

function zeros_of(roots, lane::Int)::Zeros
    last = state()
    if last.roots !== roots
        # A call that an exception has left leaves places without objects.
        n = findfirst(k -> isassigned(roots, k) && roots[k] isa Vector{Zeros}, 1:length(roots))
        n === nothing && push!(roots, Zeros[])
        last.roots, last.zeros = roots, n === nothing ? roots[end] : roots[n]
    end
    lanes = last.zeros::Vector{Zeros}
    while length(lanes) < lane
        push!(lanes, Zeros(IdDict(), Dict()))
    end
    lanes[lane]
end

"Whether a value may hold floats, or lead to some."
holds_floats(@nospecialize(x)) = !(x isa Module) && parentmodule(Dynamic).Literals.holds_floats(x)::Bool

"Notes a shadow; both live as long as the call, or another object might be taken for this."
function known!(roots, p::Ptr{Cvoid}, s::Ptr{Cvoid}, lane::Int)
    known = zeros_of(roots, lane).known
    get(known, p, C_NULL) == s && return
    push!(roots, object(p), object(s))
    known[p] = s
end

"The address of a shadow that is zero."
function zero_of(@nospecialize(x), roots, lane::Int)
    E = parentmodule(Dynamic)
    push!(roots, isbits(x) ? E.make_zero(x) : E.map_floats(E.Zero(), x, zeros_of(roots, lane).of))
    last_of(roots)
end

"The shadows of what is handed on, of which the engine says `given`: none where it needs none."
function own_shadows(p::Ptr{Cvoid}, given::Vector{Ptr{Cvoid}}, roots, flags)
    holds_floats(object(p)) || return NO_SHADOWS
    out = Ptr{Cvoid}[own_shadow(p, given[lane], roots, flags, lane) for lane in 1:length(given)]
    all(s -> s == C_NULL, out) && return NO_SHADOWS
    for lane in 1:length(out)
        out[lane] == C_NULL && (out[lane] = zero_of(object(p), roots, lane))
    end
    out
end

"The shadow in one lane of what holds floats: null where it needs none."
function own_shadow(p::Ptr{Cvoid}, s::Ptr{Cvoid}, roots, flags, lane::Int)
    x = object(p)
    if s == p || s == C_NULL
        # Numbers and memory that came from another call have the shadow that they had.
        flags & 1 == 0 && (s = get(zeros_of(roots, lane).known, p, C_NULL))
        (s == p || s == C_NULL) && return isbits(x) || flags & 1 != 0 ? C_NULL : zero_of(x, roots, lane)
    end
    typeof(object(s)) === typeof(x) || error("Enzyme: internal: a shadow of another type")
    flags & 1 == 0 && mend_object!(p, s, Mending(roots, lane))
    s
end

"What is needed to give memory shadows."
struct Mending
    roots::Any
    lane::Int
    seen::Set{Ptr{Cvoid}}
    Mending(roots, lane::Int) = new(roots, lane, Set{Ptr{Cvoid}}())
end

mend_object!(@nospecialize(x), @nospecialize(shadow), roots::Vector{Any}) = mend_object!(address(x), address(shadow), Mending(roots, 1))
address(@nospecialize(x)) = ccall(:jl_value_ptr, Ptr{Cvoid}, (Any,), x)

"Gives memory without a shadow that an object leads to one, in the object's shadow."
function mend_object!(p::Ptr{Cvoid}, s::Ptr{Cvoid}, m::Mending)
    T = typeof(object(p))
    known!(m.roots, p, s, m.lane)
    (isbitstype(T) || p in m.seen) && return
    push!(m.seen, p)
    if T <: Array
        E = eltype(T)
        (isbitstype(E) || Base.isbitsunion(E) || !may_differentiate(E)) && return
        data, shadow = unsafe_load(Ptr{Ptr{Cvoid}}(p)), unsafe_load(Ptr{Ptr{Cvoid}}(s))
        for n in 0:(length(object(p)) - 1)
            at = n * Base.elsize(T)
            Base.allocatedinline(E) ? mend!(E, data + at, shadow + at, m, s) : mend_reference!(data + at, shadow + at, m, s)
        end
    else
        mend!(T, p, s, m)
    end
end

"As `mend_object!`, of a structure at some place in an object."
function mend!(@nospecialize(T), p::Ptr{Cvoid}, s::Ptr{Cvoid}, m::Mending, owner::Ptr{Cvoid} = s)
    for n in 1:fieldcount(T)
        F, at = fieldtype(T, n), Int(fieldoffset(T, n))
        (isbitstype(F) || Base.isbitsunion(F) || !may_differentiate(F)) && continue
        Base.allocatedinline(F) ? mend!(F, p + at, s + at, m, owner) : mend_reference!(p + at, s + at, m, owner)
    end
end

function mend_reference!(p::Ptr{Cvoid}, s::Ptr{Cvoid}, m::Mending, owner::Ptr{Cvoid})
    x, shadow = unsafe_load(Ptr{Ptr{Cvoid}}(p)), unsafe_load(Ptr{Ptr{Cvoid}}(s))
    x == C_NULL && return
    x == shadow || shadow == C_NULL || return isbits(object(x)) ? nothing : mend_object!(x, shadow, m)
    holds_floats(object(x)) || return
    unsafe_store!(Ptr{Ptr{Cvoid}}(s), zero_of(object(x), m.roots, m.lane))
    unsafe_load(Ptr{UInt}(owner) - sizeof(UInt)) & 3 == 3 && ccall(:jl_gc_queue_root, Cvoid, (Ptr{Cvoid},), owner)
end

const Block = Ptr{Ptr{Cvoid}}

"The call that a block says."
function call_of(block::Block, lanes::Vector{Block}, n::Int, roots, flags)
    objects, shadows = Any[], Vector{Ptr{Cvoid}}[]
    for k in Int[2; 4:(n + 3)]
        p = unsafe_load(block, k)
        push!(objects, object(p))
        push!(shadows, own_shadows(p, Ptr{Cvoid}[unsafe_load(shadow, k) for shadow in lanes], roots, flags))
    end
    chosen = unsafe_load(block, 3)
    chosen == C_NULL || check_method(object(chosen), objects)
    known!(Call(objects, shadows))
end

type_of(@nospecialize(x)) = x isa Type ? Type{x} : typeof(x)

function check_method(@nospecialize(instance), objects)
    instance isa Core.MethodInstance || return
    found = Emit.method_instance(Tuple{map(type_of, objects)...}, Emit.world_age())
    found !== nothing && found.def === instance.def ||
        refuse("autodiff: a call of $(instance.def), chosen by `invoke`, which other types than those of its arguments lead to")
end

"Without derivative."
function run(block::Block, n::Int64, roots)
    f, arguments = object(unsafe_load(block, 2)), Any[object(unsafe_load(block, k)) for k in 4:(n + 3)]
    push!(roots, f === made_of ? Base.invokelatest(Made{arguments[1]}(), arguments[2:end]...) :
        f === latest ? Base.invokelatest(arguments[1], arguments[2]...) : Base.invokelatest(f, arguments...))
    unsafe_store!(block, last_of(roots))
    nothing
end

@inline settle!(result::RefValue{T}, x) where {T} = (result[] = x isa T ? x : settled(T, x); nothing)
@inline settled(::Type{T}, x) where {T} = x isa Real || !(T <: AbstractFloat) ? convert(T, x) : no_float(x)
@noinline no_float(x) = throw(ArgumentError("autodiff: the result is Active, but it is a $(typeof(x)), no float"))

"As that of other thunks; spelt out, since types among the arguments are constants only so."
@generated primal(result::RefValue, f::RefValue, arguments::Vararg{RefValue,N}) where {N} =
    :(settle!(result, f[]($((:(arguments[$n][]) for n in 1:N)...))))

"A thunk for the types of calls."
struct Thunk
    cached::Any
    plan::Any
    result::Any # its type
    shadows::Int # how many the result has
    world::UInt # in which inference said so
end

const thunks = Dict{Any,Thunk}()
const using_thunks = ReentrantLock()

function thunk_of(kind::Symbol, width::Int, c::Call, flags::Int)
    key = (kind, width, flags, Tuple{map(type_of, c.objects)...}, Tuple(!isempty(s) for s in c.shadows))
    lock(using_thunks) do
        t = get(thunks, key, nothing)
        t !== nothing && t.world == Emit.world_age() && return t
        made = seldom(made_thunk, kind, width, c, flags)::Thunk
        # Of the same result the code is the same, or known to be out of date.
        thunks[key] = t !== nothing && t.result === made.result ? Thunk(t.cached, t.plan, t.result, t.shadows, made.world) : made
    end
end

function made_thunk(kind, width, c, flags)
    E = parentmodule(Dynamic)
    types = Any[type_of(x) for x in c.objects]
    R = Core.Compiler.return_type(c.objects[1], Tuple{types[2:end]...})
    has_shadow = may_differentiate(R)
    # There is one object for `true`, by which Julia's code knows it: what has no floats is an object of Julia's making.
    isconcretetype(R) && has_shadow || (R = Any)
    slots = [E.Slot(has_shadow ? width : 0); [E.Slot(length(s)) for s in c.shadows]]
    signature = Tuple{typeof(primal),RefValue{R},(RefValue{T} for T in types)...}
    what = "autodiff: a call that is dispatched at run time, of $(c.objects[1]) with $(Tuple{types[2:end]...})"
    cached = E.Cached()
    flags & CAUGHT == 0 || (cached.shown = Set{String}())
    Thunk(cached, E.Plan(kind, signature, slots, width, flags_of(flags), what), R, has_shadow ? width : 0, Emit.world_age())
end

# Addresses from here on: Julia moves a number from object to object as it likes.
"The object that a `Ref` of the type is for a thunk: one with the value, or a reference."
function place(roots, @nospecialize(T), p::Ptr{Cvoid})
    T <: Type || !Base.allocatedinline(T) || return p
    r = Ref{Any}(object(p))
    push!(roots, r)
    pointer_from_objref(r)
end

is_reference(t::Thunk) = t.result === Any || !Base.allocatedinline(t.result)

function place_of_result(roots, t::Thunk)
    p = ccall(:jl_new_struct_uninit, Ptr{Cvoid}, (Any,), is_reference(t) ? RefValue{Any} : t.result)
    push!(roots, object(p))
    last_of(roots)
end
# What was pushed last is an object of the list's now.
last_of(roots) = unsafe_load(Ptr{Ptr{Cvoid}}(pointer(roots)), length(roots))

"All that a thunk is given, the places of the result and its shadow among it."
function places(t::Thunk, c::Call, roots)
    out = Ptr{Cvoid}[place_of_result(roots, t) for _ in 0:t.shadows]
    for n in 1:length(c.objects)
        T = type_of(c.objects[n])
        push!(out, place(roots, T, unsafe_load(Ptr{Ptr{Cvoid}}(pointer(c.objects)), n)))
        append!(out, Ptr{Cvoid}[place(roots, T, s) for s in c.shadows[n]])
    end
    out
end

"Hands result and shadows to the caller."
function deliver!(block::Block, lanes::Vector{Block}, t::Thunk, roots, given::Vector{Ptr{Cvoid}}, flags)
    reference = is_reference(t)
    p = reference ? unsafe_load(Ptr{Ptr{Cvoid}}(given[1])) : given[1]
    reference && p != C_NULL && push!(roots, object(p))
    unsafe_store!(block, p)
    for lane in 1:length(lanes)
        s = given[t.shadows == 0 ? 1 : 1 + lane]
        if reference
            s = unsafe_load(Ptr{Ptr{Cvoid}}(s))
            # Of what has no derivative the caller wants one that is zero.
            p == C_NULL || (s = shadow_of_result(p, s, roots, flags, lane))
        elseif t.shadows > 0 && flags & 1 == 0
            mend_object!(p, s, Mending(roots, lane))
        end
        unsafe_store!(lanes[lane], s == C_NULL ? p : s)
    end
end

function shadow_of_result(p::Ptr{Cvoid}, s::Ptr{Cvoid}, roots, flags, lane::Int)
    holds_floats(object(p)) || return C_NULL
    s = own_shadow(p, s, roots, flags, lane)
    s == C_NULL && flags & 1 == 0 ? zero_of(object(p), roots, lane) : s
end

"The shadow of a `Ref` of an argument without derivative, for a module with such calls."
zero_place(p::Ptr{Cvoid}, roots, lane::Int64) = Base.invokelatest(zero_of, object(p), roots, lane)::Ptr{Cvoid}

"What lies between the sweeps."
struct Tape
    thunk::Thunk
    places::Vector{Ptr{Cvoid}}
    engine::Ptr{Cvoid}
end

"The address of a thunk, whose needs are met."
function ready!(t::Thunk)
    E = parentmodule(Dynamic)
    at = E.address!(t.cached, t.plan)
    # The outermost call turns it on again.
    t.cached.needs.all || ccall(:jl_gc_enable, Cint, (Cint,), 0)
    at
end

"What is kept for the calls of one task: those that are going on, and the shadows of the last call of a user's."
mutable struct State
    calls::Vector{Call}
    roots::Any
    zeros::Any
    lost::Any        # the exception that is on its way out of a call that may have written
    lost_in::String  # and which call that is
end
state() = get!(() -> State(Call[], nothing, nothing, nothing, ""), task_local_storage(), :enzyme_calls)::State

"Out of which call in reverse mode, that may have written before, the exception came; empty where that is not so."
lost_in(@nospecialize(e)) = haskey(task_local_storage(), :enzyme_calls) && address(state().lost) == address(e) ? state().lost_in : ""

"Notes it of the exception that is being handled: itself, since one that is handed on may be a copy."
function lose!(text::String)
    state().lost, state().lost_in = ccall(:jl_current_exception, Any, ()), text
    nothing
end

function words(c::Call)
    found = Emit.method_instance(Tuple{map(type_of, c.objects)...}, Emit.world_age())
    found === nothing ? "a call of $(c.objects[1])" : "a call of $(found.def.name) ($(found.def.file):$(found.def.line))"
end

"So many calls of one function with the same arguments, each within the one before, and what is called is of a method that Julia does not compile for these types."
const MOST = 50

function within(f, c::Call)
    calls = state().calls
    if length(calls) >= MOST && all(n -> same(calls[end-n], c), 0:(MOST - 1))
        refuse("autodiff: a call of $(c.objects[1]) with $(Tuple{map(type_of, c.objects[2:end])...}), which Julia compiles for arguments of any type")
    end
    push!(calls, c)
    try
        f()
    finally
        pop!(calls)
    end
end
same(a::Call, b::Call) = length(a.objects) == length(b.objects) && all(n -> a.objects[n] === b.objects[n], 1:length(a.objects))

"The call, its thunk, where that stands and what it is given."
function prepared(kind::Symbol, block, lanes, n, roots, flags)
    try
        state().lost = nothing
        c = call_of(block, lanes, n, roots, flags)
        push!(roots, c.objects)
        t = thunk_of(kind, length(lanes), c, flags)
        at = ready!(t)
        c, t, at, places(t, c, roots)
    catch e
        # Not the program's, which may catch its own.
        e isa Union{parentmodule(Dynamic).EnzymeError,InterruptException} ? rethrow() : refuse("autodiff: a call that is dispatched at run time: $(sprint(showerror, e))")
    end
end

"The shadows of a block: as many as there are lanes."
blocks(lanes::Ptr{Block}, width) = Block[unsafe_load(lanes, lane) for lane in 1:width]

augmented(block::Block, lanes::Ptr{Block}, width::Int64, n::Int64, roots, flags::Int64) = Base.invokelatest(augment, block, blocks(lanes, width), n, roots, flags)::Int64
function augment(block, lanes, n, roots, flags)
    c, t, at, given = prepared(:split, block, lanes, n, roots, flags)
    engine = try
        within(() -> ccall(at, Ptr{Cvoid}, (Ptr{Ptr{Cvoid}}, Any), given, roots), c)::Ptr{Cvoid}
    catch
        # What it has written by then nothing takes back.
        any(k -> !isempty(c.shadows[k]) && !isbits(c.objects[k]), 1:length(c.objects)) &&
            lose!(words(c) * ", which is dispatched at run time")
        rethrow()
    end
    push!(roots, Ref(Tape(t, given, engine)))
    tape = last_of(roots)
    deliver!(block, lanes, t, roots, given, flags)
    Int64(tape)
end

back(roots, tape::Int64) = (Base.invokelatest(go_back, roots, tape); nothing)
function go_back(roots, tape)
    kept = object(Ptr{Cvoid}(tape))[]::Tape
    ready!(kept.thunk)
    ccall(kept.thunk.cached.back, Cvoid, (Ptr{Ptr{Cvoid}}, Any, Ptr{Cvoid}), kept.places, roots, kept.engine)
end

forward(block::Block, lanes::Ptr{Block}, width::Int64, n::Int64, roots, flags::Int64) = (Base.invokelatest(go_forward, block, blocks(lanes, width), n, roots, flags); nothing)
function go_forward(block, lanes, n, roots, flags)
    c, t, at, given = prepared(:forward, block, lanes, n, roots, flags)
    within(() -> ccall(at, Cvoid, (Ptr{Ptr{Cvoid}}, Any), given, roots), c)
    deliver!(block, lanes, t, roots, given, flags)
end

"What the functions of the rule are, for the engine's LLVM: calls of ours, with the list of what is rooted and what was asked for."
function definitions(flags::Int, width::Int)
    shadows = join((", ptr %shadow$lane" for lane in 1:width))
    listed = join("""
          %at$lane = getelementptr ptr, ptr %lanes, i64 $(lane - 1)
          store ptr %shadow$lane, ptr %at$lane, align 8
        """ for lane in 1:width)
    begun = """
        %roots = call ptr @enzyme.list()
          %lanes = alloca [$width x ptr], align 8
        $listed"""
    given = "(ptr %block, ptr %lanes, i64 $width, i64 %n, ptr %roots, i64 $flags)"
    """
    declare ptr @jl_get_ptls_states()
    define linkonce_odr ptr @enzyme.list() {
      %state = call ptr @jl_get_ptls_states()
      %frame = load ptr, ptr %state, align 8
      %roots.at = getelementptr i8, ptr %frame, i64 16
      %roots = load ptr, ptr %roots.at, align 8
      ret ptr %roots
    }
    define linkonce_odr ptr @enzyme.dynamic.zero(ptr %place, ptr %roots, i64 %lane) {
      %zero = call ptr inttoptr (i64 $(UInt(@cfunction(zero_place, Ptr{Cvoid}, (Ptr{Cvoid}, Any, Int64)))) to ptr)(ptr %place, ptr %roots, i64 %lane)
      ret ptr %zero
    }
    define linkonce_odr void @enzyme.dynamic(ptr %block, i64 %n) {
      %roots = call ptr @enzyme.list()
      call void inttoptr (i64 $(UInt(@cfunction(run, Cvoid, (Block, Int64, Any)))) to ptr)(ptr %block, i64 %n, ptr %roots)
      ret void
    }
    define linkonce_odr i64 @enzyme.dynamic.augmented(ptr %block$shadows, i64 %n, i64 %none) {
      $begun
      %tape = call i64 inttoptr (i64 $(UInt(@cfunction(augmented, Int64, (Block, Ptr{Block}, Int64, Int64, Any, Int64)))) to ptr)$given
      ret i64 %tape
    }
    define linkonce_odr void @enzyme.dynamic.reverse(ptr %block$shadows, i64 %n, i64 %none, i64 %tape) {
      %roots = call ptr @enzyme.list()
      call void inttoptr (i64 $(UInt(@cfunction(back, Cvoid, (Any, Int64)))) to ptr)(ptr %roots, i64 %tape)
      ret void
    }
    define linkonce_odr void @enzyme.dynamic.forward(ptr %block$shadows, i64 %n, i64 %none) {
      $begun
      call void inttoptr (i64 $(UInt(@cfunction(forward, Cvoid, (Block, Ptr{Block}, Int64, Int64, Any, Int64)))) to ptr)$given
      ret void
    }
    """
end

end
