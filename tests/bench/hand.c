// Hand tracking of ADBench (the corpus program, simple objective), 200 vertices, 21 bones, 26 angles. By hand: each vertex goes
// forward and back before the next one; the transforms of the bones are kept. Their adjoints are the upper 3 x 4 parts alone.
#include "bench.h"

#include "../corpus/hand.c"

struct tracking {
    struct bench_point point;
    const struct hand_model *model;
    int count, *correspondences;
    double *data;
};

static void hand_into(const double *theta, const struct hand_model *shape, int count, const int *partners,
                      const double *targets, double *restrict result)
{
    *result = hand_objective(theta, shape, count, partners, targets);
}

// Rows 0 to 2 of an adjoint; those of row 3 are never needed, since it is constant.
struct slopes {
    double at[4][3];
};

// a_adjoint += seed b^T, of a product a b of transforms.
BENCH_INLINE void hand_left(struct slopes *a_adjoint, const struct slopes *seed, const struct transform *b)
{
    for (int k = 0; k < 4; k++)
        for (int column = 0; column < 4; column++)
            for (int row = 0; row < 3; row++)
                a_adjoint->at[k][row] += seed->at[column][row] * b->at[column][k];
}

// b_adjoint = a^T seed.
BENCH_INLINE void hand_right(const struct transform *a, const struct slopes *seed, struct slopes *b_adjoint)
{
    for (int column = 0; column < 4; column++)
        for (int k = 0; k < 3; k++) {
            double sum = 0.0;
            for (int row = 0; row < 3; row++)
                sum += a->at[k][row] * seed->at[column][row];
            b_adjoint->at[column][k] = sum;
        }
}

BENCH_INLINE void hand_euler(const double *angles, const struct slopes *seed, double *adjoint)
{
    double sx = sin(angles[0]), cx = cos(angles[0]);
    double sy = sin(angles[1]), cy = cos(angles[1]);
    double sz = sin(angles[2]), cz = cos(angles[2]);
    const double *x = seed->at[0], *y = seed->at[1], *z = seed->at[2];
    adjoint[0] = (cz * sy * cx + sz * sx) * y[0] + (sz * sy * cx - cz * sx) * y[1] + cy * cx * y[2] +
                 (sz * cx - cz * sy * sx) * z[0] - (sz * sy * sx + cz * cx) * z[1] - cy * sx * z[2];
    adjoint[1] = -cz * sy * x[0] - sz * sy * x[1] - cy * x[2] + cz * cy * sx * y[0] + sz * cy * sx * y[1] -
                 sy * sx * y[2] + cz * cy * cx * z[0] + sz * cy * cx * z[1] - sy * cx * z[2];
    adjoint[2] = -sz * cy * x[0] + cz * cy * x[1] - (sz * sy * sx + cz * cx) * y[0] + (cz * sy * sx - sz * cx) * y[1] +
                 (cz * sx - sz * sy * cx) * z[0] + (cz * sy * cx + sz * sx) * z[1];
}

BENCH_INLINE void hand_axis_angle(const double *axis_angle, double seed[3][3], double *adjoint)
{
    double squared = 0.0;
    for (int i = 0; i < 3; i++)
        squared += axis_angle[i] * axis_angle[i];
    double angle = sqrt(squared), n[3], n_adjoint[3], sum = 0.0, radial = 0.0;
    if (angle < 1e-4)
        return;
    for (int i = 0; i < 3; i++)
        n[i] = axis_angle[i] / angle;
    double s = sin(angle), c = cos(angle), rest = 1.0 - c;
    // rotation[column][row] = n n^T rest + c I + s [n]: its antisymmetric part is s n.
    double twist[3] = {seed[1][2] - seed[2][1], seed[2][0] - seed[0][2], seed[0][1] - seed[1][0]};
    double trace = seed[0][0] + seed[1][1] + seed[2][2], along = 0.0;
    for (int i = 0; i < 3; i++) {
        double both = 0.0;
        for (int j = 0; j < 3; j++)
            both += (seed[i][j] + seed[j][i]) * n[j];
        n_adjoint[i] = rest * both + s * twist[i];
        along += 0.5 * both * n[i];
        sum += twist[i] * n[i];
        radial += n_adjoint[i] * n[i];
    }
    double angle_adjoint = s * (along - trace) + c * sum;
    for (int i = 0; i < 3; i++)
        adjoint[i] += (n_adjoint[i] - radial * n[i]) / angle + angle_adjoint * n[i];
}

