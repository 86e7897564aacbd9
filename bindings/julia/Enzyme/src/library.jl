# The C interface of libEnzyme-22 (see <enzyme/enzyme.h>): modules as bytes in, code out, errors as exceptions.
#
# The library is ENZYME_LIBRARY if that is set, else the one of the tree that this package lies in (build/lib, or lib of an
# installation), else what the system's search finds. It brings an LLVM of its own; only bytes and addresses pass between that and Julia's.

module Library

using Libdl
import ..seldom

"What the engine refuses, and why."
struct Item
    code::String
    message::String
    func::String
    file::String
    line::Int
    notes::Vector{String}
    help::String
end

const ABI_VERSION = UInt32(1)
const handle = Ref{Ptr{Cvoid}}(C_NULL)
const context = Ref{Ptr{Cvoid}}(C_NULL)
const names = ("libEnzyme-22.so", "libEnzyme-22.dylib")

function candidates()
    named = get(ENV, "ENZYME_LIBRARY", "")
    isempty(named) || return [isdir(named) ? joinpath(named, names[1]) : named]
    out = String[]
    # <tree>/bindings/julia/Enzyme/src and <prefix>/share/enzyme/julia/Enzyme/src
    for up in (joinpath(@__DIR__, "..", "..", "..", "..", "build", "lib"), joinpath(@__DIR__, "..", "..", "..", "..", "..", "lib"))
        for n in names
            place = normpath(joinpath(up, n))
            isfile(place) && push!(out, place)
        end
    end
    for n in names
        push!(out, n)
    end
    out
end

function load()
    handle[] != C_NULL && return
    places = candidates()
    for place in places
        found = Libdl.dlopen(place, Libdl.RTLD_LAZY | Libdl.RTLD_LOCAL; throw_error = false)
        found === nothing && continue
        handle[] = found
        break
    end
    handle[] == C_NULL && seldom(not_there, places)
    error_place = Ref{Ptr{Cvoid}}(C_NULL)
    status = ccall(entry(:enzyme_context_new), Cint, (UInt32, Ref{Ptr{Cvoid}}, Ref{Ptr{Cvoid}}), ABI_VERSION, context, error_place)
    status == 0 || throw_error(error_place[])
end

not_there(places) = error("Enzyme: none of $(join(places, ", ")) can be loaded: ",
    "run `make` in the tree of this package, or set ENZYME_LIBRARY to the path of libEnzyme-22.so")

entry(name::Symbol) = Libdl.dlsym(handle[], name)

text(name::Symbol, error::Ptr{Cvoid}, at::Int) = unsafe_string(ccall(entry(name), Cstring, (Ptr{Cvoid}, Csize_t), error, at))

"What an error holds; frees it."
function take(error::Ptr{Cvoid})
    count = ccall(entry(:enzyme_error_count), Csize_t, (Ptr{Cvoid},), error)
    items = map(0:(Int(count) - 1)) do at
        notes = ccall(entry(:enzyme_error_note_count), Csize_t, (Ptr{Cvoid}, Csize_t), error, at)
        Item(text(:enzyme_error_code, error, at), text(:enzyme_error_message, error, at), text(:enzyme_error_function, error, at),
            text(:enzyme_error_file, error, at), Int(ccall(entry(:enzyme_error_line), Cuint, (Ptr{Cvoid}, Csize_t), error, at)),
            [unsafe_string(ccall(entry(:enzyme_error_note), Cstring, (Ptr{Cvoid}, Csize_t, Csize_t), error, at, n)) for n in 0:(Int(notes) - 1)],
            text(:enzyme_error_help, error, at))
    end
    ccall(entry(:enzyme_error_free), Cvoid, (Ptr{Cvoid},), error)
    items
end

struct Refusal <: Exception
    items::Vector{Item}
end

throw_error(error::Ptr{Cvoid}) = seldom(throw_refusal, error)
throw_refusal(error::Ptr{Cvoid}) = throw(Refusal(take(error)))

check(status::Cint, error::Ref{Ptr{Cvoid}}) = status == 0 || throw_error(error[])

"A module from its bytes, as bitcode or text."
function read_module(bytes::Vector{UInt8})
    place, error = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall(entry(:enzyme_module_read), Cint, (Ptr{Cvoid}, Ptr{UInt8}, Csize_t, Ref{Ptr{Cvoid}}, Ref{Ptr{Cvoid}}),
        context[], bytes, length(bytes), place, error), error)
    place[]
end

free_module(m::Ptr{Cvoid}) = ccall(entry(:enzyme_module_free), Cvoid, (Ptr{Cvoid},), m)

function module_text(m::Ptr{Cvoid})
    size, error = Ref{Csize_t}(0), Ref{Ptr{Cvoid}}(C_NULL)
    get(p, n) = check(ccall(entry(:enzyme_module_text), Cint, (Ptr{Cvoid}, Ptr{UInt8}, Csize_t, Ref{Csize_t}, Ref{Ptr{Cvoid}}), m, p, n, size, error), error)
    get(C_NULL, 0)
    bytes = Vector{UInt8}(undef, size[])
    get(bytes, length(bytes))
    String(bytes)
end

"A copy of the module in which all marker calls are derivatives."
function replace_markers(m::Ptr{Cvoid})
    place, error = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall(entry(:enzyme_replace_markers), Cint, (Ptr{Cvoid}, Ptr{Cvoid}, Ref{Ptr{Cvoid}}, Ref{Ptr{Cvoid}}),
        context[], m, place, error), error)
    place[]
end

"Adds definitions, given as text or bitcode, to a module."
function link(m::Ptr{Cvoid}, source::Union{String,Vector{UInt8}})
    error = Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall(entry(:enzyme_module_link), Cint, (Ptr{Cvoid}, Ptr{UInt8}, Csize_t, Ref{Ptr{Cvoid}}), m, source, sizeof(source), error), error)
end

"What Julia was started with: -O0 and -O1 ask for little compilation."
function level()
    given = Base.JLOptions().opt_level
    UInt32(given < 2 ? given : 3)
end

"Native code of a module: the addresses of some of its functions. The code lives as long as the process."
function compile(m::Ptr{Cvoid}, names::Vector{String})
    code, address, error = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall(entry(:enzyme_compile), Cint, (Ptr{Cvoid}, UInt32, Ref{Ptr{Cvoid}}, Ref{Ptr{Cvoid}}), m, level(), code, error), error)
    out = Ptr{Cvoid}[]
    for name in names
        check(ccall(entry(:enzyme_code_address), Cint, (Ptr{Cvoid}, Cstring, Ref{Ptr{Cvoid}}, Ref{Ptr{Cvoid}}), code[], name, address, error), error)
        push!(out, address[])
    end
    out
end

end
