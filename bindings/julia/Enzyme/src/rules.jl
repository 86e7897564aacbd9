# Rules of `EnzymeRules`, brought to the engine: a method with a rule stays a call in the module, and beside it stands what the engine calls
# instead, registered by the name of a global (docs/rules-of-your-own.md).
#
# The engine passes numbers and pointers; `forward_code` and its kin are Julia methods that take these, call the rule with annotations,
# and store what it returns; Julia's compiler writes their code, as that of all else.
#
# Handled: functions without data of their own, of floats, integers and arrays, that return a float or nothing; one lane. Floats are always
# Duplicated or Active; an array without shadow is Const. Other uses of a rule are refused.

module Rules

import ..LLVM, ..Emit, ..Models, ..Dynamic, ..EnzymeRules, ..refuse, ..words, ..seldom, ..make_ref, ..RefValue, ..TypeTags, ..Unions
import ..Annotation, ..Const, ..Active, ..Duplicated

"The methods of rules with the type of each function that one is of."
function given(rule, at)
    out = Tuple{Method,Any}[]
    for m in methods(rule)
        parameters = Base.unwrap_unionall(m.sig).parameters
        for F in Base.uniontypes(length(parameters) < at ? Any : function_type(parameters[at]))
            if F isa DataType && isdefined(F, :instance)
                push!(out, (m, F))
            else
                @warn "Enzyme: the rule at $(m.file):$(m.line) is not used: it is for no function by its own type, typeof(f)" maxlog = 1 _id = Symbol(m.file, m.line)
            end
        end
    end
    out
end

"The type, or types, of the functions that a parameter of a rule is for: bare or behind an annotation."
function function_type(P)
    P isa TypeVar && return function_type(P.ub)
    T = Base.unwrap_unionall(P)
    T isa DataType && T <: Annotation ? function_type(T.parameters[1]) : P
end

const RULES = ((EnzymeRules.forward, 3), (EnzymeRules.augmented_primal, 3), (EnzymeRules.inactive, 2), (EnzymeRules.inactive_noinl, 2))
const INACTIVE = (EnzymeRules.inactive, EnzymeRules.inactive_noinl)

has_any() = Emit.has_methods(EnzymeRules.forward) || Emit.has_methods(EnzymeRules.augmented_primal) || Emit.has_methods(EnzymeRules.reverse) ||
    Emit.has_methods(EnzymeRules.inactive) || Emit.has_methods(EnzymeRules.inactive_noinl)

"Grows with each rule."
age() = has_any() ? seldom(newest)::UInt : UInt(0)
newest() = maximum(m.primary_world for rule in (EnzymeRules.forward, EnzymeRules.augmented_primal, EnzymeRules.reverse, INACTIVE...) for m in methods(rule))

"Whether the rule is for calls of a method with these types of arguments."
function fits(rule, m::Method, F, arguments)
    rule in INACTIVE && return typeintersect(m.sig, Tuple{typeof(rule),F,arguments...}) !== Union{}
    annotated = map(T -> Base.isvarargtype(T) ? Vararg{Annotation} : isconcretetype(T) ? Annotation{T} : Annotation{<:T}, arguments)
    typeintersect(m.sig, Tuple{typeof(rule),Any,Annotation{F},Type,annotated...}) !== Union{}
end

# ---- methods stay calls ----

"Redefines methods that have a rule as they are, but never inlined: Julia's own compiler would dissolve them in their callers."
keep_calls!() = (has_any() && seldom(keep_all_calls!); nothing)
function keep_all_calls!()
    for (rule, at) in RULES, (m, F) in given(rule, at), target in methods(F.instance)
        Emit.has_keywords(F) &&
            @warn "Enzyme: the rule at $(m.file):$(m.line) is not used for calls with keywords" maxlog = 1 _id = Symbol(m.file, m.line)
        has_meta(target, :noinline) && continue
        signature = Base.unwrap_unionall(target.sig)
        fits(rule, m, F, [open_type(T, target.sig) for T in signature.parameters[2:end]]) && never_inline!(target)
    end
