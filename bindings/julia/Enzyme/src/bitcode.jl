# C functions whose bitcode is given: derivatives go through a `ccall` of them as through Julia's own code.
#
# The bitcode is of the engine's LLVM, which Julia's can't read: it is linked by the engine's library, in the place of the shared library's
# machine code. Of its global variables derivatives have their own.

module Bitcode

import ..Library

"Bitcode, and for each function in it which parameters are pointers and whether the result is one."
struct Given
    bytes::Vector{UInt8}
    functions::Dict{String,Tuple{Vector{Bool},Bool}}
end

const given = Dict{String,Given}()
"The name of a shared library without folder and version."
stem(library) = String(first(split(basename(library), ".")))

function register(library::AbstractString, path::AbstractString)
    bytes = read(path)
    Library.load()
    text = try
        m = Library.read_module(bytes)
        t = Library.module_text(m)
        Library.free_module(m)
        t
    catch e
        e isa Library.Refusal || rethrow()
        throw(ArgumentError("register_bitcode: $path: $(join((i.message for i in e.items), "; "))"))
    end
    functions = Dict{String,Tuple{Vector{Bool},Bool}}()
    for line in split(text, '\n')
        m = match(r"^define (.*?)@\"?([^\"(]+)\"?\((.*)$", line)
        (m === nothing || occursin(r"\b(internal|private)\b", m.captures[1])) && continue
        functions[m.captures[2]] = (map(is_pointer, parameters(m.captures[3])), occursin(r"\bptr *$", m.captures[1]))
    end
    isempty(functions) && throw(ArgumentError("register_bitcode: $path defines no functions"))
    given[stem(library)] = Given(bytes, functions)
end

is_pointer(parameter) = startswith(lstrip(parameter), r"ptr\b") && !occursin("byval", parameter)

"What stands between commas, up to the parenthesis that closes."
function parameters(text)
    out, depth, start = SubString{String}[], 0, 1
    for (n, c) in pairs(text)
        depth += c in ('(', '{', '<', '[') ? 1 : c in (')', '}', '>', ']') ? -1 : 0
        if depth < 0 || depth == 0 && c == ','
            start < n && push!(out, SubString(text, start, prevind(text, n)))
            start = nextind(text, n)
        end
        depth < 0 && break
    end
    out
end

"What was given for a function of a shared library, or nothing."
function of(library, name)
    found = get(given, stem(library), nothing)
    found !== nothing && haskey(found.functions, name) ? found : nothing
end

end

"""
    Enzyme.register_bitcode("libk.so", "k.bc")

Functions of the shared library that Julia calls by `ccall` are differentiated through: the file holds their bitcode, as `clang-22 -O2 -emit-llvm -c` writes it.
"""
function register_bitcode(library::AbstractString, path::AbstractString)
    Bitcode.register(library, path)
    session[] += 1 # What was compiled was compiled without.
    nothing
end
