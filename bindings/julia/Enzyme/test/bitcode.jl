# C functions whose bitcode is given.

const clang = something(Sys.which("clang-22"), Sys.which("clang"), "")

const kernels = """
    #include <math.h>
    static double twice(double x) { return 2 * x; }
    double k_norm(const double *x, long n) { double s = 0; for (long i = 0; i < n; i++) s += x[i] * x[i]; return sqrt(s); }
    double k_scalar(double x, float y) { return twice(x) * y; }
    void k_scale(double *y, const double *x, int n, double a) { for (int i = 0; i < n; i++) y[i] = a * x[i] * x[i]; }
    const double *k_largest(const double *x, long n) { const double *m = x; for (long i = 1; i < n; i++) if (x[i] > *m) m = x + i; return m; }
    """

if isempty(clang)
    @warn "the tests of bitcode are skipped: there is no clang-22"
else
    folder = mktempdir()
    source, library = joinpath(folder, "k.c"), joinpath(folder, "libk.so")
    write(source, kernels)
    run(`$clang -O1 -shared -fPIC -o $library $source -lm`)
    run(`$clang -O1 -emit-llvm -c -o $folder/k.bc $source`)
    @eval norm_in_c(x) = ccall((:k_norm, $library), Float64, (Ptr{Float64}, Clong), x, length(x))
    @eval scalar_in_c(x, y) = ccall((:k_scalar, $library), Float64, (Float64, Float32), x, y)
    @eval scale_in_c!(y, x, a) = (ccall((:k_scale, $library), Cvoid, (Ptr{Float64}, Ptr{Float64}, Cint, Float64), y, x, length(x), a); nothing)
    @eval largest_in_c(x) = unsafe_load(ccall((:k_largest, $library), Ptr{Float64}, (Ptr{Float64}, Clong), x, length(x)))^2

    @testset "bitcode" begin
        @test norm_in_c([3.0, 4.0]) == 5.0
        @test_throws Enzyme.EnzymeError gradient(Reverse, norm_in_c, [3.0, 4.0])
        @test_throws ArgumentError Enzyme.register_bitcode(library, source)
        Enzyme.register_bitcode(library, joinpath(folder, "k.bc"))
        @test Base.invokelatest(gradient, Reverse, norm_in_c, [3.0, 4.0])[1] ≈ [0.6, 0.8]
        @test test_reverse(norm_in_c, Active, ([3.0, 4.0], Duplicated))
        @test test_forward(norm_in_c, Duplicated, ([3.0, 4.0], Duplicated))
        @test autodiff(Reverse, scalar_in_c, Active, Active(3.0), Active(0.5f0)) == ((1.0, 6.0f0),)
        @test test_reverse(scale_in_c!, Const, (zeros(3), Duplicated), ([1.0, 2.0, 3.0], Duplicated), (0.7, Active))
        @test test_forward(scale_in_c!, Const, (zeros(3), Duplicated), ([1.0, 2.0, 3.0], Duplicated), (0.7, Duplicated))
        @test test_reverse(x -> sin(norm_in_c(x .* x)) + norm_in_c(x), Active, ([0.3, 0.4], Duplicated))
        @test gradient(Reverse, largest_in_c, [1.0, 3.0, 2.0]) == ([0.0, 6.0, 0.0],)
    end
end
