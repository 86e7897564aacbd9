// Bundle adjustment of ADBench (the corpus program): the sum of squares of all residuals; the size is the number of observations.
// By hand: each observation goes forward and back before the next one, so nothing is kept.
#include "bench.h"

#include "../corpus/ba.c"

struct bundle {
    struct bench_point point;
    int cameras, positions, *observed;
    double *measured;
};

static void ba_into(int count, const int *pairs, const double *cameras, const double *positions, const double *weights,
                    const double *targets, double *restrict result)
{
    *result = ba_objective(count, pairs, cameras, positions, weights, targets);
}

// A rotation with what its adjoint needs.
struct turn {
    double angle, sine, cosine, along, axis[3], turned[3];
};

BENCH_INLINE void hand_rotate(const double *r, const double *v, double *out, struct turn *turn)
{
    double squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    turn->angle = sqrt(squared);
    if (squared == 0.0) {
        cross(r, v, turn->turned);
        for (int i = 0; i < 3; i++)
            out[i] = v[i] + turn->turned[i];
        return;
    }
    double inverse = 1.0 / turn->angle;
    turn->sine = sin(turn->angle);
    turn->cosine = cos(turn->angle);
    for (int i = 0; i < 3; i++)
        turn->axis[i] = r[i] * inverse;
    cross(turn->axis, v, turn->turned);
    turn->along = turn->axis[0] * v[0] + turn->axis[1] * v[1] + turn->axis[2] * v[2];
    for (int i = 0; i < 3; i++)
        out[i] = v[i] * turn->cosine + turn->turned[i] * turn->sine +
                 turn->axis[i] * (turn->along * (1.0 - turn->cosine));
}

// Adds the adjoint of the rotation, sets that of the vector.
BENCH_INLINE void hand_rotate_back(const double *r, const double *v, const struct turn *turn, const double *seed,
                                   double *r_adjoint, double *v_adjoint)
{
    double back[3], toward[3]; // (a x v) . s = v . (s x a) = a . (v x s)
    cross(v, seed, toward);
    if (turn->angle == 0.0) {
        cross(seed, r, back);
        for (int i = 0; i < 3; i++) {
            v_adjoint[i] = seed[i] + back[i];
            r_adjoint[i] += toward[i];
        }
        return;
    }
    double sine = turn->sine, cosine = turn->cosine, along = turn->along, rest = 1.0 - cosine, axis_adjoint[3];
    double seed_axis = 0.0, seed_v = 0.0, seed_turned = 0.0, radial = 0.0;
    for (int i = 0; i < 3; i++) {
        seed_axis += seed[i] * turn->axis[i];
        seed_v += seed[i] * v[i];
        seed_turned += seed[i] * turn->turned[i];
    }
    double angle_adjoint = -sine * seed_v + cosine * seed_turned + sine * along * seed_axis;
    cross(seed, turn->axis, back);
    for (int i = 0; i < 3; i++) {
        v_adjoint[i] = cosine * seed[i] + sine * back[i] + rest * seed_axis * turn->axis[i];
        axis_adjoint[i] = sine * toward[i] + rest * (along * seed[i] + seed_axis * v[i]);
        radial += axis_adjoint[i] * turn->axis[i];
    }
    double inverse = 1.0 / turn->angle;
    for (int i = 0; i < 3; i++)
        r_adjoint[i] += (axis_adjoint[i] - radial * turn->axis[i]) * inverse + angle_adjoint * turn->axis[i];
}