end

open_type(T, signature) = Base.isvarargtype(T) ? Vararg{Any} : Base.rewrap_unionall(T, signature)

has_meta(m::Method, word) = isdefined(m, :source) && any(s -> Meta.isexpr(s, :meta) && word in s.args, Base.uncompressed_ast(m).code)

function never_inline!(m::Method)
    isdefined(m, :source) || refuse("$(m.name) at $(m.file):$(m.line) has a rule, but is generated: declare it @noinline")
    Emit.redefine!(m) do code
        push!(code.code, Expr(:meta, :noinline))
        push!(code.codelocs, code.codelocs[end])
        push!(code.ssaflags, 0x00)
        code.ssavaluetypes += 1
        code.inlineable = false
    end
end

# ---- what the engine calls ----

is_float(T) = T === Float64 || T === Float32
is_number(T) = T isa DataType && isprimitivetype(T) && !is_float(T)
is_array(T) = T isa DataType && T <: Array && isconcretetype(T)
is_ghost(T) = T isa DataType && isdefined(T, :instance)

"The expressions of annotations made of what the engine passes, and how many values that is."
function annotations(AT, float)
    out, at = Any[], 0
    for T in AT.parameters
        value = :(given[$(at + 1)])
        if is_ghost(T)
            push!(out, :(Const($(T.instance))))
        elseif is_float(T)
            push!(out, float === Active ? :(Active($value)) : :(Duplicated($value, given[$(at + 2)])))
            at += float === Active ? 1 : 2
        elseif is_array(T)
            push!(out, :(shadowed($value, given[$(at + 2)])))
            at += 2
        else
            push!(out, :(Const($value)))
            at += 1
        end
    end
    out, at
end

"An array whose shadow is none, or the array itself, is constant."
@inline shadowed(x::A, shadow::Ptr{Cvoid}) where {A} =
    (shadow == C_NULL || shadow == pointer_from_objref(x)) ? Const(x) : with_types(x, unsafe_pointer_to_objref(shadow)::A)
# Of a vector that grew, and of elements of several types, the shadow says less than it holds until then.
@inline function with_types(x::Array{E}, shadow) where {E}
    length(x) == length(shadow) && !Base.isbitsunion(E) || seldom(TypeTags.follow_header!, x, shadow)
    Base.isbitsunion(E) && seldom(TypeTags.take_tags!, x, shadow)
    Duplicated(x, shadow)
end

wrong(rule, f, what) = throw(ArgumentError("EnzymeRules.$rule of $f: $what"))

@generated function forward_code(f, config, ::Val{AT}, ::Val{R}, out::Ptr{Cvoid}, given::Vararg{Any,N}) where {AT,R,N}
    args, _ = annotations(AT, Duplicated)
    R === Nothing && return :(EnzymeRules.forward(config, Const(f), Const{Nothing}, $(args...)); nothing)
    quote
        r = EnzymeRules.forward(config, Const(f), Duplicated{R}, $(args...))
        r isa Duplicated || wrong("forward", f, "it must return a Duplicated, the value and its tangent")
        unsafe_store!(Ptr{R}(out), r.val, 1)
        unsafe_store!(Ptr{R}(out), r.dval, 2)
        nothing
    end
end

"""
`What`: the rule, where exceptions may be caught. What it wrote into arrays before it threw one nothing takes back: then whoever catches that is told.
"""
@generated function augmented_code(f, config, ::Val{AT}, ::Val{R}, ::Val{What}, out::Ptr{Cvoid}, given::Vararg{Any,N}) where {AT,R,What,N}
    args, _ = annotations(AT, Active)
    call = :(EnzymeRules.augmented_primal(config, Const(f), $(R === Nothing ? Const{Nothing} : Active{R}), $(args...)))
    What === nothing || any(is_array, AT.parameters) && (call = :(try
        $call
    catch
        seldom(Dynamic.lose!, $(string(What)))
        rethrow()
    end))
    quote
        r = $call
        r isa EnzymeRules.AugmentedReturn || wrong("augmented_primal", f, "it must return an AugmentedReturn")
        unsafe_store!(Ptr{UInt}(out), r.tape === nothing ? UInt(0) : UInt(pointer_from_objref(make_ref(typeof(r.tape), r.tape))))
        $(R === Nothing ? nothing : :(r.primal === nothing ? wrong("augmented_primal", f, "it must return the value") : unsafe_store!(Ptr{R}(out + 8), r.primal)))
        nothing
    end
