# Derivatives of functions that ask for derivatives themselves. In the module of such a function a call of `perform` becomes a marker call, in the engine's
# way, for the code of what is asked for, which is put beside it: the engine makes the inner derivative first, and differentiates it like other code.
#
# Not handled: an inner call in two sweeps, products with a Hessian, calls that are dispatched at run time and rules of the program in what an inner call
# reaches. They are refused.

module Nested

import ..LLVM, ..Emit, ..Normalise, ..Models, ..Statements, ..refuse, ..seldom

"Inner derivatives that a module asks for."
struct Found
    plans::Vector{Any}        # what is compiled, each once
    used::Vector{Pair{Core.MethodInstance,Any}}
end

"The beginning of the name of what stands for `perform` until the module is optimised."
const NAME = "enzyme.perform."

is_ours(name::String) = startswith(name, "julia_perform_")

"Takes `perform` out of a module that has just been made; nothing if it has none."
function find!(native, world::UInt)
    for f in LLVM.functions(native.mod)
        is_ours(LLVM.name(f)) && return seldom(find_all!, native, world)
    end
    nothing
end

function find_all!(native, world::UInt)
    found = Found(Any[], Pair{Core.MethodInstance,Any}[])
    take_out!(found, native, world)
    isempty(found.plans) ? nothing : found
end

function take_out!(found::Found, native, world::UInt)
    m = native.mod
    for instance in Emit.specializations(first(methods(parentmodule(Nested).perform)))
        code = Emit.code_instance(instance, world)
        symbol = code === nothing ? "" : Emit.symbol(native, code)
        isempty(symbol) && continue
        f = LLVM.GetNamedFunction(m, symbol)
        g = LLVM.AddFunction(m, NAME * symbol, LLVM.GetElementType(LLVM.TypeOf(f)))
        LLVM.ReplaceAllUsesWith(f, g)
        # The rest of this package goes with it.
        LLVM.IsDeclaration(f) == 0 && LLVM.SetLinkage(f, LLVM.LINKAGE_INTERNAL)
    end
    LLVM.prune!(m)
    for call in calls(m)
        plan = plan_of(call)
        any(p -> p === plan, found.plans) || push!(found.plans, plan)
    end
end

"The calls in a module that stand for `perform`."
function calls(m::LLVM.Module)
    out = LLVM.Value[]
    for f in LLVM.functions(m), b in LLVM.blocks(f), i in LLVM.instructions(b)
        LLVM.GetInstructionOpcode(i) == LLVM.OP_CALL || continue
        callee = Normalise.behind(LLVM.GetCalledValue(i))
        LLVM.GetValueKind(callee) == LLVM.VALUE_FUNCTION && startswith(LLVM.name(callee), NAME) && push!(out, i)
    end
    out
end

"What a call asks for: its second argument, a constant."
function plan_of(call::LLVM.Value)
    at = Normalise.address(LLVM.GetOperand(call, 1))
    at === nothing && error("Enzyme: internal: a derivative within a derivative that is no constant")
    unsafe_pointer_to_objref(Ptr{Cvoid}(at))
end

# No name as the models have, which are internal from the start.
symbol_of(k::Int) = "inner.$k"

"Adds the code of all that is asked for, and of what that asks for, to a module that is not yet optimised."
function add!(m::LLVM.Module, found::Found, outer, world::UInt, again::Bool)
    done = 0
    while done < length(found.plans)
        done += 1
        add_one!(m, found, found.plans[done], done, outer.what, world)
    end
    fits = calls_fit(m)
    again || fits && !any(is_uncertain, found.plans) && is_certain(outer, world) || throw(Uncertain(found.plans))
    fits || refuse(outer.what, "what it asks for itself has no types that are known")
end

# Julia's inference gives up where `autodiff` asks for the type of what calls `autodiff` itself, unless that is known: so it is asked for from the inside out.

"Derivatives of results whose type is not known."
struct Uncertain <: Exception
    plans::Vector{Any}
end

"The types of the function and of its arguments."
signature_of(plan) = Tuple{map(eltype, plan.signature.parameters[3:end])...}

"Whether it is known which type the function returns."
function is_certain(plan, world::UInt)
    instance = Emit.method_instance(signature_of(plan), world)
    code = instance === nothing ? nothing : Emit.code_instance(instance, world)
    code === nothing || isconcretetype(code.rettype)
end