BENCH_INLINE double adjoint(const struct bundle *data, double *restrict g)
{
    const double *x = data->point.x, *positions = x + CAMERA * data->cameras,
                 *weights = positions + 3 * data->positions;
    double *positions_adjoint = g + CAMERA * data->cameras, *weights_adjoint = positions_adjoint + 3 * data->positions;
    double loss = 0.0;
    for (int i = 0; i < data->point.size; i++) {
        const double *camera = x + CAMERA * data->observed[2 * i], *position = positions + 3 * data->observed[2 * i + 1];
        double *camera_adjoint = g + CAMERA * data->observed[2 * i];
        double *position_adjoint = positions_adjoint + 3 * data->observed[2 * i + 1];
        double weight = weights[i], relative[3], seen[3], image[2], residual[2];
        for (int k = 0; k < 3; k++)
            relative[k] = position[k] - camera[CENTRE + k];
        struct turn turn;
        hand_rotate(camera + ROTATION, relative, seen, &turn);
        double inverse = 1.0 / seen[2];
        image[0] = seen[0] * inverse;
        image[1] = seen[1] * inverse;
        double squared = image[0] * image[0] + image[1] * image[1];
        double stretch = 1.0 + camera[RADIAL] * squared + camera[RADIAL + 1] * squared * squared;
        double distance[2];
        for (int k = 0; k < 2; k++) {
            distance[k] = image[k] * stretch * camera[FOCAL] + camera[PRINCIPAL + k] - data->measured[2 * i + k];
            residual[k] = weight * distance[k];
        }
        double excess = weight_residual(weight);
        loss += residual[0] * residual[0] + residual[1] * residual[1] + excess * excess;

        double stretch_adjoint = 0.0, focal_adjoint = 0.0, weight_adjoint = -4.0 * excess * weight, slopes[2];
        for (int k = 0; k < 2; k++) {
            double residual_adjoint = 2.0 * residual[k], placed = weight * residual_adjoint;
            weight_adjoint += residual_adjoint * distance[k];
            camera_adjoint[PRINCIPAL + k] += placed;
            focal_adjoint += placed * image[k] * stretch;
            stretch_adjoint += placed * camera[FOCAL] * image[k];
            slopes[k] = placed * camera[FOCAL] * stretch;
        }
        weights_adjoint[i] += weight_adjoint;
        camera_adjoint[FOCAL] += focal_adjoint;
        camera_adjoint[RADIAL] += stretch_adjoint * squared;
        camera_adjoint[RADIAL + 1] += stretch_adjoint * squared * squared;
        double squared_adjoint = stretch_adjoint * (camera[RADIAL] + 2.0 * camera[RADIAL + 1] * squared);
        double seed[3] = {0.0, 0.0, 0.0}, relative_adjoint[3];
        for (int k = 0; k < 2; k++) {
            double slope = (slopes[k] + 2.0 * squared_adjoint * image[k]) * inverse;
            seed[k] = slope;
            seed[2] -= slope * image[k];
        }
        hand_rotate_back(camera + ROTATION, relative, &turn, seed, camera_adjoint + ROTATION, relative_adjoint);
        for (int k = 0; k < 3; k++) {
            position_adjoint[k] += relative_adjoint[k];
            camera_adjoint[CENTRE + k] -= relative_adjoint[k];
        }
    }
    return loss;
}

static struct bench_point *bench_setup(int count)
{
    struct bundle *data = BENCH_NEW(struct bundle, 1);
    data->cameras = 20;
    data->positions = count / 5 + 1;
    int size = CAMERA * data->cameras + 3 * data->positions + count;
    double *x = BENCH_NEW(double, size), *weights = x + size - count;
    data->point = (struct bench_point){count, (size_t)size, x};
    data->observed = BENCH_NEW(int, 2 * count);
    data->measured = BENCH_NEW(double, 2 * count);
    corpus_seed(106);
    corpus_fill(x, (size_t)size, -1.0, 1.0);
    for (int i = 0; i < data->cameras; i++) {
        double *camera = x + CAMERA * i;
        corpus_fill(camera + ROTATION, 3, -0.3, 0.3);
        corpus_fill(camera + CENTRE, 2, -0.5, 0.5);
        camera[CENTRE + 2] = corpus_uniform(-6.0, -5.0);
        camera[FOCAL] = corpus_uniform(0.8, 1.2);
        corpus_fill(camera + PRINCIPAL, 4, -0.1, 0.1);
    }
    corpus_fill(weights, (size_t)count, 0.5, 1.5);
    for (int i = 0; i < count; i++) {
        data->observed[2 * i] = (int)corpus_uniform(0.0, data->cameras);
        data->observed[2 * i + 1] = (int)corpus_uniform(0.0, data->positions);
    }
    corpus_fill(data->measured, (size_t)(2 * count), -0.3, 0.3);
    return &data->point;
}

static double bench_primal(struct bench_point *point)
{
    struct bundle *data = (struct bundle *)point;
    const double *positions = point->x + CAMERA * data->cameras;
    return ba_objective(point->size, data->observed, point->x, positions, positions + 3 * data->positions,
                        data->measured);
}

static void bench_gradient(struct bench_point *point, double *g)
{
    struct bundle *data = (struct bundle *)point;
    int first = CAMERA * data->cameras, last = first + 3 * data->positions;
    const double *x = point->x;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)ba_objective, enzyme_const, point->size, enzyme_const, data->observed, enzyme_dup, x,
                           g, enzyme_dup, x + first, g + first, enzyme_dup, x + last, g + last, enzyme_const,
                           data->measured);
}

static double bench_value_gradient(struct bench_point *point, double *g)
{
    struct bundle *data = (struct bundle *)point;
    int first = CAMERA * data->cameras, last = first + 3 * data->positions;
    const double *x = point->x;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)ba_into, enzyme_const, point->size, enzyme_const, data->observed, enzyme_dup, x, g,
                           enzyme_dup, x + first, g + first, enzyme_dup, x + last, g + last, enzyme_const,
                           data->measured, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct bundle, adjoint)

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct bundle *data = (const struct bundle *)point;
    inputs[0] = BENCH_INTEGERS("observed", data->observed, 2 * point->size);
    inputs[1] = BENCH_REALS("measured", data->measured, 2 * point->size);
    inputs[2] = BENCH_INTEGERS("cameras", &data->cameras, 1);
    inputs[3] = BENCH_INTEGERS("positions", &data->positions, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "ba",
    .small = 50,
    .normal = 5000,
    .sweep = {500, 5000, 50000},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
};
