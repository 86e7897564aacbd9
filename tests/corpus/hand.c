// Hand tracking: fit a skinned hand model to observed points.
//
//   absolute_b = absolute_parent(b) * base_relative_b * R(pose_b)           (R from Euler angles, homogeneous 4x4)
//   position_v = s R(global) (sum_b w_bv absolute_b inverse_base_absolute_b p_v) + translation
//   hand:    residual_i = data_i - position_{c(i)}
//   hand_us: residual_i = data_i - (u_i position_a + t_i position_b + (1 - u_i - t_i) position_c), (a, b, c) = triangle_i
//
// The loss is the sum of squares. 26 pose parameters: global rotation, translation, and four angles for each of five
// fingers. The skeleton and the mesh are synthetic.
// Source: Srajer, Kukelova, Fitzgibbon (2018), section 4.3 (see gmm.c); Taylor et al., "User-specific hand modeling from
// monocular depth sequences", CVPR 2014.
#include "corpus.h"

enum { FINGERS = 5, BONES = 1 + 4 * FINGERS, ANGLES = 26 };

struct transform {
    double at[4][4]; // column-major: at[column][row]
};

struct hand_model {
    int vertices;
    const int *parents;                     // of each bone; -1 at the root
    const struct transform *base_relatives; // pose of each bone in its parent's frame
    const struct transform *inverse_bases;  // from the model's frame to the bone's
    const double *base_positions;           // 4 homogeneous coordinates for each vertex
    const double *weights;                  // BONES for each vertex
};

static struct transform multiply(const struct transform *a, const struct transform *b)
{
    struct transform product;
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++)
                sum += a->at[k][row] * b->at[column][k];
            product.at[column][row] = sum;
        }
    return product;
}

// Rz(z) Ry(y) Rx(x) as a homogeneous transform.
static struct transform from_euler_angles(const double *angles)
{
    double sx = sin(angles[0]), cx = cos(angles[0]);
    double sy = sin(angles[1]), cy = cos(angles[1]);
    double sz = sin(angles[2]), cz = cos(angles[2]);
    struct transform t = {{{cz * cy, sz * cy, -sy, 0.0},
                           {cz * sy * sx - sz * cx, sz * sy * sx + cz * cx, cy * sx, 0.0},
                           {cz * sy * cx + sz * sx, sz * sy * cx - cz * sx, cy * cx, 0.0},
                           {0.0, 0.0, 0.0, 1.0}}};
    return t;
}

static void from_axis_angle(const double *axis_angle, double rotation[3][3])
{
    double squared = 0.0;
    for (int i = 0; i < 3; i++)
        squared += axis_angle[i] * axis_angle[i];
    double angle = sqrt(squared);
    if (angle < 1e-4) {
        for (int column = 0; column < 3; column++)
            for (int row = 0; row < 3; row++)
                rotation[column][row] = column == row ? 1.0 : 0.0;
        return;
    }
    double x = axis_angle[0] / angle, y = axis_angle[1] / angle, z = axis_angle[2] / angle;
    double s = sin(angle), c = cos(angle), rest = 1.0 - c;
    rotation[0][0] = x * x * rest + c;
    rotation[0][1] = y * x * rest + z * s;
    rotation[0][2] = z * x * rest - y * s;
    rotation[1][0] = x * y * rest - z * s;
    rotation[1][1] = y * y * rest + c;
    rotation[1][2] = z * y * rest + x * s;
    rotation[2][0] = x * z * rest + y * s;
    rotation[2][1] = y * z * rest - x * s;
    rotation[2][2] = z * z * rest + c;
}

// Spreads the 20 finger angles over the bones: a finger has two angles at its root and one at each further joint.
static void spread_angles(const double *theta, double bone_angles[BONES][3])
{
    memset(bone_angles, 0, sizeof(double) * 3 * BONES);
    const double *next = theta + 6;
    for (int finger = 0; finger < FINGERS; finger++) {
        int bone = 1 + 4 * finger;
        for (int joint = 1; joint < 4; joint++) {
            bone_angles[bone + joint][0] = *next++;
            if (joint == 1)
                bone_angles[bone + joint][1] = *next++;
        }
    }
}

