# LLVM's C interface, of the LLVM that Julia itself runs on: what is needed to rewrite Julia's modules before they leave as
# bitcode. References to values, types and modules are plain pointers, valid while Julia's context lives, which is always.

module LLVM

using Libdl

# libLLVM-9.so.1, libLLVM-15jl.so, libLLVM.so.18.1jl; the engine's may be there, too.
const library = first(p for p in Libdl.dllist() if occursin(Regex("^libLLVM[-.a-z]*$(Base.libllvm_version.major)\\D"), basename(p)))

const Ref = Ptr{Cvoid}
const Module = Ref
const Value = Ref
const Type = Ref
const Builder = Ref

"LLVM's number for the kinds of types and values that are asked for here."
const KIND_VOID, KIND_FLOAT, KIND_DOUBLE, KIND_INTEGER, KIND_POINTER = 0, 2, 3, 8, 12
const VALUE_FUNCTION, VALUE_CONSTANT_EXPR, VALUE_CONSTANT_ARRAY, VALUE_CONSTANT_STRUCT, VALUE_CONSTANT_INT, VALUE_INSTRUCTION = 5, 10, 11, 12, 18, 24
const OP_ADD, OP_PTRTOINT = 8, 39
const OP_CALL, OP_RET, OP_LOAD, OP_STORE, OP_GEP, OP_INTTOPTR, OP_BITCAST, OP_ADDRSPACECAST, OP_PHI, OP_SELECT, OP_ALLOCA = 45, 1, 27, 28, 29, 40, 41, 60, 44, 46, 26
"Julia's number for the space of addresses of what arrays hold."
const SPACE_DATA = 13
const LINKAGE_EXTERNAL, LINKAGE_INTERNAL = 0, 8
const FUNCTION_INDEX = 0xffffffff

macro calls(expressions)
    block = Expr(:block)
    for e in filter(x -> x isa Expr, expressions.args)
        signature, result = e.args
        name = signature.args[1]
        parameters = [a.args[1] for a in signature.args[2:end]]
        types = [a.args[2] for a in signature.args[2:end]]
        symbol = QuoteNode(Symbol(:LLVM, name))
        push!(block.args, :($name($(parameters...)) = ccall(($symbol, library), $result, ($(types...),), $(parameters...))))
    end
    esc(block)
end

