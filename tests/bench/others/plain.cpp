// The value of a kernel's template with plain numbers: main.c compares it with the kernel itself at several points.
#include "inputs.hpp"

#include BENCH_MATHEMATICS

static double value(const bench_point *point)
{
    return mathematics<double>(point->x, Inputs(point));
}

extern "C" const bench_tool bench_tool_plain = {
    .name = "plain", .value = value, .gradient = nullptr, .reused = nullptr, .tape = nullptr};