static void hand_positions(const double *theta, const struct hand_model *model, double *positions)
{
    double bone_angles[BONES][3], rotation[3][3];
    struct transform absolutes[BONES], skinning[BONES];
    spread_angles(theta, bone_angles);
    for (int bone = 0; bone < BONES; bone++) {
        struct transform bend = from_euler_angles(bone_angles[bone]);
        struct transform relative = multiply(&model->base_relatives[bone], &bend);
        if (model->parents[bone] < 0)
            absolutes[bone] = relative;
        else
            absolutes[bone] = multiply(&absolutes[model->parents[bone]], &relative);
        skinning[bone] = multiply(&absolutes[bone], &model->inverse_bases[bone]);
    }
    from_axis_angle(theta, rotation);
    for (int vertex = 0; vertex < model->vertices; vertex++) {
        double skinned[3] = {0.0, 0.0, 0.0};
        for (int bone = 0; bone < BONES; bone++) {
            double weight = model->weights[vertex * BONES + bone];
            if (weight == 0.0)
                continue;
            for (int row = 0; row < 3; row++) {
                double moved = 0.0;
                for (int column = 0; column < 4; column++)
                    moved += skinning[bone].at[column][row] * model->base_positions[4 * vertex + column];
                skinned[row] += weight * moved;
            }
        }
        for (int row = 0; row < 3; row++) {
            double turned = theta[3 + row];
            for (int column = 0; column < 3; column++)
                turned += rotation[column][row] * skinned[column];
            positions[3 * vertex + row] = turned;
        }
    }
}

static double hand_objective(const double *theta, const struct hand_model *model, int count, const int *correspondences,
                             const double *data)
{
    double *positions = malloc(sizeof(double) * 3 * (size_t)model->vertices);
    double loss = 0.0;
    hand_positions(theta, model, positions);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            double residual = data[3 * i + k] - positions[3 * correspondences[i] + k];
            loss += residual * residual;
        }
    free(positions);
    return loss;
}

static double hand_us_objective(const double *theta, const double *us, const struct hand_model *model, int count,
                                int (*triangles)[3], const double *data)
{
    double *positions = malloc(sizeof(double) * 3 * (size_t)model->vertices);
    double loss = 0.0;
    hand_positions(theta, model, positions);
    for (int i = 0; i < count; i++) {
        const double *u = us + 2 * i;
        const int *corners = triangles[i];
        for (int k = 0; k < 3; k++) {
            double on_surface = u[0] * positions[3 * corners[0] + k] + u[1] * positions[3 * corners[1] + k] +
                                (1.0 - u[0] - u[1]) * positions[3 * corners[2] + k];
            double residual = data[3 * i + k] - on_surface;
            loss += residual * residual;
        }
    }
    free(positions);
    return loss;
}

enum { VERTICES = CORPUS_SIZE(200, 24), DATA = CORPUS_SIZE(150, 8), SIZE = ANGLES + 2 * DATA };

static double point[SIZE], base_positions[4 * VERTICES], weights[VERTICES * BONES], data[3 * DATA];
static int parents[BONES], correspondences[DATA], triangles[DATA][3];
static struct transform base_relatives[BONES], inverse_bases[BONES];
static const struct hand_model model = {VERTICES, parents, base_relatives, inverse_bases, base_positions, weights};

// The inverse of a rotation with a translation.
static struct transform rigid_inverse(const struct transform *t)
{
    struct transform inverse = {{{0.0}}};
    for (int column = 0; column < 3; column++)
        for (int row = 0; row < 3; row++) {
            inverse.at[column][row] = t->at[row][column];
            inverse.at[3][row] -= t->at[row][column] * t->at[3][column];
        }
    inverse.at[3][3] = 1.0;
    return inverse;
}

