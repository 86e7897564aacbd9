# `try` with `catch` or `finally` in what is differentiated. An exception leaves a block in its middle, by a way that LLVM's control flow does not show:
# what was done of the block has no place in a derivative, neither backward nor, for variables that `catch` sees, forward. So functions that
# catch are run as they are where nothing active depends on them, and are refused elsewhere.

module Catching

import ..LLVM, ..Library

"A function that catches, and where it does."
struct Place
    symbol::String
    file::String
    line::Int
end

"The functions of the module that catch; from now on nothing inlines them."
function places!(m::LLVM.Module)
    c = LLVM.GetModuleContext(m)
    enter = LLVM.GetNamedFunction(m, "julia.except_enter")
    LLVM.mark(enter, c, "enzyme_inactive")
    out = Place[]
    for f in LLVM.functions(m), b in LLVM.blocks(f), i in LLVM.instructions(b)
        LLVM.GetInstructionOpcode(i) == LLVM.OP_CALL && LLVM.GetCalledValue(i) == enter || continue
        LLVM.unmark_enum(f, "alwaysinline")
        LLVM.mark_enum(f, c, "noinline")
        push!(out, Place(LLVM.name(f), LLVM.location(i)...))
    end
    out
end

"Places that were differentiated, as reasons of a refusal: the engine's copies of functions have names of their own."
function differentiated(derived::Ptr{Cvoid}, places)
    own, found, at = Set(p.symbol for p in places), Place[], ""
    for line in split(Library.module_text(derived), '\n')
        if startswith(line, "define ")
            at = name_of(line)
        elseif occursin("@julia.except_enter(", line) && !startswith(line, "declare") && !(at in own)
            append!(found, filter(p -> occursin(p.symbol, at), places))
        end
    end
    [Library.Item("", "exceptions are caught here (try), in code that the derivative depends on", p.symbol, p.file, p.line, String[],
        "move what can fail out of the function, ask before (isfinite, haskey, checkbounds), or give the function a rule (EnzymeRules)") for p in unique(found)]
end

name_of(line) = (m = match(r"@\"?([^\"(]+)", line); m === nothing ? "" : String(m.captures[1]))

end
