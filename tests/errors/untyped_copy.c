// error[E0301]: bytes are copied between active memories, and nothing says what they are
#include <string.h>

extern int enzyme_const, enzyme_dup;
extern void __enzyme_autodiff_void(void *, ...);

static void copied(void *to, const void *from, unsigned long bytes)
{
    memcpy(to, from, bytes); // refused here
}

void gradient(void *to, void *to_adjoint, void *from, void *from_adjoint, unsigned long bytes)
{
    __enzyme_autodiff_void((void *)copied, enzyme_dup, to, to_adjoint, enzyme_dup, from, from_adjoint, enzyme_const,
                           bytes);
}
