// What main.c has the gradient of.
double energy(const double *x, double scale, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double power = 1.0;
        for (int k = 0; k < POWER; k++)
            power *= x[i];
        sum += scale * power;
    }
    return sum;
}
