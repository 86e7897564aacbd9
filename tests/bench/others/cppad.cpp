// Gradients by CppAD, which records operations on its scalar `AD<double>` and goes back over the record.
// Source: Bell, "CppAD: a package for C++ algorithmic differentiation", COIN-OR.
#include "inputs.hpp"

#include <cppad/cppad.hpp>

#include BENCH_MATHEMATICS

namespace {

using Scalar = CppAD::AD<double>;
using Numbers = std::vector<double>;

size_t tape_bytes = 0;

void record(CppAD::ADFun<double> &function, const bench_point *point)
{
    // Memory stays with CppAD, as what is freed stays with malloc here.
    CppAD::thread_alloc::hold_memory(true);
    std::vector<Scalar> x(point->x, point->x + point->count), y(1);
    CppAD::Independent(x);
    y[0] = mathematics<Scalar>(x.data(), Inputs(point));
    function.Dependent(x, y);
}

void derive(CppAD::ADFun<double> &function, const bench_point *point, double *g)
{
    function.Forward(0, Numbers(point->x, point->x + point->count));
    Numbers result = function.Reverse(1, Numbers{1.0});
    std::copy(result.begin(), result.end(), g);
}

void gradient(bench_point *point, double *g)
{
    CppAD::ADFun<double> function;
    record(function, point);
    derive(function, point, g);
    // The record itself, and for each variable its value and its adjoint.
    tape_bytes = function.size_op_seq() + 2 * sizeof(double) * function.size_var();
}

// Its optimiser has gone over the record.
void reused(bench_point *point, double *g)
{
    static CppAD::ADFun<double> function;
    if (function.Domain() == 0) {
        record(function, point);
        function.optimize();
    }
    derive(function, point, g);
}

size_t tape()
{
    return tape_bytes;
}

} // namespace

extern "C" const bench_tool bench_tool_cppad = {
    .name = "cppad", .value = nullptr, .gradient = gradient, .reused = reused, .tape = tape};
