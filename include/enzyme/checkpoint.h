// Loops over time as calls, with a function for a step, of which a derivative keeps some states and repeats the steps between them.
//
//   __enzyme_checkpoint_for((void *)step, start, n, args...);      // for (i = start; i < start + n; i++) step(i, args...);
//   __enzyme_checkpoint_while((void *)step, args...);              // i = 0; while (step(i++, args...));
//
// `step` takes an int64_t first, or its address (as Fortran passes it). Before the arguments there may be a schedule,
// `enzyme_scheme, &EnzymeCkptRevolve, &config`, and memory, `enzyme_checkpoint_region, address, (int64_t)bytes`. What a state is the
// compiler finds out; it keeps 32 of them, or all with EnzymeCkptStoreAll. Other numbers of states: `__enzyme_checkpoint(n)` in an
// ordinary loop, or a limit in bytes, -enzyme-max-tape; see docs/checkpointing.md.
//
// The names of schedules and of their settings stand here so that programs that have them compile: functions of a schedule of the
// program's own are not called, nothing goes to files, and no statistics are written. C11 and C++17.
#ifndef ENZYME_CHECKPOINT_H
#define ENZYME_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENZYME_CKPT_ABI_VERSION 1

// A schedule, by name.
typedef struct EnzymeCheckpointScheme {
    uint32_t version;
} EnzymeCheckpointScheme;

// What a schedule did: zeros here.
typedef struct EnzymeCkptStats {
    int64_t forward_steps;
    int64_t taped_steps;
    int64_t stores;
    int64_t restores;
    int64_t max_slots;
    uint64_t max_bytes;
} EnzymeCkptStats;

// Settings of a schedule: read by nobody here.
typedef struct EnzymeCkptConfig {
    int64_t snapshots;
    int verbose;
    const char *spill_dir;
    uint64_t mem_budget; // bytes
    EnzymeCkptStats *stats;
} EnzymeCkptConfig;

__attribute__((weak, visibility("hidden"))) extern const EnzymeCheckpointScheme EnzymeCkptRevolve;
__attribute__((weak, visibility("hidden"))) extern const EnzymeCheckpointScheme EnzymeCkptBinomial;
__attribute__((weak, visibility("hidden"))) extern const EnzymeCheckpointScheme EnzymeCkptPeriodic;
__attribute__((weak, visibility("hidden"))) extern const EnzymeCheckpointScheme EnzymeCkptStoreAll;
const EnzymeCheckpointScheme EnzymeCkptRevolve = {ENZYME_CKPT_ABI_VERSION};
const EnzymeCheckpointScheme EnzymeCkptBinomial = {ENZYME_CKPT_ABI_VERSION};
const EnzymeCheckpointScheme EnzymeCkptPeriodic = {ENZYME_CKPT_ABI_VERSION};
const EnzymeCheckpointScheme EnzymeCkptStoreAll = {ENZYME_CKPT_ABI_VERSION};

extern int enzyme_scheme;
extern int enzyme_checkpoint_region;

void __enzyme_checkpoint_for(void *step, int64_t start, int64_t n, ...);
void __enzyme_checkpoint_while(void *step, ...);

#ifdef __cplusplus
}
#endif

#endif
