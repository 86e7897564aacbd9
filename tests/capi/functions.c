// What tests/capi/interface.c differentiates; compiled to bitcode, with its lines.
double unknown(double x);

double energy(double a, const double *x, double *work, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        work[i] = a * x[i] * x[i];
    for (int i = 0; i + 1 < n; i++)
        sum += work[i] * work[i + 1] + a;
    return sum;
}

float small(float x, float y) { return x * x * y; }

void scale(double *x, double factor, int n)
{
    for (int i = 0; i < n; i++)
        x[i] *= factor;
}

double stuck(double x)
{
    return unknown(x) * x;
}

struct pair {
    double a, b, c;
};

double of_pair(struct pair p) { return p.a * p.b * p.c; }

double many(int n, ...) { return n; }