@calls begin
    GetModuleContext(m::Ref)::Ref
    GetFirstFunction(m::Ref)::Ref
    GetNextFunction(f::Ref)::Ref
    GetNamedFunction(m::Ref, name::Cstring)::Ref
    AddFunction(m::Ref, name::Cstring, type::Ref)::Ref
    IsDeclaration(v::Ref)::Cint
    GetLinkage(v::Ref)::Cint
    SetLinkage(v::Ref, linkage::Cint)::Cvoid
    CountParams(f::Ref)::Cuint
    GetFirstBasicBlock(f::Ref)::Ref
    GetNextBasicBlock(b::Ref)::Ref
    GetEntryBasicBlock(f::Ref)::Ref
    GetBasicBlockTerminator(b::Ref)::Ref
    GetNumSuccessors(i::Ref)::Cuint
    GetSuccessor(i::Ref, n::Cuint)::Ref
    AppendBasicBlockInContext(c::Ref, f::Ref, name::Cstring)::Ref
    GetFirstInstruction(b::Ref)::Ref
    GetNextInstruction(i::Ref)::Ref
    GetInstructionOpcode(i::Ref)::Cint
    GetInstructionCallConv(i::Ref)::Cuint
    InstructionEraseFromParent(i::Ref)::Cvoid
    ReplaceAllUsesWith(old::Ref, new::Ref)::Cvoid
    GetValueKind(v::Ref)::Cint
    GetCalledValue(i::Ref)::Ref
    GetNumArgOperands(i::Ref)::Cuint
    GetNumOperands(v::Ref)::Cint
    GetOperand(v::Ref, n::Cuint)::Ref
    GetParam(f::Ref, n::Cuint)::Ref
    GetConstOpcode(v::Ref)::Cint
    ConstIntGetZExtValue(v::Ref)::Culonglong
    TypeOf(v::Ref)::Ref
    GetElementType(t::Ref)::Ref
    GetReturnType(t::Ref)::Ref
    GetIntTypeWidth(t::Ref)::Cuint
    GetTypeKind(t::Ref)::Cint
    GetPointerAddressSpace(t::Ref)::Cuint
    IsFunctionVarArg(t::Ref)::Cint
    FunctionType(result::Ref, parameters::Ptr{Ref}, count::Cuint, variadic::Cint)::Ref
    PointerType(t::Ref, space::Cuint)::Ref
    VoidTypeInContext(c::Ref)::Ref
    Int8TypeInContext(c::Ref)::Ref
    Int32TypeInContext(c::Ref)::Ref
    Int64TypeInContext(c::Ref)::Ref
    ArrayType(t::Ref, count::Cuint)::Ref
    ConstInt(t::Ref, n::Culonglong, signed::Cint)::Ref
    ConstNull(t::Ref)::Ref
    CreateBuilderInContext(c::Ref)::Ref
    DisposeBuilder(b::Ref)::Cvoid
    PositionBuilderBefore(b::Ref, i::Ref)::Cvoid
    PositionBuilderAtEnd(b::Ref, block::Ref)::Cvoid
    SetInstDebugLocation(b::Ref, i::Ref)::Cvoid
    BuildCall(b::Ref, f::Ref, args::Ptr{Ref}, count::Cuint, name::Cstring)::Ref
    BuildIntToPtr(b::Ref, v::Ref, t::Ref, name::Cstring)::Ref
    BuildPtrToInt(b::Ref, v::Ref, t::Ref, name::Cstring)::Ref
    BuildBitCast(b::Ref, v::Ref, t::Ref, name::Cstring)::Ref
    BuildAlloca(b::Ref, t::Ref, name::Cstring)::Ref
    BuildStore(b::Ref, v::Ref, p::Ref)::Ref
    BuildLoad(b::Ref, p::Ref, name::Cstring)::Ref
    GetIncomingBlock(phi::Ref, n::Cuint)::Ref
    SetOperand(v::Ref, n::Cuint, to::Ref)::Cvoid
    ConstIntToPtr(v::Ref, t::Ref)::Ref
    ConstReal(t::Ref, x::Cdouble)::Ref
    BuildGEP(b::Ref, p::Ref, indices::Ptr{Ref}, count::Cuint, name::Cstring)::Ref
    BuildRet(b::Ref, v::Ref)::Ref
    BuildRetVoid(b::Ref)::Ref
    CreateStringAttribute(c::Ref, k::Cstring, kn::Cuint, v::Cstring, vn::Cuint)::Ref
    CreateEnumAttribute(c::Ref, kind::Cuint, value::UInt64)::Ref
    GetEnumAttributeKindForName(name::Cstring, n::Csize_t)::Cuint
    AddAttributeAtIndex(f::Ref, index::Cuint, a::Ref)::Cvoid
    GetStringAttributeAtIndex(f::Ref, index::Cuint, k::Cstring, kn::Cuint)::Ref
    RemoveEnumAttributeAtIndex(f::Ref, index::Cuint, kind::Cuint)::Cvoid
    CreatePassManager()::Ref
    RunPassManager(p::Ref, m::Ref)::Cint
    DisposePassManager(p::Ref)::Cvoid
    AddGlobalDCEPass(p::Ref)::Cvoid
    AddStripDeadPrototypesPass(p::Ref)::Cvoid
    AddAlwaysInlinerPass(p::Ref)::Cvoid
    LinkModules2(destination::Ref, source::Ref)::Cint
    CreateMemoryBufferWithMemoryRangeCopy(p::Ptr{UInt8}, n::Csize_t, name::Cstring)::Ref
    WriteBitcodeToMemoryBuffer(m::Ref)::Ref
    GetBufferStart(b::Ref)::Ptr{UInt8}
    GetBufferSize(b::Ref)::Csize_t
    DisposeMemoryBuffer(b::Ref)::Cvoid
    DisposeModule(m::Ref)::Cvoid
    GetMDKindIDInContext(c::Ref, name::Cstring, n::Cuint)::Cuint
    GetMetadata(i::Ref, kind::Cuint)::Ref
    SetMetadata(i::Ref, kind::Cuint, node::Ref)::Cvoid
    GetMDNodeOperands(node::Ref, out::Ptr{Ref})::Cvoid
    GetMDNodeNumOperands(node::Ref)::Cuint
    MDStringInContext(c::Ref, text::Cstring, n::Cuint)::Ref
    MDNodeInContext(c::Ref, values::Ptr{Ref}, n::Cuint)::Ref
end

function name(v::Value)
    size = Base.Ref{Csize_t}(0)
    p = ccall((:LLVMGetValueName2, library), Ptr{UInt8}, (Ref, Base.Ref{Csize_t}), v, size)
    unsafe_string(p, size[])
end

rename(v::Value, n::String) = ccall((:LLVMSetValueName2, library), Cvoid, (Ref, Ptr{UInt8}, Csize_t), v, n, sizeof(n))

function take_message(p::Cstring)
    s = unsafe_string(p)
    ccall((:LLVMDisposeMessage, library), Cvoid, (Cstring,), p)
    s
end

text(m::Module) = take_message(ccall((:LLVMPrintModuleToString, library), Cstring, (Ref,), m))

"The functions of a module, or the blocks of a function, or the instructions of a block, as they are now."
function items(first::Ref, next)
    out = Ref[]
    at = first
    while at != C_NULL
        push!(out, at)
        at = next(at)
    end
    out
