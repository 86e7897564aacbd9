"""
Derivatives of Julia functions, made from the code that Julia's compiler makes of them.

    autodiff(Reverse, x -> x * sin(x), Active, Active(1.0))     # ((1.38177...,),)

Names, annotations and what is returned are those of Enzyme.jl; docs/julia.md says what works.
"""
module Enzyme

# Julia compiles the package itself while the first derivative of a process is awaited: quickly, then, rather than well.
Base.Experimental.@optlevel 0

"""
Calls what is seldom needed. Julia's compiler, which compiles all that a function may call together with it, does not follow.
"""
seldom(@nospecialize(f), @nospecialize(arguments...)) = Base.invokelatest(f, arguments...)

export autodiff, autodiff_deferred, autodiff_thunk, gradient, gradient!, jacobian, hvp, hvp!, hvp_and_gradient!, onehot, chunkedonehot, make_zero, make_zero!, remake_zero!
export autodiff_deferred_thunk, tape_type, within_autodiff, ignore_derivatives
export Forward, ForwardWithPrimal, Reverse, ReverseWithPrimal, ReverseSplitNoPrimal, ReverseSplitWithPrimal, ReverseSplitWidth
export ReverseSplitModified, ReverseHolomorphic, ReverseHolomorphicWithPrimal
export ForwardMode, ReverseMode, set_runtime_activity, clear_runtime_activity, set_strong_zero, clear_strong_zero, set_abi, set_err_if_func_written, clear_err_if_func_written, WithPrimal, NoPrimal
export Annotation, Const, Active, Duplicated, DuplicatedNoNeed, BatchDuplicated, BatchDuplicatedNoNeed, MixedDuplicated, BatchMixedDuplicated, BatchDuplicatedFunc
export test_forward, test_reverse, EnzymeRules

include("types.jl")
include("llvm.jl")
include(VERSION < v"1.6-" ? "emit_1_5.jl" : VERSION < v"1.12-" ? "emit_1_10.jl" : "emit_1_12.jl")
include("library.jl")
include("errors.jl")
include("bitcode.jl")
include("unions.jl")
include("normalise.jl")
include("models.jl")
import .Models: within_autodiff, ignore_derivatives
include("statements.jl")
include("enzyme_rules.jl")
include("catching.jl")
include("literals.jl")
include("unrolled.jl")
include("dynamic.jl")
include("nested.jl")
include("thunk.jl")
include("tags.jl")
include("others.jl")
include("collector.jl")
include("autodiff.jl")
include("rules.jl")
include("split.jl")
include("holomorphic.jl")
include("zero.jl")
include("sugar.jl")
include("test_utils.jl")
include("precompile.jl")

function __init__()
    session[] = time_ns()
    nothing
end

end
