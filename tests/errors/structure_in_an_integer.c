// error[E0109]: a structure of a float and a count, passed in one integer of which nothing is said
struct part {
    float value;
    int count;
};

extern struct part __enzyme_autodiff(void *, struct part);

static double energy(struct part p)
{
    return p.value * p.value * p.count;
}

struct part gradient(struct part p)
{
    return __enzyme_autodiff((void *)energy, p);
}
