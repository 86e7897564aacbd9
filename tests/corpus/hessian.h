// Checks of the Hessian of a program of the corpus, which is included before: its `gradient` is differentiated again, forward and in
// reverse, and compared with differences of gradients. At the small size, so that all columns are.
#ifndef CORPUS_HESSIAN_H
#define CORPUS_HESSIAN_H

#ifndef CORPUS_NO_AD

static void hessian_column(int j, double *forward, double *reverse)
{
    double *unit = corpus_vector(SIZE), *g = corpus_vector(SIZE);
    unit[j] = 1.0;
    corpus_zero(forward, SIZE);
    __enzyme_fwddiff_void((void *)gradient, enzyme_dup, point, unit, enzyme_dupnoneed, g, forward);
    corpus_zero(reverse, SIZE);
    // The adjoint of g is consumed.
    __enzyme_autodiff_void((void *)gradient, enzyme_dup, point, reverse, enzyme_dupnoneed, g, unit);
    free(unit);
    free(g);
}

// Central differences of gradients, extrapolated once: an error of h^4 and rounding leave some 1e-9.
static void hessian_difference(int j, double *column)
{
    double *moved = corpus_vector(SIZE), *g = corpus_vector(SIZE);
    corpus_zero(column, SIZE);
    for (int k = 0; k < 4; k++) {
        double h = (k < 2 ? 1.0 : 2.0) * (k % 2 ? -1e-3 : 1e-3), factor = k < 2 ? 4.0 / 3.0 : -1.0 / 3.0;
        corpus_copy(moved, point, SIZE);
        moved[j] += h;
        gradient(moved, g);
        for (int i = 0; i < SIZE; i++)
            column[i] += factor * g[i] / (2.0 * h);
    }
    free(moved);
    free(g);
}

static int hessian_checks(const char *name)
{
    double *all = corpus_vector((size_t)SIZE * SIZE), *reverse = corpus_vector(SIZE), *difference = corpus_vector(SIZE);
    double worst_difference = 0.0, worst_reverse = 0.0, worst_symmetry = 0.0, scale = 0.0;
    for (int j = 0; j < SIZE; j++) {
        double *column = all + (size_t)j * SIZE;
        hessian_column(j, column, reverse);
        hessian_difference(j, difference);
        for (int i = 0; i < SIZE; i++) {
            scale = fmax(scale, fabs(column[i]));
            worst_difference = fmax(worst_difference, fabs(column[i] - difference[i]));
            worst_reverse = fmax(worst_reverse, fabs(column[i] - reverse[i]));
        }
    }
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < j; i++)
            worst_symmetry = fmax(worst_symmetry, fabs(all[(size_t)j * SIZE + i] - all[(size_t)i * SIZE + j]));
    int failed = corpus_check(name, "hessian, differences of gradients", worst_difference / scale, 1e-6);
    failed += corpus_check(name, "hessian, reverse over reverse", worst_reverse / scale, 1e-11);
    failed += corpus_check(name, "hessian, symmetry", worst_symmetry / scale, 1e-11);
    free(all);
    free(reverse);
    free(difference);
    return failed;
}

#endif
#endif
