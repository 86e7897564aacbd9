// Derivatives of dense matrix products that other people's libraries compute: rules in C, which products.cpp copies
// into the module, once for each kernel of a library that is called there. The build compiles this file to bitcode.
//
// A product is C = alpha A B + beta C; A has m rows and k columns, B has n columns; element (i, j) of A lies at
// a[i * rsa + j * csa], and so on. Elements of C are different places, and none of A or B. With a bar for adjoints and
// a dash for tangents (Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation", 2008):
//
//   C' = alpha (A' B + A B') + alpha' A B + beta C' + beta' C
//   Abar += alpha Cbar B^T, Bbar += alpha A^T Cbar, alphabar = <Cbar B^T, A>, betabar = <Cbar, C before>, Cbar *= beta
//
// These are products, so the rules call `multiply`, the function that they are rules of: a rule is differentiated as
// other code is. What computes it is the library's kernel, where that takes operands that lie in memory as they do;
// else they are copied first, which costs O(n^2) of O(n^3); products with vectors and small ones are loops.
//
// Invariants: shadows that are null are of memory that is constant. Adjoints are added, also where an operand's
// elements share places (a stride of 0, windows that overlap): then one after the other. Where beta is 0, C and its
// tangent are not read. Products of which half is wanted (`part`) have no rule: they are made of such that have.
// Not handled: complex numbers; operands of two types.

typedef long long whole;

void *malloc(unsigned long size);
void free(void *memory);

// What the adapter around a rule knows: operands that the reverse rule can't read where they are, floats with a
// derivative, and what the program asks of sums and zeros.
enum { KEEP_A = 1, KEEP_B = 2, ACTIVE_ALPHA = 4, ACTIVE_BETA = 8, STRONG_ZERO = 16, ATOMIC = 32 };

// How a kernel takes its operands: columns lie side by side, unless rows do; C and vectors have a stride of 1, unless
// they may have others; B is a vector.
enum { ROWS_OF_A = 1, ROWS_OF_B = 2, STRIDED_B = 4, STRIDED_C = 8, VECTOR = 16 };

// Which factor of a product is a derivative.
enum { LEFT = 1, RIGHT = 2 };

// Products of fewer multiplications than this are not worth copies.
enum { SMALL = 512 };

#define INLINE __attribute__((always_inline)) static inline

INLINE whole magnitude(whole stride) { return stride < 0 ? -stride : stride; }

// Whether no two elements share a place.
INLINE _Bool apart(whole rows, whole columns, whole rs, whole cs) {
  rs = magnitude(rs);
  cs = magnitude(cs);
  if (rows <= 1)
    return columns <= 1 || cs > 0;
  if (columns <= 1)
    return rs > 0;
  return (rs > 0 && cs / rs >= rows) || (cs > 0 && rs / cs >= columns);
}

// Copies keep the order of what they are made of.
INLINE whole kept_rs(whole columns, whole cs) { return cs == 1 ? columns : 1; }
INLINE whole kept_cs(whole rows, whole cs) { return cs == 1 ? 1 : rows; }

INLINE void *some_memory(whole bytes) {
  void *memory = malloc((unsigned long)bytes);
  if (!memory)
    __builtin_trap();
  return memory;
}

#define REAL double
#define NAME(x) x##_f64
#include "products.inc.h"
#undef REAL
#undef NAME

#define REAL float
#define NAME(x) x##_f32
#include "products.inc.h"
