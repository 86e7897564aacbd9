// Gradients by ADOL-C, which records operations on its scalar `adouble` and goes back over the record.
// Source: Walther, Griewank, "Getting started with ADOL-C", in: Combinatorial Scientific Computing (2012).
#include "inputs.hpp"

#include <adolc/adolc.h>

#include BENCH_MATHEMATICS

namespace {

enum Tag : short { ANEW = 1, KEPT = 2 };

// Entries of the buffers for operations, their places, constants and values that are overwritten: enough for every kernel, since
// what does not fit goes to files, and less than what malloc gives back to the system.
constexpr unsigned OPERATIONS = 1u << 26, PLACES = 1u << 27, CONSTANTS = 1u << 25, VALUES = 1u << 26;

void record(Tag tag, const bench_point *point)
{
    double value;
    trace_on(tag, 1, OPERATIONS, PLACES, CONSTANTS, VALUES, 0);
    {
        std::vector<adouble> x(point->count);
        for (size_t i = 0; i < point->count; i++)
            x[i] <<= point->x[i];
        adouble result = mathematics<adouble>(x.data(), Inputs(point));
        result >>= value;
    }
    trace_off();
}

// The values that the reverse sweep needs were kept by the recording itself, or by the forward sweep.
void reverse(Tag tag, const bench_point *point, double *g)
{
    double seed = 1.0;
    fos_reverse(tag, 1, (int)point->count, &seed, g);
}

void gradient(bench_point *point, double *g)
{
    record(ANEW, point);
    reverse(ANEW, point, g);
}

void reused(bench_point *point, double *g)
{
    static bool is_recorded = false;
    if (!is_recorded)
        record(KEPT, point);
    is_recorded = true;
    double value;
    zos_forward(KEPT, 1, (int)point->count, 1, point->x, &value);
    reverse(KEPT, point, g);
}

size_t tape()
{
    size_t counts[STAT_SIZE];
    tapestats(ANEW, counts);
    return counts[NUM_OPERATIONS] + sizeof(locint) * counts[NUM_LOCATIONS] +
           sizeof(double) * (counts[NUM_VALUES] + counts[TAY_STACK_SIZE]);
}

} // namespace

extern "C" const bench_tool bench_tool_adolc = {
    .name = "adolc", .value = nullptr, .gradient = gradient, .reused = reused, .tape = tape};