static void setup(void)
{
    struct transform absolutes[BONES];
    corpus_seed(4);
    for (int bone = 0; bone < BONES; bone++) {
        int joint = (bone + 3) % 4; // 0 at the root of a finger
        double angles[3];
        parents[bone] = bone == 0 ? -1 : joint == 0 ? 0 : bone - 1;
        corpus_fill(angles, 3, -0.2, 0.2);
        base_relatives[bone] = from_euler_angles(angles);
        corpus_fill(base_relatives[bone].at[3], 3, -0.1, 0.1);
        if (bone > 0)
            base_relatives[bone].at[3][1] += joint == 0 ? 1.0 : 0.4;
        absolutes[bone] = bone == 0 ? base_relatives[0] : multiply(&absolutes[parents[bone]], &base_relatives[bone]);
        inverse_bases[bone] = rigid_inverse(&absolutes[bone]);
    }
    memset(weights, 0, sizeof(weights));
    for (int vertex = 0; vertex < VERTICES; vertex++) {
        int bone = vertex % BONES;
        double share = parents[bone] < 0 ? 1.0 : corpus_uniform(0.4, 1.0);
        weights[vertex * BONES + bone] = share;
        if (parents[bone] >= 0)
            weights[vertex * BONES + parents[bone]] = 1.0 - share;
        for (int row = 0; row < 3; row++)
            base_positions[4 * vertex + row] = absolutes[bone].at[3][row] + corpus_uniform(-0.15, 0.15);
        base_positions[4 * vertex + 3] = 1.0;
    }
    corpus_fill(point, ANGLES, -0.5, 0.5);
    corpus_fill(point + ANGLES, 2 * DATA, 0.1, 0.5);
    for (int i = 0; i < DATA; i++) {
        correspondences[i] = (13 * i + 5) % VERTICES;
        triangles[i][0] = correspondences[i];
        triangles[i][1] = (correspondences[i] + 1) % VERTICES;
        triangles[i][2] = (correspondences[i] + BONES) % VERTICES;
        for (int k = 0; k < 3; k++)
            data[3 * i + k] = base_positions[4 * correspondences[i] + k] + corpus_uniform(-0.1, 0.1);
    }
}

static double value(const double *x)
{
    return hand_objective(x, &model, DATA, correspondences, data);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)hand_objective, enzyme_dup, x, v, enzyme_const, &model, enzyme_const, DATA,
                            enzyme_const, correspondences, enzyme_const, data);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, ANGLES);
    __enzyme_autodiff((void *)hand_objective, enzyme_dup, x, g, enzyme_const, &model, enzyme_const, DATA, enzyme_const,
                      correspondences, enzyme_const, data);
}

static double us_value(const double *x)
{
    return hand_us_objective(x, x + ANGLES, &model, DATA, triangles, data);
}

static double us_tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)hand_us_objective, enzyme_dup, x, v, enzyme_dup, x + ANGLES, v + ANGLES,
                            enzyme_const, &model, enzyme_const, DATA, enzyme_const, triangles, enzyme_const, data);
}

static void us_gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)hand_us_objective, enzyme_dup, x, g, enzyme_dup, x + ANGLES, g + ANGLES, enzyme_const,
                      &model, enzyme_const, DATA, enzyme_const, triangles, enzyme_const, data);
}

static void us_gradient_of_angles(const double *x, double *g)
{
    corpus_zero(g, ANGLES);
    __enzyme_autodiff((void *)hand_us_objective, x, g, enzyme_const, x + ANGLES, enzyme_const, &model, DATA,
                      enzyme_const, triangles, enzyme_const, data);
}

static const struct corpus_problem problem = {
    .name = "hand",
    .size = ANGLES,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

static const struct corpus_problem us_problem = {
    .name = "hand_us",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = us_value,
    .tangent = us_tangent,
    .gradient = us_gradient,
    .variants = {{.name = "gradient of the angles alone", .gradient = us_gradient_of_angles, .end = ANGLES}},
};

CORPUS_MAIN(&problem, &us_problem)
