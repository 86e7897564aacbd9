// Storage of vectors (store.c).
#ifndef STORE_H
#define STORE_H

// Whether vectors are kept in a format that has no derivative.
extern int store_scrambled;

double *store_copy(const double *x, int n);

#endif
