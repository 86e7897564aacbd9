# Calls that hand on references: those in Julia's conventions of boxed calls get an array of arguments; those that are dispatched at run time become calls
# of one function, which has a rule (dynamic.jl; only in modules that were refused for such calls). Part of `Normalise`.

"A call in one of the boxed conventions: the arguments go into an array."
function boxed!(w::Work, f, call, convention, is_warm)
    args = arguments(call)
    callee = LLVM.GetCalledValue(call)
    w.dynamic && is_warm && !writes_text(args[convention == 38 ? 2 : 1]) && seldom(dynamic!, w, f, call, behind(callee), args, convention == 38) === true && return
    skip = convention == 38 ? 2 : 1
    value = LLVM.TypeOf(call)
    i32 = LLVM.Int32TypeInContext(w.context)
    list = args[skip+1:end]
    LLVM.PositionBuilderBefore(w.builder, LLVM.GetFirstInstruction(LLVM.GetEntryBasicBlock(f)))
    place = isempty(list) ? LLVM.ConstNull(LLVM.PointerType(value, 0)) : LLVM.BuildAlloca(w.builder, LLVM.ArrayType(value, length(list)), "arguments")
    LLVM.PositionBuilderBefore(w.builder, call)
    for (n, a) in enumerate(list)
        indices = [LLVM.ConstInt(i32, 0, 0), LLVM.ConstInt(i32, n - 1, 0)]
        LLVM.BuildStore(w.builder, a, LLVM.BuildGEP(w.builder, place, indices, 2, ""))
    end
    if !isempty(list)
        place = LLVM.BuildBitCast(w.builder, place, LLVM.PointerType(value, 0), "")
    end
    count = LLVM.ConstInt(i32, length(list), 0)
    pointers = LLVM.PointerType(value, 0)
    if convention == 38
        types = [value, pointers, i32, value]
        given = [args[2], place, count, args[1]]
    else
        types = [value, pointers, i32]
        given = [args[1], place, count]
    end
    type = LLVM.FunctionType(value, types, length(types), 0)
    target = behind(callee)
    is_warm &= !writes_text(given[1])
    if LLVM.GetValueKind(target) == LLVM.VALUE_FUNCTION
        name = LLVM.name(target)
        LLVM.IsDeclaration(target) != 0 && note!(w, target, name)
        if LLVM.TypeOf(target) != LLVM.PointerType(type, 0)
            target = ccall((:LLVMConstBitCast, LLVM.library), LLVM.Ref, (LLVM.Ref, LLVM.Ref), target, LLVM.PointerType(type, 0))
        end
        if !is_warm
            target = outline(w, target, type, name)
        end
    else
        target = cast(w, callee, LLVM.PointerType(type, 0))
    end
    replace_call!(w, call, target, given)
end

"A call that is dispatched at run time, as one of `enzyme.dynamic` (dynamic.jl); false if it is of another function."
function dynamic!(w::Work, f, call, callee::LLVM.Value, args::Vector{LLVM.Ref}, chosen::Bool)
    LLVM.GetValueKind(callee) == LLVM.VALUE_FUNCTION || return false
    known = parentmodule(Normalise).Dynamic.NAMES
    name = LLVM.name(callee)
    haskey(known, name) || return false
    value, i32 = LLVM.TypeOf(call), LLVM.Int32TypeInContext(w.context)
    none, built_in = LLVM.ConstNull(value), known[name]
    built_in isa Symbol && (built_in = getfield(parentmodule(Normalise).Dynamic, built_in))
    # What is made of fields is called by its type.
    list = chosen ? args[3:end] : name == "jl_new_structv" ? args : args[2:end]
    head = [none, built_in === nothing ? args[chosen ? 2 : 1] : object_constant(w, built_in, value), chosen ? args[1] : none]
    LLVM.PositionBuilderBefore(w.builder, LLVM.GetFirstInstruction(LLVM.GetEntryBasicBlock(f)))
    place = LLVM.BuildAlloca(w.builder, LLVM.ArrayType(value, length(list) + 3), "call")
    at(n) = LLVM.BuildGEP(w.builder, place, [LLVM.ConstInt(i32, 0, 0), LLVM.ConstInt(i32, n - 1, 0)], 2, "")
    LLVM.PositionBuilderBefore(w.builder, call)
    copy_location!(w, call)
    for (n, a) in enumerate([head; list])
        LLVM.BuildStore(w.builder, n > 3 ? unshared(w, a) : a, at(n))
    end
    given = [LLVM.BuildBitCast(w.builder, place, w.bytes, ""), i64(w, length(list))]
    type = LLVM.FunctionType(LLVM.VoidTypeInContext(w.context), map(LLVM.TypeOf, given), 2, 0)
    LLVM.SetInstDebugLocation(w.builder, LLVM.BuildCall(w.builder, declared(w, "enzyme.dynamic", type), given, 2, ""))
    LLVM.ReplaceAllUsesWith(call, LLVM.BuildLoad(w.builder, at(1), ""))
    LLVM.InstructionEraseFromParent(call)
    true
