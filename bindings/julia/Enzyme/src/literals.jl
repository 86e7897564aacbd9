# Objects that compiled code names by their addresses: constants of the program, and places of its global variables. Their memory has no shadow, and
# a derivative must not take them for their own shadows. So the engine is shown them as variables of others (`extern`), which it refuses to put active
# data into, and to mix with memory that has a shadow. Once all is differentiated they are addresses again.
#
# Both ways go through text of the engine's LLVM, in modules that have such objects.
# What holds no floats stays an address: a shadow leads to the same text, symbol or type as what it is the shadow of.

module Literals

import ..LLVM, ..Library

const NAME = "enzyme.object."

"What the run-time system has of its own, and programs keep no numbers in."
const SYSTEM = Union{Core.MethodInstance,Core.CodeInstance,Core.TypeName,Method,Task,IO,Exception,TypeVar}

"The numbers by which a module names objects, each with whether that may hold floats. Asked before anything is folded: later a number may lie in an object."
function objects(m::LLVM.Module)
    known, seen = IdDict{Any,Any}(), IdDict{Any,Any}()
    for f in LLVM.functions(m), b in LLVM.blocks(f), i in LLVM.instructions(b)
        for n in 1:Int(LLVM.GetNumOperands(i))
            collect!(known, seen, LLVM.GetOperand(i, n - 1), false)
        end
    end
    for at in keys(known)
        known[at] = holds_floats(unsafe_pointer_to_objref(Ptr{Cvoid}(at::UInt)))
    end
    known
end

"An address, and the one that it is counted from: another of the same object may lie so near."
struct Address
    at::UInt
    from::UInt
end
const NEAR = 4096

"The addresses in a module that may be in objects with floats, or at places of global variables."
function addresses(m::LLVM.Module, known::IdDict{Any,Any})
    all, seen = IdDict{Any,Any}(), IdDict{Any,Any}()
    for f in LLVM.functions(m), b in LLVM.blocks(f), i in LLVM.instructions(b)
        op = LLVM.GetInstructionOpcode(i)
        # What a C function is given may be any number.
        of_c = op == LLVM.OP_CALL && LLVM.GetValueKind(LLVM.GetCalledValue(i)) == LLVM.VALUE_CONSTANT_EXPR
        for n in 1:(Int(LLVM.GetNumOperands(i)) - (op == LLVM.OP_CALL))
            v = LLVM.GetOperand(i, n - 1)
            of_c ? collect!(all, IdDict{Any,Any}(), v, false) : collect!(all, seen, v, true)
        end
    end
    numbers = UInt[]
    starts = sort!(UInt[at for at in keys(known)])
    for at in keys(all)
        at::UInt > NEAR && may_hold_floats(known, starts, at)::Bool && push!(numbers, at)
    end
    sort!(numbers)
    out = Address[]
    for at in numbers
        push!(out, Address(at, isempty(out) || at - out[end].at > NEAR ? at : out[end].from))
    end
    out
end

address(@nospecialize(x)) = UInt(ccall(:jl_value_ptr, Ptr{Cvoid}, (Any,), x))

"Whether at an address there may be floats: an object with such, or a place that is in none of the objects without."
function may_hold_floats(known::IdDict{Any,Any}, starts::Vector{UInt}, at::UInt)
    haskey(known, at) && return known[at]::Bool
    # There is one object for each of these, which Julia's code knows.
    (at == address(true) || at == address(false)) && return false
    n = searchsortedlast(starts, at)
    n == 0 && return true
    x = unsafe_pointer_to_objref(Ptr{Cvoid}(starts[n]))
    T = typeof(x)
    known[starts[n]]::Bool || x isa Array || fieldcount(T) == 0 || at - starts[n] >= sizeof(T)
end

"Notes the numbers in a constant that are made addresses: all, or those of objects."
function collect!(out::IdDict{Any,Any}, seen::IdDict{Any,Any}, v::LLVM.Value, all::Bool)
    kind = LLVM.GetValueKind(v)
    (!(kind in (LLVM.VALUE_CONSTANT_EXPR, LLVM.VALUE_CONSTANT_ARRAY, LLVM.VALUE_CONSTANT_STRUCT)) || haskey(seen, v)) && return
    seen[v] = true
    if kind != LLVM.VALUE_CONSTANT_EXPR
        for n in 1:Int(LLVM.GetNumOperands(v))
            collect!(out, seen, LLVM.GetOperand(v, n - 1), all)
        end
        return
    end
    op = LLVM.GetConstOpcode(v)
    first = LLVM.GetOperand(v, 0)
    if op == LLVM.OP_INTTOPTR
        all && LLVM.GetValueKind(first) == LLVM.VALUE_CONSTANT_INT && (out[UInt(LLVM.ConstIntGetZExtValue(first))] = true)
    elseif op == LLVM.OP_ADDRSPACECAST
        collect!(out, IdDict{Any,Any}(), first, true)
    else
        for n in 1:Int(LLVM.GetNumOperands(v))
            collect!(out, seen, LLVM.GetOperand(v, n - 1), all)
        end
    end
end