end

@generated function reverse_code(f, config, ::Val{AT}, ::Val{R}, ::Val{Tape}, out::Ptr{Cvoid}, given::Vararg{Any,N}) where {AT,R,Tape,N}
    args, at = annotations(AT, Active)
    dret = R === Nothing ? Const{Nothing} : :(Active(given[$(at + 1)]))
    stores, place, count = Expr[], 0, length(AT.parameters)
    for (n, T) in enumerate(AT.parameters)
        is_float(T) || continue
        place = cld(place, sizeof(T)) * sizeof(T)
        push!(stores, :(d[$n] isa Real ? unsafe_store!(Ptr{$T}(out + $place), d[$n]) : wrong("reverse", f, "the derivative of argument $($n) must be a number")))
        place += sizeof(T)
    end
    quote
        d = EnzymeRules.reverse(config, Const(f), $dret, tape_of(RefValue{Tape}, given[$N]), $(args...))
        $(isempty(stores) ? nothing : :(d isa Tuple && length(d) == $count || wrong("reverse", f, "it must return a tuple of $($count) derivatives")))
        $(stores...)
        nothing
    end
end

@inline function tape_of(::Type{R}, address::UInt) where {R}
    address == 0 && return nothing
    box = unsafe_pointer_to_objref(Ptr{Cvoid}(address))
    box isa R ? box[] : (box::RefValue)[]
end

# ---- in a module ----

"A method's code in the module, which has a rule."
struct Found
    symbol::String
    function_type::Any
    arguments::Any
    result::Any
    what::String
end

"What goes into a module for its rules, and the methods that this is made of."
struct Work
    mod::LLVM.Module
    plan::Any
    world::UInt
    io::IOBuffer
    used::Vector{Pair{Core.MethodInstance,Any}}
end

"""
What of a module has rules: text to be linked once all is optimised, and the code of rules. Functions with rules and those that the engine calls instead are
external until then.
"""
function install!(native, plan, world::UInt, catches::Bool)
    has_any() ? seldom(install_all!, native, plan, world, catches)::Tuple{String,Used} : ("", Used())
end
const Used = Vector{Pair{Core.MethodInstance,Any}}

function install_all!(native, plan, world, catches)
    c = LLVM.GetModuleContext(native.mod)
    w = Work(native.mod, plan, world, IOBuffer(), [])
    mark_inactive!(native, c, world)
    rule = plan.kind === :forward ? EnzymeRules.forward : EnzymeRules.augmented_primal
    for (n, found) in enumerate(having(native, rule, world))
        plan.kind === :second && refuse("$(words(plan.what)): $(found.what): there are no second derivatives through a rule")
        keep!(native.mod, c, found.symbol)
        check_types(plan, found)
        plan.kind === :forward ? forward!(w, found, n) : reverse!(w, found, n, catches)
    end
    String(take!(w.io)), w.used
end

"The methods in the module for which there is a rule."
function having(native, rule, world)
    out = Dict{String,Found}()
    for (m, F) in given(rule, 3), instance in instances(F)
        arguments = instance.specTypes.parameters[2:end]
        fits(rule, m, F, arguments) || continue
        code = Emit.code_instance(instance, world)
        code === nothing && continue
        symbol = Emit.symbol(native, code)
        isempty(symbol) && continue
        what = "the rule of $(F.instance) at $(m.file):$(m.line)"
        out[symbol] = Found(symbol, F, Tuple{arguments...}, code.rettype, what)
    end
    [out[s] for s in sort!(collect(keys(out)))]
