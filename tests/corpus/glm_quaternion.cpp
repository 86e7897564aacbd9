// corpus: levels O0 O2 O3
// GLM quaternions: attitude of a tumbling body by quaternion steps, spherical interpolation and rotation of a sensor
// axis; dmat3 inverse.
#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>

#include "corpus.hpp"

static double attitude(const double *x)
{
    glm::dquat q(1.0, 0.0, 0.0, 0.0);
    glm::dvec3 rate(x[0], x[1], x[2]);
    const glm::dvec3 inertia(x[3], x[4], x[5]);
    for (int i = 0; i < 12; i++) {
        rate += 0.1 * glm::cross(inertia * rate, rate) / inertia;
        q = glm::normalize(q + 0.05 * (q * glm::dquat(0.0, rate.x, rate.y, rate.z)));
    }
    glm::dquat between = glm::slerp(glm::dquat(0.8, 0.6, 0.0, 0.0), q, x[6]);
    glm::dvec3 axis = between * glm::dvec3(0.0, 0.0, 1.0);
    glm::dmat3 frame = glm::mat3_cast(q) + glm::dmat3(0.5);
    return axis.x + 2.0 * axis.z * axis.y + glm::determinant(frame) + glm::inverse(frame)[1][2];
}

static double point[7] = {0.6, -0.4, 0.9, 1.0, 1.5, 2.2, 0.35};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("glm_quaternion", attitude, 7, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
