// Which results of a function depend on which of its arguments: the pattern of a sparse Jacobian, found in one run.
//
//   extern void __enzyme_sparsity(void *function, ...);          // arguments as for __enzyme_fwddiff
//
//   enzyme_sparsity_begin(n);
//   for (size_t i = 0; i < n; i++) x_names[i] = (double)(i + 1);  // what variable i depends on: itself
//   __enzyme_sparsity((void *)f, enzyme_dup, x, x_names, enzyme_dup, y, y_names);
//   struct enzyme_sparsity_pattern pattern = enzyme_sparsity_rows(y_names, m);
//   enzyme_sparsity_end();                                        // row i: columns[starts[i]] ... columns[starts[i + 1] - 1]
//   free(pattern.starts), free(pattern.columns);
//
// Shadows hold names of sets of variables instead of tangents: 0 the empty set, i + 1 that of variable i alone, and what
// enzyme_sparsity_union returns for others, which are kept as a graph of unions. An entry is in the pattern if some derivative on
// the way could be other than zero, whatever the values: the pattern may be too large, and is never too small for the way that the
// run took. Where memory for sets runs out, a result depends on all variables. The pattern of a Hessian is that of the Jacobian of
// a gradient: differentiate a function that calls __enzyme_autodiff.
//
// Time and memory are linear in the operations of the function and the entries of the pattern. One thread at a time, C11 or C++17.
#ifndef ENZYME_SPARSITY_H
#define ENZYME_SPARSITY_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// Rows of columns, each in ascending order. Without memory for it, both pointers are null.
struct enzyme_sparsity_pattern {
  size_t rows, entries;
  size_t *starts;  // rows + 1 of them
  size_t *columns; // entries of them
};

enum { ENZYME_SPARSITY_RECENT = 1 << 14 };

// Sets: 0 is empty, 1 to `variables` are single variables, `variables` + 1 is all of them, then come unions.
struct enzyme_sparsity_sets {
  size_t variables, count, capacity;
  size_t (*parts)[2];
  size_t (*recent)[3]; // unions that were asked for lately
};

#define ENZYME_SPARSITY_SHARED __attribute__((weak, used))

ENZYME_SPARSITY_SHARED struct enzyme_sparsity_sets enzyme_sparsity_state;

// Ends what was begun: names mean nothing afterwards.
ENZYME_SPARSITY_SHARED void enzyme_sparsity_end(void) {
  free(enzyme_sparsity_state.parts);
  free(enzyme_sparsity_state.recent);
  memset(&enzyme_sparsity_state, 0, sizeof enzyme_sparsity_state);
}

// Begins with so many variables.
ENZYME_SPARSITY_SHARED void enzyme_sparsity_begin(size_t variables) {
  enzyme_sparsity_end();
  enzyme_sparsity_state.variables = variables;
  enzyme_sparsity_state.recent = (size_t (*)[3])calloc(ENZYME_SPARSITY_RECENT, sizeof *enzyme_sparsity_state.recent);
}

// The name of the union of two sets, which has to be at most `largest`, since the format at hand holds no larger one.
ENZYME_SPARSITY_SHARED __attribute__((noinline)) double enzyme_sparsity_union(double one, double other, double largest) {
  struct enzyme_sparsity_sets *sets = &enzyme_sparsity_state;
  size_t a = one > 0.0 ? (size_t)one : 0, b = other > 0.0 ? (size_t)other : 0, all = sets->variables + 1, name = all;
  if (a > b) {
    size_t swapped = a;
    a = b;
    b = swapped;
  }
  if (a == b || a == 0) {
    name = b;
  } else if (a != all && b != all) {
    size_t slot = (a * 2654435761u ^ b * 40503u) % ENZYME_SPARSITY_RECENT;
    if (sets->recent && sets->recent[slot][0] == a && sets->recent[slot][1] == b) {
      name = sets->recent[slot][2];
    } else {
      if (sets->count == sets->capacity) {
        size_t more = sets->capacity ? 2 * sets->capacity : 1024;
        size_t (*grown)[2] = (size_t (*)[2])realloc(sets->parts, more * sizeof *grown);
        if (grown) {
          sets->parts = grown;
          sets->capacity = more;
        }
      }
      if (sets->count < sets->capacity) {
        sets->parts[sets->count][0] = a;
        sets->parts[sets->count][1] = b;
        name = all + ++sets->count;
        if (sets->recent) {
          sets->recent[slot][0] = a;
          sets->recent[slot][1] = b;
          sets->recent[slot][2] = name;
        }
      }
    }
  }
  if ((double)name > largest)
    name = all;
  if ((double)name > largest) {
    fprintf(stderr, "enzyme: single precision can't hold the names of %zu variables\n", sets->variables);
    abort();
  }
  return (double)name;
}

ENZYME_SPARSITY_SHARED int enzyme_sparsity_ascending(const void *one, const void *other) {
  size_t a = *(const size_t *)one, b = *(const size_t *)other;
  return (a > b) - (a < b);
}

// The pattern whose rows these sets are.
ENZYME_SPARSITY_SHARED struct enzyme_sparsity_pattern enzyme_sparsity_rows(const double *names, size_t rows) {
  const struct enzyme_sparsity_sets *sets = &enzyme_sparsity_state;
  const size_t all = sets->variables + 1, total = all + sets->count + 1;
  struct enzyme_sparsity_pattern pattern = {rows, 0, (size_t *)calloc(rows + 1, sizeof(size_t)), NULL};
  size_t capacity = rows + 16, *columns = (size_t *)malloc(capacity * sizeof *columns);
  // In which row a set was met last.
  size_t *met = (size_t *)calloc(total, sizeof *met), *work = (size_t *)malloc(total * sizeof *work);
  int good = pattern.starts && columns && met && work;
  for (size_t row = 0; good && row < rows; row++) {
    size_t first = pattern.entries, waiting = 0;
    size_t name = names[row] > 0.0 ? (size_t)names[row] : 0;
    // What is no name was left in memory by something else: nothing is known of it.
    int full = name == all || name >= total;
    if (name > 0 && name < total)
      work[waiting++] = name;
    while (waiting > 0 && !full && good) {
      size_t set = work[--waiting];
      if (set > all) {
        for (int side = 0; side < 2; side++) {
          size_t part = sets->parts[set - all - 1][side];
          full |= part == all;
          if (met[part] != row + 1) {
            met[part] = row + 1;
            work[waiting++] = part;
          }
        }
        continue;
      }
      if (pattern.entries == capacity) {
        size_t *grown = (size_t *)realloc(columns, 2 * capacity * sizeof *grown);
        good = grown != NULL;
        if (!good)
          break;
        columns = grown;
        capacity *= 2;
      }
      columns[pattern.entries++] = set - 1;
    }
    if (good && full) {
      size_t *grown = (size_t *)realloc(columns, (first + capacity + sets->variables) * sizeof *grown);
      good = grown != NULL;
      if (good) {
        columns = grown;
        capacity += first + sets->variables;
        for (size_t i = 0; i < sets->variables; i++)
          columns[first + i] = i;
        pattern.entries = first + sets->variables;
      }
    }
    if (good) {
      qsort(columns + first, pattern.entries - first, sizeof *columns, enzyme_sparsity_ascending);
      pattern.starts[row + 1] = pattern.entries;
    }
  }
  free(met);
  free(work);
  if (!good) {
    free(columns);
    free(pattern.starts);
    memset(&pattern, 0, sizeof pattern);
    return pattern;
  }
  pattern.columns = columns;
  return pattern;
}

#ifdef __cplusplus
}
#endif

#endif
