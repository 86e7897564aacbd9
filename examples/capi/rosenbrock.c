// Rosenbrock's function of n variables.
double rosenbrock(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n - 1; i++)
        sum += 100.0 * (x[i + 1] - x[i] * x[i]) * (x[i + 1] - x[i] * x[i]) + (1.0 - x[i]) * (1.0 - x[i]);
    return sum;
}
