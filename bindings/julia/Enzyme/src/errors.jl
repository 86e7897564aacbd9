# What goes wrong, as exceptions in the user's words.

"There is no derivative: what the engine says of each reason, with its code, place and help."
struct EnzymeError <: Exception
    what::String
    items::Vector{Library.Item}
end

function Base.showerror(io::IO, e::EnzymeError)
    print(io, "EnzymeError: ", e.what)
    items = unique(i -> (i.code, shorter(i.message), i.file, i.line), e.items)
    for i in items[1:min(end, 4)]
        print(io, "\n  ")
        isempty(i.code) || print(io, "[", i.code, "] ")
        print(io, shorter(replace(i.message, "\n" => "\n  ")))
        isempty(i.file) || print(io, "\n    at ", i.file, i.line > 0 ? ":$(i.line)" : "", isempty(i.func) ? "" : " in $(i.func)")
        for note in i.notes
            print(io, "\n    note: ", shorter(note))
        end
        isempty(i.help) || print(io, "\n    help: ", i.help)
    end
    length(items) > 4 && print(io, "\n  and $(length(items) - 4) more of this kind")
end

"A place in code that was inlined many times: where it stands, and where the user's code is."
function shorter(text::String)
    text = replace(text, ":0 (inlined" => " (inlined")
    text = replace(text, r":0\)+" => ")")
    parts = split(text, " (inlined at ")
    # The last place is in this package.
    length(parts) < 4 ? text : parts[1] * " (inlined at ... " * rstrip(parts[end-1], [')', ' ']) * ")"
end

refuse(what::String) = throw(EnzymeError(what, Library.Item[]))
refuse(asked, why::String) = refuse(words(asked) * ": " * why)
refuse(asked, items::Vector{Library.Item}) = throw(EnzymeError(words(asked), items))
