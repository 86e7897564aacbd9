// corpus: levels O0 O2 O3
// GLM vectors, reflect, refract, mix, clamp and smoothstep: Blinn-Phong shading with a Fresnel term of a few surface
// points.
#include <glm/glm.hpp>

#include "corpus.hpp"

static double luminance(const glm::dvec3 &light, const glm::dvec3 &colour, double roughness)
{
    double sum = 0.0;
    for (int i = 0; i < 8; i++) {
        glm::dvec3 position(0.3 * i - 1.0, 0.1 * i, 0.2);
        glm::dvec3 normal = glm::normalize(glm::dvec3(0.1 * i - 0.3, 1.0, 0.2 * i - 0.5));
        glm::dvec3 to_light = glm::normalize(light - position),
                   to_eye = glm::normalize(glm::dvec3(0.0, 2.0, 3.0) - position);
        glm::dvec3 half = glm::normalize(to_light + to_eye);
        double diffuse = glm::max(glm::dot(normal, to_light), 0.0);
        double specular = glm::pow(glm::clamp(glm::dot(normal, half), 1e-3, 1.0), 2.0 / roughness);
        double fresnel = 0.04 + 0.96 * glm::pow(1.0 - glm::dot(half, to_eye), 5.0);
        glm::dvec3 shade = glm::mix(colour * diffuse, glm::dvec3(specular), fresnel);
        shade += 0.1 * glm::smoothstep(0.0, 1.0, diffuse) * glm::abs(glm::reflect(-to_light, normal));
        sum += glm::dot(shade, glm::dvec3(0.2126, 0.7152, 0.0722)) / glm::distance(light, position);
    }
    return sum;
}

static double point[7] = {0.7, 2.0, 1.1, 0.8, 0.5, 0.3, 0.4};

static double value(const double *x)
{
    return luminance({x[0], x[1], x[2]}, {x[3], x[4], x[5]}, x[6]);
}

static double tangent(const double *x, const double *v)
{
    glm::dvec3 light(x[0], x[1], x[2]), dlight(v[0], v[1], v[2]), colour(x[3], x[4], x[5]), dcolour(v[3], v[4], v[5]);
    return __enzyme_fwddiff<double>((void *)luminance, &light, &dlight, &colour, &dcolour, x[6], v[6]);
}

static void gradient(const double *x, double *g)
{
    glm::dvec3 light(x[0], x[1], x[2]), dlight(0.0), colour(x[3], x[4], x[5]), dcolour(0.0);
    g[6] = __enzyme_autodiff<double>((void *)luminance, &light, &dlight, &colour, &dcolour, x[6]);
    for (int i = 0; i < 3; i++) {
        g[i] = dlight[i];
        g[3 + i] = dcolour[i];
    }
}

static const corpus_problem problem = {.name = "glm_shading",
                                       .size = 7,
                                       .point = point,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