"Whether all functions are called as what they are: of what was inferred twice, with different results, Julia's code for callers may be of the first."
function calls_fit(m::LLVM.Module)
    message = Ref{Cstring}(C_NULL)
    wrong = ccall((:LLVMVerifyModule, LLVM.library), Cint, (LLVM.Ref, Cint, Ptr{Cstring}), m, 2, message)
    LLVM.take_message(message[])
    wrong == 0
end

is_uncertain(plan) = (R = plan.signature.parameters[2]; R !== Nothing && !isconcretetype(eltype(R)))

"Lets Julia forget what it knows of all code that asks for derivatives, and look at it again."
function infer!(e::Uncertain)
    Core.eval(parentmodule(Nested), :(anew() = nothing))
    for plan in Iterators.reverse(e.plans)
        ccall(:jl_compile_hint, Cint, (Any,), signature_of(plan))
    end
    true
end

function add_one!(m, found::Found, plan, k::Int, asked, world::UInt)
    plan.kind === :second && refuse(asked, "$(parentmodule(Nested).words(plan.what)) within it: derivatives of products with a Hessian are not supported")
    any(T -> T !== nothing && parentmodule(Nested).Unions.leads_to_array(T), parentmodule(Nested).contents(plan)) &&
        refuse(asked, "$(parentmodule(Nested).words(plan.what)) within it: derivatives for arrays of values of one of several types")
    instance = Emit.method_instance(plan.signature, world)
    instance === nothing && refuse(asked, "$(parentmodule(Nested).words(plan.what)) within it: no method fits these arguments")
    native = Emit.native(instance)
    code = Emit.code_instance(instance, world)
    symbol = code === nothing ? "" : Emit.symbol(native, code)
    isempty(symbol) && refuse(asked, "$(parentmodule(Nested).words(plan.what)) within it: Julia gives this method no code of its own")
    push!(found.used, instance => code)
    f = LLVM.GetNamedFunction(native.mod, symbol)
    LLVM.SetLinkage(f, LLVM.LINKAGE_EXTERNAL)
    take_out!(found, native, world)
    Normalise.mark_mathematics!(native, world)
    rules, _ = parentmodule(Nested).Rules.install!(native, plan, world, false)
    isempty(rules) || refuse(asked, "$(parentmodule(Nested).words(plan.what)) within it: there are no second derivatives through a rule")
    Models.use!(native, world)
    LLVM.rename(f, symbol_of(k))
    LLVM.LinkModules2(m, native.mod) == 0 || error("Enzyme: internal: modules do not fit together")
end

"Makes the calls those of markers, once all is optimised."
function replace!(m::LLVM.Module, found::Found)
    E = parentmodule(Nested)
    c = LLVM.GetModuleContext(m)
    bytes = LLVM.PointerType(LLVM.Int8TypeInContext(c), 0)
    for (k, plan) in enumerate(found.plans)
        f = LLVM.GetNamedFunction(m, symbol_of(k))
        f == C_NULL && continue # Nothing that goes on asks for it.
        Statements.add!(m, f, E.contents(plan), E.has_result(plan))
        LLVM.link_text!(m, E.inner_text(plan, symbol_of(k), marker(k)))
        LLVM.SetLinkage(LLVM.GetNamedFunction(m, symbol_of(k)), LLVM.LINKAGE_INTERNAL)
        LLVM.SetLinkage(LLVM.GetNamedFunction(m, marker(k)), LLVM.LINKAGE_INTERNAL)
    end
    builder = LLVM.CreateBuilderInContext(c)
    for call in calls(m)
        plan = plan_of(call)
        g = LLVM.GetNamedFunction(m, marker(findfirst(p -> p === plan, found.plans)))
        # The `Ref`s come last.
        count, all = Int(LLVM.CountParams(g)), Int(LLVM.GetNumArgOperands(call))
        LLVM.PositionBuilderBefore(builder, call)
        given = LLVM.Ref[LLVM.BuildBitCast(builder, LLVM.GetOperand(call, n), bytes, "") for n in (all - count):(all - 1)]
        LLVM.SetInstDebugLocation(builder, call)
        LLVM.SetInstDebugLocation(builder, LLVM.BuildCall(builder, g, given, count, ""))
        LLVM.InstructionEraseFromParent(call)
    end
    LLVM.DisposeBuilder(builder)
end

marker(k::Int) = "enzyme.inner.$k.derivative"

end
