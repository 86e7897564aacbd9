// Bodies for the functions of BLAS and LAPACK that programs call by their names in Fortran (`dgemm_`), in C
// (`cblas_dgemm`, `LAPACKE_dgesv`) and with integers of 64 bits (`dgemm_64_`, `cblas_dgemm64_`): a derivative is made
// of these. The program itself keeps its calls of the library. blas.cpp copies them into the module; the build compiles
// this file to bitcode.
//
// Reference: Dongarra, Du Croz, Hammarling, Hanson, "An extended set of Fortran basic linear algebra subprograms",
// 1988, and the LAPACK Users' Guide, 1999, for what the functions do; the files included below say how they do it.
//
// Invariants: what is not to be read (C where beta is zero, the other half of a matrix) is not read; nothing is written
// beyond what the library writes, but for work space. Pivots are those of the library, unless columns have elements of
// the same size. Arguments that the library would refuse are not looked for.
// Not handled: complex numbers; eigenvalues of matrices that are not symmetric; packed matrices and most of those in
// bands.

typedef long long whole;
typedef __SIZE_TYPE__ size;

void *malloc(size bytes);
void free(void *memory);
long write(int file, const void *text, size bytes);
_Noreturn void abort(void);
double sqrt(double);
float sqrtf(float);

#define INLINE __attribute__((always_inline)) static inline
#define SHARED __attribute__((noinline)) static
// Has no derivative: library.cpp says so of those whose names begin with `given_`.
#define GIVEN __attribute__((noinline)) static

// Ends the program where a body has no derivative for what it is asked to do.
#define REFUSE(what)                                                                                                   \
  do {                                                                                                                 \
    static const char text[] = "enzyme: [E0201] no derivative for " what "\n";                                         \
    write(2, text, sizeof text - 1);                                                                                   \
    abort();                                                                                                           \
  } while (0)

// Rows or columns that are worked through by loops.
enum { SIDE = 16 };

// What characters and numbers of cblas and LAPACKE say. A conjugate is what it is of.
INLINE _Bool is(const char *given, char small) { return (*given | 0x20) == small; }
INLINE _Bool moved(const char *transposed) { return !is(transposed, 'n'); }
enum { ROWS = 101, COLUMNS, PLAIN = 111, TRANSPOSED, UPPER = 121, LOWER, NOT_UNIT = 131, UNIT, LEFT = 141, RIGHT };

// The drivers for symmetric eigenproblems: by QR steps, by halves, by representations of parts.
enum { STEPS, DIVIDES, REPRESENTS };

// What a system of equations is solved by: L and U, whose exchanged rows change no norm of the inverse, Cholesky's
// factor in the lower half, a triangle, L and U of a band.
enum { BY_LU, BY_CHOLESKY, BY_TRIANGLE, BY_BAND };

// A vector whose stride is negative begins at its end.
#define FIRST(n, inc) ((inc) < 0 ? (1 - (n)) * (inc) : 0)

#define JOIN(a, b) a##b
#define GLUE(a, b) JOIN(a, b)

#define REAL double
#define LETTER d
#define ROOT sqrt
#define NAME(x) GLUE(GLUE(x, _f64), WIDTH)
#define INT int
#define WIDTH
#define END _
#define CEND
#include "blas.inc.h"

#include "bands.inc.h"
#include "expert.inc.h"
#include "spectra.inc.h"

#include "singular.inc.h"

#include "blas_names.h"
#undef INT
#undef WIDTH
#undef END
#undef CEND
#define INT whole
#define WIDTH _64
#define END _64_
#define CEND 64_
#include "blas.inc.h"

#include "bands.inc.h"
#include "expert.inc.h"
#include "spectra.inc.h"

#include "singular.inc.h"

#include "blas_names.h"
#undef INT
#undef WIDTH
#undef END
#undef CEND
#undef REAL
#undef LETTER
#undef ROOT
#undef NAME

#define REAL float
#define LETTER s
#define ROOT sqrtf
#define NAME(x) GLUE(GLUE(x, _f32), WIDTH)
#define INT int
#define WIDTH
#define END _
#define CEND
#include "blas.inc.h"

#include "bands.inc.h"
#include "expert.inc.h"
#include "spectra.inc.h"

#include "singular.inc.h"

#include "blas_names.h"
#undef INT
#undef WIDTH
#undef END
#undef CEND
#define INT whole
#define WIDTH _64
#define END _64_
#define CEND 64_
#include "blas.inc.h"

#include "bands.inc.h"
#include "expert.inc.h"
#include "spectra.inc.h"

#include "singular.inc.h"

#include "blas_names.h"