end

"All specialisations of a function's methods."
instances(F) = [i for m in methods(F.instance) for i in Emit.specializations(m)]

function mark_inactive!(native, c, world)
    for rule in INACTIVE, (m, F) in given(rule, 2), instance in instances(F)
        fits(rule, m, F, instance.specTypes.parameters[2:end]) || continue
        code = Emit.code_instance(instance, world)
        symbol = code === nothing ? "" : Emit.symbol(native, code)
        isempty(symbol) || LLVM.mark(keep_call!(native.mod, c, symbol), c, "enzyme_inactive")
    end
end

function keep_call!(m, c, symbol)
    f = LLVM.GetNamedFunction(m, symbol)
    LLVM.unmark_enum(f, "alwaysinline")
    LLVM.mark_enum(f, c, "noinline")
    f
end
keep!(m, c, symbol) = LLVM.SetLinkage(keep_call!(m, c, symbol), LLVM.LINKAGE_EXTERNAL)

supported(found) = (is_float(found.result) || found.result === Nothing) &&
    all(T -> is_float(T) || is_number(T) || is_array(T) || is_ghost(T), found.arguments.parameters)

function check_types(plan, found)
    supported(found) || refuse("$(words(plan.what)): $(found.what): it is called with $(found.arguments) and returns $(found.result); " *
        "rules can be used for floats, integers and arrays that give a float or nothing")
    plan.kind === :forward || !any(Unions.is_array, found.arguments.parameters) ||
        refuse("$(words(plan.what)): $(found.what): it is called with $(found.arguments): in reverse mode no rule can be used for arrays of values of one of several types")
end

function check_method(plan, found, rule, types...)
    args = map(T -> is_float(T) ? types[end]{T} : is_array(T) ? Duplicated{T} : Const{T}, found.arguments.parameters)
    signature = Tuple{types[1],Const{found.function_type},types[2:end-1]...,args...}
    hasmethod(rule, signature) && return signature
    refuse("$(words(plan.what)): $(found.what): no method of $rule takes $signature; floats are always $(types[end]) here")
end

# ---- the engine's functions, as LLVM's text ----

const LLVM_NAMES = Dict(Float64 => "double", Float32 => "float")
llvm_type(T) = get(() -> is_array(T) ? "i8*" : "i$(8sizeof(T))", LLVM_NAMES, T)
whole(types) = isempty(types) ? "void" : length(types) == 1 ? types[1] : "{ $(join(types, ", ")) }"
address(result, name, taken) = "i8* bitcast ($result ($(join(taken, ", ")))* @\"$name\" to i8*)"

"""
Writes a function that the engine calls: with the parameters of the one with the rule (`tangents`: floats are followed by theirs) and `more`, it calls our
method `code`, which leaves values of the types `results` at its first argument. Its address, as text.
"""
function write!(w::Work, name, found, code, types, tangents, more, results)
    io = w.io
    taken, passed, julia = String[], ["i64 %place"], Any[Ptr{Cvoid}]
    body = IOBuffer()
    function pass!(T, parameter)
        push!(taken, llvm_type(T))
        push!(passed, "$(llvm_type(T)) $parameter")
        push!(julia, T)
    end
    parameters = String[]
    add!(T, parameter) = (push!(parameters, "$(llvm_type(T)) $parameter"); pass!(T, parameter))
    for (n, T) in enumerate(found.arguments.parameters)
        is_ghost(T) && continue
        add!(T, "%a$n")
        is_float(T) && tangents && add!(T, "%d$n")
        is_array(T) || continue
        println(body, "  %n$n = ptrtoint i8* %d$n to i64")
        push!(parameters, "i8* %d$n")
        push!(taken, "i8*")
        push!(passed, "i64 %n$n")
        push!(julia, Ptr{Cvoid})
    end
    foreach(((n, T),) -> add!(T, "%m$n"), enumerate(more))
    symbol = name * ".code"
    all = (found.function_type, types..., julia...)
    LLVM.SetLinkage(Models.add!(w.mod, code, all, w.world; name = symbol), LLVM.LINKAGE_EXTERNAL)
    instance = Emit.method_instance(Tuple{typeof(code),all...}, w.world)
    push!(w.used, instance => Emit.code_instance(instance, w.world))
    result = whole(results)
    println(io, "declare void @\"$symbol\"()\ndefine internal $result @\"$name\"($(join(parameters, ", "))) {")
    place = isempty(results) ? "i8" : result
    println(io, "  %out = alloca $place, align 8\n  %place = ptrtoint $place* %out to i64")
    print(io, String(take!(body)))
    method = "void ($(join([first(split(p)) for p in passed], ", ")))*"
    println(io, "  call void bitcast (void ()* @\"$symbol\" to $method)($(join(passed, ", ")))")
    isempty(results) || println(io, "  %r = load $result, $result* %out, align 8")
    println(io, "  ret $result", isempty(results) ? "" : " %r", "\n}")
    address(result, name, taken)
