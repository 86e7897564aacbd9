// error[E0113]: of memory with tangents only those are given, and a pointer in it leads nowhere
extern int enzyme_dup, enzyme_tape;
extern void __enzyme_fwdsplit(void *, ...);

struct state {
    double *x, *y;
};

static void squares(struct state *s)
{
    for (int i = 0; i < 4; i++)
        s->y[i] = s->x[i] * s->x[i];
}

void tangents(struct state *s, struct state *ds, void *tape)
{
    __enzyme_fwdsplit((void *)squares, enzyme_tape, tape, enzyme_dup, s, ds); // refused here
}