end

"The tuple of what a function of any number of arguments is given, of which the caller alone knows how many there are (`enzyme.rest`, dynamic.jl)."
function rest!(w::Work, call)
    list, count = LLVM.GetOperand(call, 1), LLVM.GetOperand(call, 2)
    LLVM.PositionBuilderBefore(w.builder, call)
    given = LLVM.Ref[object_constant(w, tuple, w.bytes), cast(w, list, w.bytes), count]
    replace_call!(w, call, declared(w, "enzyme.rest", LLVM.FunctionType(w.bytes, map(LLVM.TypeOf, given), 3, 0)), given)
end

object_constant(w::Work, @nospecialize(x), type) = LLVM.ConstIntToPtr(i64(w, UInt(ccall(:jl_value_ptr, Ptr{Cvoid}, (Any,), x))), type)

"A constant number in an object as one in an object of its own, which can have a shadow; other values as they are. The builder stands where it is wanted."
function unshared(w::Work, v::LLVM.Value)
    at = address(v)
    (at === nothing || at < 4096) && return v
    x = unsafe_pointer_to_objref(Ptr{Cvoid}(at))
    model = x isa Float64 ? "enzyme.box_float64" : x isa Float32 ? "enzyme.box_float32" : return v
    f = LLVM.GetNamedFunction(w.mod, model)
    number = LLVM.ConstReal(LLVM.TypeOf(LLVM.GetParam(f, 0)), Float64(x))
    cast(w, LLVM.BuildCall(w.builder, f, [number], 1, ""), LLVM.TypeOf(v))
end

"Constant numbers that an instruction stores, chooses, returns or hands on, are its own objects."
function unshare!(w::Work, i::LLVM.Value, op)
    own = IdDict{Any,Any}()
    count = op == LLVM.OP_STORE ? 1 : op == LLVM.OP_CALL ? Int(LLVM.GetNumArgOperands(i)) : Int(LLVM.GetNumOperands(i))
    for n in 0:(count - 1)
        v = LLVM.GetOperand(i, n)
        LLVM.GetValueKind(v) == LLVM.VALUE_CONSTANT_EXPR && LLVM.GetTypeKind(LLVM.TypeOf(v)) == LLVM.KIND_POINTER || continue
        before = op == LLVM.OP_PHI ? LLVM.GetBasicBlockTerminator(LLVM.GetIncomingBlock(i, n)) : i
        if !haskey(own, (before, v))
            LLVM.PositionBuilderBefore(w.builder, before)
            copy_location!(w, before)
            own[(before, v)] = unshared(w, v)
        end
        own[(before, v)] == v || LLVM.SetOperand(i, n, own[(before, v)])
    end
end

"Whether an instruction is one that may make a constant number part of what has a derivative."
function hands_on(i::LLVM.Value, op)
    op == LLVM.OP_CALL || return op == LLVM.OP_STORE || op == LLVM.OP_PHI || op == LLVM.OP_RET || op == LLVM.OP_SELECT
    f = LLVM.GetCalledValue(i)
    LLVM.GetValueKind(f) == LLVM.VALUE_FUNCTION && LLVM.IsDeclaration(f) == 0
end