BENCH_INLINE double adjoint(const struct tracking *data, double *restrict g)
{
    const double *theta = data->point.x;
    const struct hand_model *shape = data->model;
    double bone_angles[BONES][3], rotation[3][3], rotation_adjoint[3][3], loss = 0.0;
    struct transform bends[BONES], relatives[BONES], absolutes[BONES], skins[BONES];
    struct slopes skins_adjoint[BONES], absolutes_adjoint[BONES];
    memset(rotation_adjoint, 0, sizeof(rotation_adjoint));
    memset(skins_adjoint, 0, sizeof(skins_adjoint));
    memset(absolutes_adjoint, 0, sizeof(absolutes_adjoint));
    spread_angles(theta, bone_angles);
    for (int bone = 0; bone < BONES; bone++) {
        bends[bone] = from_euler_angles(bone_angles[bone]);
        relatives[bone] = multiply(&shape->base_relatives[bone], &bends[bone]);
        absolutes[bone] =
            shape->parents[bone] < 0 ? relatives[bone] : multiply(&absolutes[shape->parents[bone]], &relatives[bone]);
        skins[bone] = multiply(&absolutes[bone], &shape->inverse_bases[bone]);
    }
    from_axis_angle(theta, rotation);

    // Vertices that several observations name are positioned once: the residuals of a vertex are summed first.
    double *restrict seeds = (double *)malloc(sizeof(double) * 6 * (size_t)shape->vertices);
    double *restrict placed = seeds + 3 * shape->vertices;
    memset(seeds, 0, sizeof(double) * 3 * (size_t)shape->vertices);
    for (int vertex = 0; vertex < shape->vertices; vertex++) {
        double skinned[3] = {0.0, 0.0, 0.0};
        for (int bone = 0; bone < BONES; bone++) {
            double weight = shape->weights[vertex * BONES + bone];
            if (weight == 0.0)
                continue;
            for (int row = 0; row < 3; row++) {
                double moved = 0.0;
                for (int column = 0; column < 4; column++)
                    moved += skins[bone].at[column][row] * shape->base_positions[4 * vertex + column];
                skinned[row] += weight * moved;
            }
        }
        for (int row = 0; row < 3; row++)
            placed[3 * vertex + row] = skinned[row];
    }
    for (int i = 0; i < data->count; i++) {
        const double *skinned = placed + 3 * data->correspondences[i];
        for (int row = 0; row < 3; row++) {
            double position = theta[3 + row];
            for (int column = 0; column < 3; column++)
                position += rotation[column][row] * skinned[column];
            double residual = data->data[3 * i + row] - position;
            loss += residual * residual;
            seeds[3 * data->correspondences[i] + row] -= 2.0 * residual;
        }
    }

    for (int vertex = 0; vertex < shape->vertices; vertex++) {
        const double *seed = seeds + 3 * vertex, *skinned = placed + 3 * vertex;
        if (seed[0] == 0.0 && seed[1] == 0.0 && seed[2] == 0.0)
            continue;
        double skinned_adjoint[3];
        for (int column = 0; column < 3; column++) {
            double sum = 0.0;
            for (int row = 0; row < 3; row++) {
                rotation_adjoint[column][row] += seed[row] * skinned[column];
                sum += rotation[column][row] * seed[row];
            }
            skinned_adjoint[column] = sum;
        }
        for (int row = 0; row < 3; row++)
            g[3 + row] += seed[row];
        for (int bone = 0; bone < BONES; bone++) {
            double weight = shape->weights[vertex * BONES + bone];
            if (weight == 0.0)
                continue;
            for (int column = 0; column < 4; column++)
                for (int row = 0; row < 3; row++)
                    skins_adjoint[bone].at[column][row] +=
                        weight * shape->base_positions[4 * vertex + column] * skinned_adjoint[row];
        }
    }
    free(seeds);

    hand_axis_angle(theta, rotation_adjoint, g);
    double angles_adjoint[BONES][3];
    for (int bone = BONES - 1; bone >= 0; bone--) {
        struct slopes relative, bend;
        hand_left(&absolutes_adjoint[bone], &skins_adjoint[bone], &shape->inverse_bases[bone]);
        if (shape->parents[bone] < 0)
            relative = absolutes_adjoint[bone];
        else {
            hand_left(&absolutes_adjoint[shape->parents[bone]], &absolutes_adjoint[bone], &relatives[bone]);
            hand_right(&absolutes[shape->parents[bone]], &absolutes_adjoint[bone], &relative);
        }
        hand_right(&shape->base_relatives[bone], &relative, &bend);
        hand_euler(bone_angles[bone], &bend, angles_adjoint[bone]);
    }
    double *next = g + 6;
    for (int finger = 0; finger < FINGERS; finger++)
        for (int joint = 1; joint < 4; joint++) {
            *next++ += angles_adjoint[1 + 4 * finger + joint][0];
            if (joint == 1)
                *next++ += angles_adjoint[1 + 4 * finger + joint][1];
        }
    return loss;
}

// The size is the number of observations, 150 at most: what the corpus program sets up.
static struct bench_point *bench_setup(int count)
{
    struct tracking *tracked = BENCH_NEW(struct tracking, 1);
    setup();
    tracked->point = (struct bench_point){count, ANGLES, BENCH_NEW(double, ANGLES)};
    corpus_copy(tracked->point.x, point, ANGLES);
    tracked->model = &model;
    tracked->count = count;
    tracked->correspondences = correspondences;
    tracked->data = data;
    return &tracked->point;
}

static double bench_primal(struct bench_point *at)
{
    struct tracking *tracked = (struct tracking *)at;
    return hand_objective(at->x, tracked->model, tracked->count, tracked->correspondences, tracked->data);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct tracking *tracked = (struct tracking *)at;
    memset(g, 0, sizeof(double) * at->count);
    __enzyme_autodiff_void((void *)hand_objective, enzyme_dup, at->x, g, enzyme_const, tracked->model, enzyme_const,
                           tracked->count, enzyme_const, tracked->correspondences, enzyme_const, tracked->data);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct tracking *tracked = (struct tracking *)at;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    __enzyme_autodiff_void((void *)hand_into, enzyme_dup, at->x, g, enzyme_const, tracked->model, enzyme_const,
                           tracked->count, enzyme_const, tracked->correspondences, enzyme_const, tracked->data,
                           enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct tracking, adjoint)

static size_t bench_kept(int count)
{
    // Positions of the vertices before and after the global rotation, transforms of the bones.
    return sizeof(double) * (6 * VERTICES + 2 * 12 * BONES) + 0 * (size_t)count;
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "hand",
    .small = 20,
    .normal = 150,
    BENCH_FUNCTIONS,
    .kept = bench_kept,
};
