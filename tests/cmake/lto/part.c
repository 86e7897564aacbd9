// The part in C: half the sum of squares.
double half_square(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum / 2;
}
