# What Julia's types say of memory, told to the engine where a derivative begins: where floats lie behind the `Ref`s of a call. A program may
# read a float's bits as an integer (`reinterpret(Int64, x)`), and then nothing in its code says that a float was there.
#
# Told: floats of a `Ref`'s content, of structures in it, of arrays and objects that these lead to, and the integers beside them in structures. An element whose number is not known stands for
# all of an array. Not told: what a union or a field without concrete type leads to, and lists beyond their first object.

module Statements

import ..LLVM, ..Emit, ..Unions, ..seldom

"The engine's name for a float type; empty for other types."
float_name(@nospecialize(T)) = T === Float64 ? "double" : T === Float32 ? "float" : ""
"So many floats at once; of more the engine would take all that follow for floats."
const MOST = 64

const PROTOTYPES = """
    declare void @__enzyme_double(i8*, i64)
    declare void @__enzyme_float(i8*, i64)
    declare void @__enzyme_integer(i8*, i64)
    """

"Floats of one type without gaps."
struct Run
    offset::Int
    name::String
    size::Int # of one
    count::Int
end

"The floats in a value of the type, structures in it included."
function runs!(out::Vector{Run}, @nospecialize(T), start::Int)
    name = float_name(T)
    isempty(name) || return push_float!(out, name, sizeof(T), start)
    is_inline(T) && runs_of_fields!(out, T, start)
    out
end

function runs_of_fields!(out::Vector{Run}, @nospecialize(T), start::Int)
    for n in 1:fieldcount(T)
        F, at = fieldtype(T, n), start + Int(fieldoffset(T, n))
        # A copy of a structure does not say which of its words are integers.
        is_whole(F) ? push_float!(out, "integer", sizeof(F), at) : runs!(out, F, at)
    end
    out
end
is_whole(@nospecialize(T)) = T === Int64 || T === UInt64

function push_float!(out::Vector{Run}, name::String, size::Int, offset::Int)
    if !isempty(out)
        last = out[end]
        if last.name == name && last.count < MOST && last.offset + last.count * size == offset
            out[end] = Run(last.offset, name, size, last.count + 1)
            return out
        end
    end
    push!(out, Run(offset, name, size, 1))
end

is_inline(@nospecialize(T)) = T isa DataType && isconcretetype(T) && !Emit.is_mutable(T) && Base.allocatedinline(T)

mutable struct Writer
    io::IOBuffer
    count::Int
end

function emit!(w::Writer, @nospecialize(parts...))
    w.count += 1
    name = LLVM.texts("%v", string(w.count))
    LLVM.put!(w.io, "  ", name, " = ")
    for part in parts
        write(w.io, part::String)
    end
    write(w.io, "\n")
    name
end
at!(w::Writer, p::String, offset::Int) = offset == 0 ? p : emit!(w, "getelementptr i8, i8* ", p, ", i64 ", string(offset))
function load!(w::Writer, type::String, p::String, offset::Int)
    place = emit!(w, "bitcast i8* ", at!(w, p, offset), " to ", type, "*")
    emit!(w, "load ", type, ", ", type, "* ", place, ", align 8")
end
state!(w::Writer, p::String, run::Run, bytes::String = string(run.count * run.size)) =
    LLVM.put!(w.io, "  call void @__enzyme_", run.name, "(i8* ", p, ", i64 ", bytes, ")\n")

"What `body` writes, for programs in which the condition holds."
function guarded!(body, w::Writer, condition::String)
    w.count += 1
    n = string(w.count)
    LLVM.put!(w.io, "  br i1 ", condition, ", label %then", n, ", label %end", n, "\nthen", n, ":\n")
    body()
    LLVM.put!(w.io, "  br label %end", n, "\nend", n, ":\n")
end

"What lies at `p`: a float, or the fields of a structure. `sure`: it has a value by now."
function content!(w::Writer, p::String, @nospecialize(T), above::Vector{Any}, sure::Bool)
    out = Run[]
    isempty(float_name(T)) ? runs_of_fields!(out, T, 0) : runs!(out, T, 0)
    for run in out
        state!(w, at!(w, p, run.offset), run)
    end
    references!(w, p, T, 0, above, sure)
end

function is_in(list::Vector{Any}, @nospecialize(T))
    for x in list
        x === T && return true
    end
    false
end

"The objects that the fields at `p` lead to; `sure`: all that a constructor sets is set."
function references!(w::Writer, p::String, @nospecialize(T), start::Int, above::Vector{Any}, sure::Bool)
    for n in 1:fieldcount(T)
        F, offset = fieldtype(T, n), start + Int(fieldoffset(T, n))
        is_set = sure && n <= Emit.initialized(T)
        if is_inline(F)
            references!(w, p, F, offset, above, is_set)
        elseif has_object(F)
            seldom(reference!, w, p, offset, F, above, is_set)
        end
    end
end

