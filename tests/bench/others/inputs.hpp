// What the templates of this folder are written against, and what a tool that differentiates them offers to main.c.
//
// A file NAME.hpp has the mathematics of the kernel NAME.c once, as a function of any scalar type:
//
//   template <class T> T mathematics(const T *x, const Inputs &in);
//
// adolc.cpp and cppad.cpp take its gradient with their own scalars, plain.cpp only its value, to be compared with the kernel's;
// `-DBENCH_MATHEMATICS="NAME.hpp"` says which is meant. Operations are those of the kernel in its order, so that all results
// agree to rounding. What is constant comes from the kernel's own memory.
#ifndef BENCH_OTHERS_INPUTS_HPP
#define BENCH_OTHERS_INPUTS_HPP

#include <cmath>
#include <vector>

#include "../bench.h"

class Inputs {
public:
    int size;

    explicit Inputs(const bench_point *point) : size(point->size)
    {
        if (bench_kernel_ours.inputs)
            bench_kernel_ours.inputs(point, inputs);
    }

    const double *reals(const char *name) const
    {
        return find(name).reals;
    }

    const int *integers(const char *name) const
    {
        return find(name).integers;
    }

    double real(const char *name) const
    {
        return *reals(name);
    }

    int integer(const char *name) const
    {
        return *integers(name);
    }

private:
    bench_input inputs[BENCH_INPUTS] = {};

    const bench_input &find(const char *name) const
    {
        for (const bench_input &input : inputs)
            if (input.name && strcmp(input.name, name) == 0)
                return input;
        printf("no input %s\n", name);
        exit(2);
    }
};

#endif
