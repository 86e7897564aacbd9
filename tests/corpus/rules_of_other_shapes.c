// Rules whose arguments and results travel in every way: a tape that is a number, adjoints in memory and in a vector register, memory behind
// pointers in a structure, on the stack and on the heap, and where nobody can tell it from constant memory before the program runs. A cubature whose weights are filled in by a library.
#include "corpus.h"

enum { N = 4 };

static double point[N];

__attribute__((noinline)) static double cube(double x)
{
    return x * x * x;
}

struct kept {
    double square, value;
};

static struct kept cube_augmented(double x)
{
    struct kept both = {x * x, cube(x)};
    return both;
}

static double cube_reverse(double x, double seed, double square)
{
    (void)x;
    return 3.0 * square * seed;
}

static struct kept cube_forward(double x, double dx)
{
    struct kept both = {cube(x), 3.0 * x * x * dx};
    return both;
}

void *__enzyme_register_gradient_cube[] = {(void *)cube, (void *)cube_augmented, (void *)cube_reverse};
void *__enzyme_register_derivative_cube[] = {(void *)cube, (void *)cube_forward};

struct weights {
    double *data;
    int n;
    double scale;
};

__attribute__((noinline)) static void fill(const double *x, struct weights *w)
{
    for (int i = 0; i < w->n; i++)
        w->data[i] = w->scale * x[i] * x[i];
}

static void fill_augmented(const double *x, double *dx, struct weights *w, struct weights *dw)
{
    (void)dx, (void)dw;
    fill(x, w);
}

static void fill_reverse(const double *x, double *dx, struct weights *w, struct weights *dw)
{
    for (int i = 0; i < w->n; i++) {
        dx[i] += 2.0 * w->scale * x[i] * dw->data[i];
        dw->scale += x[i] * x[i] * dw->data[i];
        dw->data[i] = 0.0;
    }
}

static void fill_forward(const double *x, const double *dx, struct weights *w, struct weights *dw)
{
    for (int i = 0; i < w->n; i++) {
        w->data[i] = w->scale * x[i] * x[i];
        dw->data[i] = 2.0 * w->scale * x[i] * dx[i] + dw->scale * x[i] * x[i];
    }
}

void *__enzyme_register_gradient_fill[] = {(void *)fill, (void *)fill_augmented, (void *)fill_reverse};
void *__enzyme_register_derivative_fill[] = {(void *)fill, (void *)fill_forward};

struct three {
    double a, b, c;
};

__attribute__((noinline)) static double box(double a, double b, double c)
{
    return a * b * c;
}

static double box_augmented(double a, double b, double c)
{
    return box(a, b, c);
}

static struct three box_reverse(double a, double b, double c, double seed)
{
    struct three adjoints = {seed * b * c, seed * a * c, seed * a * b};
    return adjoints;
}

// The tangent alone: the function is called for its value.
static double box_forward(double a, double da, double b, double db, double c, double dc)
{
    return da * b * c + a * db * c + a * b * dc;
}

void *__enzyme_register_gradient_box[] = {(void *)box, (void *)box_augmented, (void *)box_reverse};
void *__enzyme_register_derivative_box[] = {(void *)box, (void *)box_forward};

struct singles {
    float a, b;
};

__attribute__((noinline)) static float area(float a, float b)
{
    return a * b;
}

static float area_augmented(float a, float b)
{
    return area(a, b);
}

static struct singles area_reverse(float a, float b, float seed)
{
    struct singles adjoints = {seed * b, seed * a};
    return adjoints;
}

void *__enzyme_register_gradient_area[] = {(void *)area, (void *)area_augmented, (void *)area_reverse};

__attribute__((noinline)) static void squares(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}

static void squares_augmented(const double *x, double *dx, double *y, double *dy, int n)
{
    (void)dx, (void)dy;
    squares(x, y, n);
}

static void squares_reverse(const double *x, double *dx, double *y, double *dy, int n)
{
    (void)y;
    for (int i = 0; i < n && dx && dy; i++) {
        dx[i] += 2.0 * x[i] * dy[i];
        dy[i] = 0.0;
    }
}

static void squares_forward(const double *x, const double *dx, double *y, double *dy, int n)
{
    squares(x, y, n);
    for (int i = 0; i < n && dy; i++)
        dy[i] = dx ? 2.0 * x[i] * dx[i] : 0.0;
}

void *__enzyme_register_gradient_squares[] = {(void *)squares, (void *)squares_augmented, (void *)squares_reverse};
void *__enzyme_register_derivative_squares[] = {(void *)squares, (void *)squares_forward};

__attribute__((noinline)) static void squares_below(const double *x, double *y, int n)
{
    squares(x, y, n);
}

// Either may be seen as the memory that is constant.
static double either(const double *x, const double *fixed, int n)
{
    double sum = 0.0, *own = malloc(2 * n * sizeof *own), *below = malloc(n * sizeof *below);
    squares(x, own, n);
    squares_below(x, below, n);
    const double *seen = n > 2 ? own : fixed, *seen_below = n > 3 ? below : fixed;
    for (int i = 0; i < n; i++)
        sum += (i + 1) * seen[i] + seen_below[i] * x[0];
    free(own);
    free(below);
    return sum;
}

static const double fixed_numbers[N] = {0.5, 1.5, 2.5, 3.5};

static double integral(const double *x, const double *fixed, int n)
{
    double local[8], sum = either(x, fixed, n), *heap = malloc(n * sizeof *heap);
    struct weights first = {local, n, 1.5 + x[0]}, second = {heap, n, 2.5};
    fill(x, &first);
    fill(x, &second);
    for (int i = 0; i < n; i++)
        sum += (i + 1) * local[i] + heap[i] * x[i] + first.data[i] + cube(x[i]) * box(x[0], x[i], x[1]);
    free(heap);
    return sum;
}

static float product(float a, float b)
{
    return area(a, b) * a;
}

CORPUS_MARKER(struct singles, __enzyme_autodiff_singles)

static int extra(void)
{
    struct singles both = __enzyme_autodiff_singles((void *)product, 3.0f, 2.0f);
    return corpus_check("rules", "single precision", fabs(both.a - 12.0) + fabs(both.b - 9.0), 1e-6);
}

static void setup(void)
{
    corpus_seed(73);
    corpus_fill(point, N, 0.3, 1.1);
}

static double value(const double *x)
{
    return integral(x, fixed_numbers, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)integral, enzyme_dup, x, v, enzyme_const, fixed_numbers, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff_void((void *)integral, enzyme_dup, x, g, enzyme_const, fixed_numbers, enzyme_const, N);
}

static const struct corpus_problem problem = {
    .name = "rules_of_other_shapes",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
    .coordinates = N,
};

CORPUS_MAIN(&problem)