function reference!(w::Writer, p::String, offset::Int, @nospecialize(T), above::Vector{Any}, is_set::Bool)
    is_in(above, T) && return
    object = load!(w, "i8*", p, offset)
    above = push!(copy(above), T)
    is_set && return object!(w, object, T, above)
    guarded!(() -> object!(w, object, T, above), w, emit!(w, "icmp ne i8* ", object, ", null"))
end

has_object(@nospecialize(T)) =
    T isa DataType && isconcretetype(T) && (T <: Array || fieldcount(T) > 0) && parentmodule(Statements).may_differentiate(T)

function object!(w::Writer, p::String, @nospecialize(T), above::Vector{Any})
    T <: Array || return content!(w, p, T, above, true)
    E, size = eltype(T), Int(Base.elsize(T))
    Base.isbitsunion(E) && return seldom(elements!, w, p, E, size)
    inline = Base.allocatedinline(E)
    found = inline ? runs!(Run[], E, 0) : Run[]
    has_references = inline ? E isa DataType && !isbitstype(E) && has_object(E) : has_object(E) && !is_in(above, E)
    (isempty(found) && !has_references) && return
    data, length = load!(w, "i8*", p, Emit.ARRAY.data), load!(w, "i64", p, Emit.ARRAY.length)
    for run in found
        if run.count * run.size == size
            state!(w, data, run, emit!(w, "mul i64 ", length, ", ", string(size)))
        else
            state!(w, element!(w, data, size, length, run.offset), run)
        end
    end
    has_references || return
    guarded!(w, emit!(w, "icmp ne i64 ", length, ", 0")) do
        last = element!(w, data, size, emit!(w, "sub i64 ", length, ", 1"), 0)
        inline ? references!(w, last, E, 0, above, false) : reference!(w, last, 0, E, above, false)
    end
end

"The floats among elements that are values of one of several types. Integers that other elements hold in their place are not told."
function elements!(w::Writer, p::String, @nospecialize(E), size::Int)
    F, found = Unions.float_of(E), Run[]
    F === nothing && foreach(S -> append!(found, filter(run -> run.name != "integer", runs!(Run[], S, 0))), Base.uniontypes(E))
    F === nothing && isempty(found) && return
    data, length = load!(w, "i8*", p, Emit.ARRAY.data), load!(w, "i64", p, Emit.ARRAY.length)
    F === nothing || return state!(w, data, Run(0, float_name(F), sizeof(F), 1), emit!(w, "mul i64 ", length, ", ", string(size)))
    for run in unique(found)
        state!(w, element!(w, data, size, length, run.offset), run)
    end
end

"The address in one of an array's elements."
function element!(w::Writer, data::String, size::Int, number::String, offset::Int)
    type = LLVM.texts("[", string(size), " x i8]")
    first = emit!(w, "bitcast i8* ", data, " to ", type, "*")
    emit!(w, "getelementptr ", type, ", ", type, "* ", first, ", i64 ", number, ", i64 ", string(offset))
end

"""
States, where the function begins, what its parameters point to: `contents` are the types of `Ref`s' values, `nothing` where it does not matter. The first is
the result's if there is one (`result`), and leads nowhere yet.
"""
function add!(m::LLVM.Module, f::LLVM.Value, contents::Vector{Any}, result::Bool)
    LLVM.CountParams(f) == length(contents) || error("Enzyme: internal: a function with other parameters than values")
    w = Writer(IOBuffer(), 0)
    parameters = String[]
    for n in 1:length(contents)
        T = contents[n]
        p = LLVM.texts("%p", string(n - 1))
        push!(parameters, LLVM.texts("i8* ", p))
        T === nothing && continue
        if T === Float64 || T === Float32 || is_inline(T)
            content!(w, p, T, Any[], !(result && n == 1))
        elseif has_object(T)
            seldom(reference!, w, p, 0, T, Any[], !(result && n == 1))
        end
    end
    body = String(take!(w.io))
    isempty(body) && return
    LLVM.link_text!(m, LLVM.texts(PROTOTYPES, "define void @enzyme.state(", LLVM.listed(parameters), ") alwaysinline {\n", body, "  ret void\n}\n"))
    g = LLVM.GetNamedFunction(m, "enzyme.state")
    LLVM.SetLinkage(g, LLVM.LINKAGE_INTERNAL)
    call_first!(m, f, g)
end

"Calls `g` with the parameters of `f` where `f` begins."
function call_first!(m, f, g)
    b = LLVM.CreateBuilderInContext(LLVM.GetModuleContext(m))
    LLVM.PositionBuilderBefore(b, LLVM.GetFirstInstruction(LLVM.GetEntryBasicBlock(f)))
    given = LLVM.parameters(f)
    for n in 1:length(given)
        given[n] = LLVM.BuildBitCast(b, given[n], LLVM.TypeOf(LLVM.GetParam(g, n - 1)), "")
    end
    LLVM.BuildCall(b, g, given, length(given), "")
    LLVM.DisposeBuilder(b)
end

end
