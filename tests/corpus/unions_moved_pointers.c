// `unions_moved` with the pointer as the union's first member, by whose type compilers copy it.
#define POINTER_FIRST
#define NAME "unions_moved_pointers"
#include "unions_moved.c"
