// error[E0203]: a float takes the place of a pointer in memory of the caller, where the adjoint of the one and the shadow of the other lie
extern int enzyme_dup;
extern double __enzyme_autodiff(void *, ...);

union slot {
    double *from;
    double number;
};

static double taken_over(union slot *slot)
{
    double number = *slot->from;
    slot->number = number * number;
    return slot->number * number;
}

double gradient(union slot *slot, union slot *adjoint)
{
    return __enzyme_autodiff((void *)taken_over, enzyme_dup, slot, adjoint);
}
