# The numbers of types behind arrays of values of one of several (part of `Normalise`): they are read, written and moved by calls that the engine takes for
# inactive. Julia accesses them a byte at a time; wider accesses, which LLVM may make of these, stay as they are.

"The number of an element's type is read or written by a call: it would lie among the floats, and have a shadow, otherwise."
function access_tag!(w::Work, i::LLVM.Value, op)
    stores = op == LLVM.OP_STORE
    value = stores ? LLVM.GetOperand(i, 0) : i
    byte = LLVM.TypeOf(value)
    LLVM.GetTypeKind(byte) == LLVM.KIND_INTEGER && LLVM.GetIntTypeWidth(byte) == 8 || return
    LLVM.PositionBuilderBefore(w.builder, i)
    copy_location!(w, i)
    at = cast(w, LLVM.GetOperand(i, stores ? 1 : 0), w.bytes)
    f = LLVM.GetNamedFunction(w.mod, stores ? "enzyme.set_tag" : "enzyme.get_tag")
    made = LLVM.BuildCall(w.builder, f, stores ? LLVM.Ref[at, value] : LLVM.Ref[at], stores ? 2 : 1, "")
    LLVM.SetInstDebugLocation(w.builder, made)
    stores || LLVM.ReplaceAllUsesWith(i, made)
    LLVM.InstructionEraseFromParent(i)
end

"Whether an address is counted from that of the numbers of an array's elements' types."
function is_of_tags(v::LLVM.Value)
    for _ in 1:16
        LLVM.GetValueKind(v) == LLVM.VALUE_INSTRUCTION || return false
        op = LLVM.GetInstructionOpcode(v)
        if op == LLVM.OP_CALL
            callee = behind(LLVM.GetCalledValue(v))
            LLVM.GetValueKind(callee) == LLVM.VALUE_FUNCTION && return LLVM.name(callee) == MODELS["jl_array_typetagdata"]
            at = address(callee)
            return at !== nothing && c_name(at)[1] == "jl_array_typetagdata"
        end
        op in (LLVM.OP_BITCAST, LLVM.OP_GEP, LLVM.OP_PTRTOINT, LLVM.OP_INTTOPTR, LLVM.OP_ADD) || return false
        # What is added to an address comes first where LLVM has put it so.
        v = LLVM.GetOperand(v, op == LLVM.OP_ADD && !is_of_tags(LLVM.GetOperand(v, 0)) ? 1 : 0)
    end
    false
end