end
functions(m::Module) = items(GetFirstFunction(m), GetNextFunction)
blocks(f::Value) = items(GetFirstBasicBlock(f), GetNextBasicBlock)
instructions(b::Ref) = items(GetFirstInstruction(b), GetNextInstruction)

function parameters(f::Value)
    out = Ref[]
    for n in 1:Int(CountParams(f))
        push!(out, GetParam(f, n - 1))
    end
    out
end

is_operation(v::Value, op) = GetValueKind(v) == VALUE_INSTRUCTION && GetInstructionOpcode(v) == op

"The parts of a node of metadata."
function operands(node::Ref)
    parts = Vector{Ref}(undef, GetMDNodeNumOperands(node))
    GetMDNodeOperands(node, parts)
    parts
end

"A text of metadata; empty if it is something else."
function md_string(v::Ref)
    size = Base.Ref{Cuint}(0)
    p = ccall((:LLVMGetMDString, library), Ptr{UInt8}, (Ref, Base.Ref{Cuint}), v, size)
    p == C_NULL ? "" : unsafe_string(p, size[])
end

has_mark(f::Value, key::String) = GetStringAttributeAtIndex(f, FUNCTION_INDEX, key, sizeof(key)) != C_NULL
function mark(f::Value, c::Ref, key::String, value::String = "")
    AddAttributeAtIndex(f, FUNCTION_INDEX, CreateStringAttribute(c, key, sizeof(key), value, sizeof(value)))
end

function mark_enum(f::Value, c::Ref, word::String, index = FUNCTION_INDEX)
    AddAttributeAtIndex(f, index, CreateEnumAttribute(c, GetEnumAttributeKindForName(word, sizeof(word)), 0))
end

function unmark_enum(f::Value, word::String)
    RemoveEnumAttributeAtIndex(f, FUNCTION_INDEX, GetEnumAttributeKindForName(word, sizeof(word)))
end

"The file and the line that an instruction is of; empty and 0 if that is not known."
function location(i::Value)
    size = Base.Ref{Cuint}(0)
    file = ccall((:LLVMGetDebugLocFilename, library), Ptr{UInt8}, (Ref, Base.Ref{Cuint}), i, size)
    file == C_NULL ? "" : unsafe_string(file, size[]), Int(ccall((:LLVMGetDebugLocLine, library), Cuint, (Ref,), i))
end

"Bytes of the module as bitcode."
function bitcode(m::Module)
    buffer = WriteBitcodeToMemoryBuffer(m)
    bytes = copy(unsafe_wrap(Array, GetBufferStart(buffer), GetBufferSize(buffer)))
    DisposeMemoryBuffer(buffer)
    bytes
end

"Adds texts to others; one method for any number of them."
function put!(io::IOBuffer, @nospecialize(parts...))
    for n in 1:length(parts)
        write(io, parts[n]::String)
    end
end

function texts(@nospecialize(parts...))
    io = IOBuffer()
    for n in 1:length(parts)
        write(io, parts[n]::String)
    end
    String(take!(io))
end

"Texts with something between them."
function listed(parts::Vector{String}, between::String = ", ")
    io = IOBuffer()
    for n in 1:length(parts)
        n == 1 || write(io, between)
        write(io, parts[n])
    end
    String(take!(io))
end

"Parses text in the context of `m` and adds its definitions to `m`."
function link_text!(m::Module, source::String)
    c = GetModuleContext(m)
    layout = unsafe_string(ccall((:LLVMGetDataLayoutStr, library), Cstring, (Ref,), m))
    triple = unsafe_string(ccall((:LLVMGetTarget, library), Cstring, (Ref,), m))
    source = texts("target datalayout = \"", layout, "\"\ntarget triple = \"", triple, "\"\n", source)
    buffer = CreateMemoryBufferWithMemoryRangeCopy(pointer(source), sizeof(source), "enzyme")
    parsed = Base.Ref{Ref}(C_NULL)
    message = Base.Ref{Cstring}(C_NULL)
    failed = ccall((:LLVMParseIRInContext, library), Cint, (Ref, Ref, Base.Ref{Ref}, Base.Ref{Cstring}), c, buffer, parsed, message)
    failed == 0 || error("Enzyme: internal: ", take_message(message[]))
    LinkModules2(m, parsed[]) == 0 || error("Enzyme: internal: modules do not fit together")
end

function run_passes(add, m::Module)
    p = CreatePassManager()
    add(p)
    RunPassManager(p, m)
    DisposePassManager(p)
end

"Drops what nothing reaches."
prune!(m::Module) = run_passes(m) do p
    AddGlobalDCEPass(p)
    AddStripDeadPrototypesPass(p)
end

"Inlines what must be inlined; drops what nothing reaches then."
inline!(m::Module) = run_passes(m) do p
    AddAlwaysInlinerPass(p)
    AddGlobalDCEPass(p)
    AddStripDeadPrototypesPass(p)
end

end
