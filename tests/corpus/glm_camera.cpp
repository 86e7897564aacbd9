// corpus: levels O0 O2 O3
// GLM in double precision: perspective camera with lookAt, reprojection error of landmarks (the model of a
// calibration), dmat4 and dvec4.
#include <glm/glm.hpp>
#include <glm/gtc/matrix_transform.hpp>

#include "corpus.hpp"

static double reprojection(const double *x)
{
    glm::dmat4 projection = glm::perspective(x[0], 4.0 / 3.0, 0.1, 100.0);
    glm::dmat4 view = glm::lookAt(glm::dvec3(x[1], x[2], x[3]), glm::dvec3(x[4], x[5], 0.0), glm::dvec3(0.0, 1.0, 0.0));
    glm::dmat4 model = glm::rotate(glm::dmat4(1.0), x[6], glm::dvec3(0.0, 0.6, 0.8));
    double error = 0.0;
    for (int i = 0; i < 6; i++) {
        glm::dvec4 landmark(0.5 * (i % 3) - 0.5, 0.4 * (i / 3), 0.1 * i, 1.0);
        glm::dvec4 clip = projection * view * model * landmark;
        glm::dvec2 seen = glm::dvec2(clip) / clip.w;
        glm::dvec2 miss = seen - glm::dvec2(0.1 * i - 0.2, 0.05 * i);
        error += glm::dot(miss, miss);
    }
    return error;
}

static double point[7] = {0.9, 1.2, 0.8, 3.0, 0.1, 0.05, 0.4};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("glm_camera", reprojection, 7, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
