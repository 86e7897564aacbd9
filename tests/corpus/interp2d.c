// Bilinear interpolation in a table over an even grid along a path of places, the path itself being driven by the table:
// place <- place + step * (interpolated field at place). The index of the cell is computed from active data by floor.
// Loss = |end of path - target|^2 summed over paths.
#include "corpus.h"

struct field {
    int rows, columns;
    double spacing;
    double *east, *north; // rows x columns each
};

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static void sample(const struct field *field, const double *place, double *out)
{
    double column = clamp(place[0] / field->spacing, 0.0, field->columns - 1.001);
    double row = clamp(place[1] / field->spacing, 0.0, field->rows - 1.001);
    int j = (int)floor(column), i = (int)floor(row);
    double s = column - j, t = row - i;
    int corner = i * field->columns + j;
    for (int component = 0; component < 2; component++) {
        const double *values = component == 0 ? field->east : field->north;
        double low = (1.0 - s) * values[corner] + s * values[corner + 1];
        double high = (1.0 - s) * values[corner + field->columns] + s * values[corner + field->columns + 1];
        out[component] = (1.0 - t) * low + t * high;
    }
}

static double drift_loss(const struct field *field, double *places, const double *targets, int paths, int steps,
                         double step)
{
    double loss = 0.0;
    for (int path = 0; path < paths; path++) {
        double *place = places + 2 * path, velocity[2];
        for (int t = 0; t < steps; t++) {
            sample(field, place, velocity);
            place[0] += step * velocity[0];
            place[1] += step * velocity[1];
        }
        for (int k = 0; k < 2; k++)
            loss += (place[k] - targets[2 * path + k]) * (place[k] - targets[2 * path + k]);
    }
    return loss;
}

enum {
    ROWS = CORPUS_SIZE(20, 4),
    COLUMNS = CORPUS_SIZE(24, 5),
    PATHS = CORPUS_SIZE(20, 2),
    STEPS = CORPUS_SIZE(40, 4),
    CELLS = ROWS * COLUMNS,
    SIZE = 2 * CELLS + 2 * PATHS
};

static const double step = 0.1;
static double point[SIZE], targets[2 * PATHS], work[2 * PATHS], shadow[2 * PATHS];

static void setup(void)
{
    corpus_seed(20);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            point[i * COLUMNS + j] = sin(0.4 * i) + corpus_uniform(-0.2, 0.2);
            point[CELLS + i * COLUMNS + j] = cos(0.3 * j) + corpus_uniform(-0.2, 0.2);
        }
    for (int path = 0; path < PATHS; path++) {
        point[2 * CELLS + 2 * path] = 0.5 * corpus_uniform(1.0, COLUMNS - 2.0);
        point[2 * CELLS + 2 * path + 1] = 0.5 * corpus_uniform(1.0, ROWS - 2.0);
    }
    corpus_fill(targets, 2 * PATHS, 0.0, 5.0);
}

static struct field field_at(double *values)
{
    struct field field = {ROWS, COLUMNS, 0.5, values, values + CELLS};
    return field;
}

static double value(const double *x)
{
    struct field field = field_at((double *)x);
    corpus_copy(work, x + 2 * CELLS, 2 * PATHS);
    return drift_loss(&field, work, targets, PATHS, STEPS, step);
}

static double tangent(const double *x, const double *v)
{
    struct field field = field_at((double *)x), field_shadow = field_at((double *)v);
    field_shadow.spacing = 0.0;
    corpus_copy(work, x + 2 * CELLS, 2 * PATHS);
    corpus_copy(shadow, v + 2 * CELLS, 2 * PATHS);
    return __enzyme_fwddiff((void *)drift_loss, enzyme_dup, &field, &field_shadow, enzyme_dup, work, shadow,
                            enzyme_const, targets, enzyme_const, PATHS, enzyme_const, STEPS, enzyme_const, step);
}

static void gradient(const double *x, double *g)
{
    struct field field = field_at((double *)x), field_shadow = field_at(g);
    field_shadow.spacing = 0.0;
    corpus_zero(g, SIZE);
    corpus_copy(work, x + 2 * CELLS, 2 * PATHS);
    __enzyme_autodiff((void *)drift_loss, enzyme_dup, &field, &field_shadow, enzyme_dup, work, g + 2 * CELLS,
                      enzyme_const, targets, enzyme_const, PATHS, enzyme_const, STEPS, enzyme_const, step);
}

static void gradient_places(const double *x, double *g)
{
    struct field field = field_at((double *)x);
    corpus_zero(g + 2 * CELLS, 2 * PATHS);
    corpus_copy(work, x + 2 * CELLS, 2 * PATHS);
    __enzyme_autodiff((void *)drift_loss, enzyme_const, &field, work, g + 2 * CELLS, enzyme_const, targets, PATHS,
                      STEPS, enzyme_const, step);
}

// The gradient in the spacing, a scalar inside the struct: by central differences, step 2^-20.
static int extra(void)
{
    double g[SIZE], sides[2];
    struct field field = field_at(point), field_shadow = field_at(g);
    field_shadow.spacing = 0.0;
    corpus_zero(g, SIZE);
    corpus_copy(work, point + 2 * CELLS, 2 * PATHS);
    __enzyme_autodiff((void *)drift_loss, &field, &field_shadow, work, g + 2 * CELLS, enzyme_const, targets, PATHS,
                      STEPS, enzyme_const, step);
    for (int side = 0; side < 2; side++) {
        field.spacing = 0.5 + (side ? -0x1p-20 : 0x1p-20);
        corpus_copy(work, point + 2 * CELLS, 2 * PATHS);
        sides[side] = drift_loss(&field, work, targets, PATHS, STEPS, step);
    }
    double difference = (sides[0] - sides[1]) * 0x1p19;
    return corpus_check("interp2d", "derivative in the spacing",
                        corpus_relative(field_shadow.spacing, difference, 0.0), 1e-5);
}

static const struct corpus_problem problem = {
    .name = "interp2d",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient of the places alone", .gradient = gradient_places, .begin = 2 * CELLS}},
    .extra = extra,
    .step = 0x1p-20,      // small enough that no path changes a cell
    .fd_tolerance = 1e-5, // the small step costs digits: eps / step
};

CORPUS_MAIN(&problem)
