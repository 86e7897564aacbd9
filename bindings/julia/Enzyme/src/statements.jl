# What Julia's types say of memory, told to the engine where a derivative begins: where floats lie behind the `Ref`s of a call. A program may
# read a float's bits as an integer (`reinterpret(Int64, x)`), and then nothing in its code says that a float was there.
#
# Told: floats of a `Ref`'s content, of structures in it, of arrays and objects that these lead to. An element whose number is not known stands for
# all of an array. Not told: what a union or a field without concrete type leads to, and lists beyond their first object.

module Statements

import ..LLVM, ..Emit

const NAMES = Dict(Float64 => "double", Float32 => "float")
"So many floats at once; of more the engine would take all that follow for floats."
const MOST = 64

const PROTOTYPES = """
    declare void @__enzyme_double(i8*, i64)
    declare void @__enzyme_float(i8*, i64)
    """

"The floats in a value of the type, structures in it included: their offsets and types."
floats(T, start = 0, out = Tuple{Int,DataType}[]) =
    haskey(NAMES, T) ? push!(out, (start, T)) : is_inline(T) ? floats_of_fields(T, start, out) : out

function floats_of_fields(T, start = 0, out = Tuple{Int,DataType}[])
    foreach(n -> floats(fieldtype(T, n), start + Int(fieldoffset(T, n)), out), 1:fieldcount(T))
    out
end

is_inline(T) = T isa DataType && isconcretetype(T) && !T.mutable && Base.allocatedinline(T)

"Runs of one type without gaps: offset, type and number."
function runs(floats)
    out = Tuple{Int,DataType,Int}[]
    for (offset, T) in floats
        if !isempty(out)
            start, S, count = out[end]
            if S === T && count < MOST && start + count * sizeof(T) == offset
                out[end] = (start, S, count + 1)
                continue
            end
        end
        push!(out, (offset, T, 1))
    end
    out
end

mutable struct Writer
    io::IOBuffer
    count::Int
end

function emit!(w::Writer, text)
    w.count += 1
    println(w.io, "  %v$(w.count) = ", text)
    "%v$(w.count)"
end
at!(w::Writer, p, offset) = offset == 0 ? p : emit!(w, "getelementptr i8, i8* $p, i64 $offset")
function load!(w::Writer, type, p, offset)
    place = emit!(w, "bitcast i8* $(at!(w, p, offset)) to $type*")
    emit!(w, "load $type, $type* $place, align 8")
end
state!(w::Writer, p, T, bytes) = println(w.io, "  call void @__enzyme_$(NAMES[T])(i8* $p, i64 $bytes)")

"What `body` writes, for programs in which the condition holds."
function guarded!(body, w::Writer, condition)
    w.count += 1
    n = w.count
    println(w.io, "  br i1 $condition, label %then$n, label %end$n\nthen$n:")
    body()
    println(w.io, "  br label %end$n\nend$n:")
end

"What lies at `p`: a float, or the fields of a structure."
function content!(w::Writer, p, T, above)
    for (offset, F, count) in runs(haskey(NAMES, T) ? floats(T) : floats_of_fields(T))
        state!(w, at!(w, p, offset), F, count * sizeof(F))
    end
    references!(w, p, T, 0, above)
end

"The objects that the fields at `p` lead to; `sure`: all that a constructor sets is set."
function references!(w::Writer, p, T, start, above, sure = true)
    for n in 1:fieldcount(T)
        F, offset = fieldtype(T, n), start + Int(fieldoffset(T, n))
        is_set = sure && n <= T.ninitialized
        is_inline(F) ? references!(w, p, F, offset, above, is_set) : reference!(w, p, offset, F, above, is_set)
    end
end

function reference!(w::Writer, p, offset, T, above, is_set)
    (has_object(T) && !(T in above)) || return
    object = load!(w, "i8*", p, offset)
    is_set && return object!(w, object, T, [above; T])
    guarded!(() -> object!(w, object, T, [above; T]), w, emit!(w, "icmp ne i8* $object, null"))
end

has_object(T) = T isa DataType && isconcretetype(T) && (T <: Array || fieldcount(T) > 0) && parentmodule(Statements).may_differentiate(T)

function object!(w::Writer, p, T, above)
    T <: Array || return content!(w, p, T, above)
    E, size = eltype(T), Base.elsize(T)
    is_inline = Base.allocatedinline(E)
    found = is_inline ? runs(floats(E)) : []
    has_references = is_inline ? E isa DataType && !isbitstype(E) && has_object(E) : has_object(E) && !(E in above)
    (isempty(found) && !has_references) && return
    data, length = load!(w, "i8*", p, Emit.ARRAY.data), load!(w, "i64", p, Emit.ARRAY.length)
    for (offset, F, count) in found
        whole = count * sizeof(F) == size
        whole ? state!(w, data, F, emit!(w, "mul i64 $length, $size")) : state!(w, element!(w, data, size, length, offset), F, count * sizeof(F))
    end
    has_references || return
    guarded!(w, emit!(w, "icmp ne i64 $length, 0")) do
        last = element!(w, data, size, emit!(w, "sub i64 $length, 1"), 0)
        is_inline ? references!(w, last, E, 0, above, false) : reference!(w, last, 0, E, above, false)
    end
end

"The address in one of an array's elements."
function element!(w::Writer, data, size, number, offset)
    first = emit!(w, "bitcast i8* $data to [$size x i8]*")
    emit!(w, "getelementptr [$size x i8], [$size x i8]* $first, i64 $number, i64 $offset")
end

"States, where the function begins, what its parameters point to: `contents` are the types of `Ref`s' values, `nothing` where it does not matter."
function add!(m::LLVM.Module, f::LLVM.Value, contents)
    LLVM.CountParams(f) == length(contents) || error("Enzyme: internal: a function of $(LLVM.CountParams(f)) parameters for $(length(contents)) values")
    w = Writer(IOBuffer(), 0)
    for (n, T) in enumerate(contents)
        T === nothing && continue
        p = "%p$(n - 1)"
        if haskey(NAMES, T) || is_inline(T)
            content!(w, p, T, Any[])
        elseif has_object(T)
            reference!(w, p, 0, T, Any[], true)
        end
    end
    body = String(take!(w.io))
    isempty(body) && return
    parameters = join(("i8* %p$(n - 1)" for n in 1:length(contents)), ", ")
    LLVM.link_text!(m, PROTOTYPES * "define void @enzyme.state($parameters) alwaysinline {\n" * body * "  ret void\n}\n")
    g = LLVM.GetNamedFunction(m, "enzyme.state")
    LLVM.SetLinkage(g, LLVM.LINKAGE_INTERNAL)
    call_first!(m, f, g)
end

"Calls `g` with the parameters of `f` where `f` begins."
function call_first!(m, f, g)
    b = LLVM.CreateBuilderInContext(LLVM.GetModuleContext(m))
    LLVM.PositionBuilderBefore(b, LLVM.GetFirstInstruction(LLVM.GetEntryBasicBlock(f)))
    given = map(0:(Int(LLVM.CountParams(f)) - 1)) do n
        LLVM.BuildBitCast(b, LLVM.GetParam(f, n), LLVM.TypeOf(LLVM.GetParam(g, n)), "")
    end
    LLVM.BuildCall(b, g, LLVM.Ref[given...], length(given), "")
    LLVM.DisposeBuilder(b)
end

end