holds_floats(@nospecialize(x)) = !(x isa SYSTEM) && parentmodule(Literals).may_differentiate(typeof(x))::Bool

# Objects without fields, which variables and fields of one of two types may hold.
const EMPTY = "enzyme.empty."
const empties = (nothing, missing)

"The addresses of such objects among those that a module names: `nothing`, what stands for a sum of nothing yet, functions without data."
function empty_objects(known::IdDict{Any,Any})
    out = UInt[address(x) for x in empties]
    for at in keys(known)
        is_alone(typeof(unsafe_pointer_to_objref(Ptr{Cvoid}(at::UInt)))) && !(at in out) && push!(out, at)
    end
    sort!(out)
end
is_alone(@nospecialize(T)) = T isa DataType && isdefined(T, :instance)

"""
A module in which the addresses are variables of others; frees the given one. `empty`: objects without fields are constants of no bytes, so the engine knows that
what is read and written lies elsewhere.
"""
function name!(m::Ptr{Cvoid}, addresses::Vector{Address}, empty::Bool, known::IdDict{Any,Any})
    text = Library.module_text(m)
    needed, also = UInt[], ""
    for at in (empty ? empty_objects(known) : UInt[])
        written = "inttoptr (i64 $at to ptr)"
        occursin(written, text) || continue
        text = replace(text, written => "@$EMPTY$at")
        also *= "@$EMPTY$at = internal constant [0 x i8] zeroinitializer\n"
    end
    for a in addresses
        written = "inttoptr (i64 $(reinterpret(Int, a.at)) to ptr)"
        occursin(written, text) || continue
        text = replace(text, written => a.at == a.from ? "@$NAME$(a.from)" : "getelementptr (i8, ptr @$NAME$(a.from), i64 $(a.at - a.from))")
        push!(needed, a.from)
    end
    isempty(needed) && isempty(also) ? m : anew(m, text * also * join("@$NAME$at = external global i8\n" for at in unique(needed)))
end

"""
The module with addresses again, which frees the given one, and refusals: of objects that were given a shadow, since one may be taken where the other has to be.
"""
function unname!(m::Ptr{Cvoid})
    text = Library.module_text(m)
    occursin(NAME, text) || occursin(EMPTY, text) || return m, Library.Item[]
    if occursin(Regex("^@\\Q$NAME\\E[0-9]+\\.", "m"), text)
        message = "a constant or global object of the program is used where there may be memory with a derivative"
        places = used_at(text)
        isempty(places) && push!(places, ("", 0))
        return m, [Library.Item("E0304", message, "", file, line, String[], HELP) for (file, line) in places]
    end
    for name in (EMPTY, NAME)
        text = replace(text, Regex("^@\\Q$name\\E[0-9]+ = .*\$", "m") => "")
        text = replace(text, Regex("@\\Q$name\\E([0-9]+)") => s"inttoptr (i64 \1 to ptr)")
    end
    anew(m, text), Library.Item[]
end

"The user's lines at which objects stand that were given a shadow: where code was inlined, the outermost but the package's own."
function used_at(text::String)
    out, waits = Tuple{String,Int}[], false
    numbers = unique(m.captures[1] for m in eachmatch(Regex("^@\\Q$NAME\\E([0-9]+)\\.", "m"), text))
    name, place = Regex("@\\Q$NAME\\E($(join(numbers, '|')))(?![.0-9])"), r"!dbg !([0-9]+)"
    for line in split(text, '\n')
        # Where a value is chosen there is no place: that of what comes next, in the same function.
        waits = startswith(line, "  ") && (waits || occursin(name, line))
        found = waits ? match(place, line) : nothing
        found === nothing && continue
        waits = false
        chain, at = Tuple{String,Int}[], found.captures[1]
        while at !== nothing
            location = match(Regex("^!$at = (?:distinct )?!DILocation\\(line: ([0-9]+).*?scope: !([0-9]+)(?:, inlinedAt: !([0-9]+))?", "m"), text)
            location === nothing && break
            push!(chain, (file_of(text, location.captures[2]), parse(Int, location.captures[1])))
            at = location.captures[3]
        end
        isempty(chain) || push!(out, chain[max(end - 1, 1)])
    end
    unique(out)
end

function file_of(text::String, scope::AbstractString)
    number = match(Regex("^!$scope = [^\n]*?file: !([0-9]+)", "m"), text)
    file = number === nothing ? nothing : match(Regex("^!$(number.captures[1]) = [^\n]*?filename: \"([^\"]*)\"", "m"), text)
    file === nothing ? "" : String(file.captures[1])
end

function anew(m::Ptr{Cvoid}, text::String)
    made = Library.read_module(Vector{UInt8}(text))
    Library.free_module(m)
    made
end

const HELP = "pass the object as an argument (Duplicated, with a shadow of its own), or copy it inside the function"

"A refusal that names an object, in words."
function explain(item::Library.Item)
    occursin(NAME, item.message) || return item
    message = replace(item.message, Regex("(the )?(global )?(variable )?'?\\Q$NAME\\E[0-9]+'?") => "a constant or global object of the program")
    Library.Item(item.code, message, item.func, item.file, item.line, item.notes, HELP)
end

end
