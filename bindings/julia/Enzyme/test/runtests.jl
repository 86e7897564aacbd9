# Derivatives of Julia programs as their authors would write them, against what is known and against central differences.
#
# usage: julia runtests.jl [FILE...]: all files, or those named

using Test, LinearAlgebra, Statistics, Enzyme

const files = ["scalars", "arrays", "structures", "programs", "dynamic", "dispatched", "linear_algebra", "factorisations", "ranges", "assembled", "globals", "sugar", "errors", "catching", "modes", "nested", "everyday", "containers", "unions", "unchanged", "collector", "rules", "bitcode"]

@testset "Enzyme" begin
    @testset "$file" for file in (isempty(ARGS) ? files : ARGS)
        include(file * ".jl")
    end
end
