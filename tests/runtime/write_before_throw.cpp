// aborts[E0204]: a callee writes active memory, throws, and the exception is caught in the function that is differentiated
template <typename R, typename... T> R __enzyme_autodiff(T...);

// Recursive, so that no level inlines it.
static void update(double *y, int n)
{
    if (n == 0)
        return;
    y[n - 1] *= y[n - 1];
    if (y[n - 1] > 1.0)
        throw n;
    update(y, n - 1);
    y[0] += y[n - 1];
}

static double caught(double *x, int n)
{
    try {
        update(x, n);
        return x[0];
    } catch (int i) {
        return x[1] + i;
    }
}

int main()
{
    double x[] = {0.5, 1.5, 0.25}, g[] = {0.0, 0.0, 0.0};
    __enzyme_autodiff<void>((void *)caught, x, g, 3);
    return 0;
}
