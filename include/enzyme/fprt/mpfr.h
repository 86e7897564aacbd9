// Programs with narrower formats include this in one source, where the reference has its run-time library on MPFR. Here operations are
// rounded where they stand, so there is nothing to define.
#ifndef ENZYME_FPRT_MPFR_H
#define ENZYME_FPRT_MPFR_H

#include "fprt.h"

#endif