end

function register!(io, word, n, found, functions...)
    println(io, "declare void @\"$(found.symbol)\"()")
    list = ["i8* bitcast (void ()* @\"$(found.symbol)\" to i8*)"; functions...]
    println(io, "@__enzyme_register_$(word)_$n = global [$(length(list)) x i8*] [$(join(list, ", "))]")
end

has_flag(plan, flag) = flag in plan.flags
values_of(R) = R === Nothing ? String[] : [llvm_type(R)]

function forward!(w::Work, found, n)
    plan, R = w.plan, found.result
    config = EnzymeRules.FwdConfig{R !== Nothing,R !== Nothing,1,has_flag(plan, "enzyme_runtime_activity"),has_flag(plan, "enzyme_strong_zero")}
    check_method(plan, found, EnzymeRules.forward, config, Type{R === Nothing ? Const{Nothing} : Duplicated{R}}, Duplicated)
    results = [values_of(R); values_of(R)]
    code = write!(w, "rule.$n.forward", found, forward_code, (config, Val{found.arguments}, Val{R}), true, [], results)
    register!(w.io, "derivative", n, found, code)
end

function reverse!(w::Work, found, n, catches)
    plan, R, arguments = w.plan, found.result, found.arguments.parameters
    overwritten = (false, map(is_array, arguments)...)
    config = EnzymeRules.RevConfig{R !== Nothing,false,1,overwritten,has_flag(plan, "enzyme_runtime_activity"),has_flag(plan, "enzyme_strong_zero")}
    signature = check_method(plan, found, EnzymeRules.augmented_primal, config, Type{R === Nothing ? Const{Nothing} : Active{R}}, Active)
    returned = Core.Compiler.return_type(EnzymeRules.augmented_primal, signature)
    Tape = returned <: EnzymeRules.AugmentedReturn && isconcretetype(returned) ? fieldtype(returned, :tape) : Any
    check_method(plan, found, EnzymeRules.reverse, config, R === Nothing ? Type{Const{Nothing}} : Active{R}, Tape, Active)
    given = (config, Val{found.arguments}, Val{R})
    first = write!(w, "rule.$n.augmented", found, augmented_code, (given..., Val{catches ? Symbol(found.what) : nothing}), false, [], ["i64"; values_of(R)])
    adjoints = [llvm_type(T) for T in arguments if is_float(T)]
    second = write!(w, "rule.$n.reverse", found, reverse_code, (given..., Val{Tape}), false, [is_float(R) ? [R] : []; UInt], adjoints)
    register!(w.io, "gradient", n, found, first, second)
end

"Gives what was external, until the text was linked, back to the optimiser."
function seal!(m, text)
    for found in eachmatch(r"^declare void @\"(.+)\"\(\)"m, text)
        LLVM.SetLinkage(LLVM.GetNamedFunction(m, found.captures[1]), LLVM.LINKAGE_INTERNAL)
    end
end

end
