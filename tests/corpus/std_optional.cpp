// std::optional as the result of a ray-sphere intersection: brightness of a scene of spheres seen along a few rays; a
// ray that hits nothing gives no value.
//
// corpus: libc++ O0 O2
#include <optional>

#include "corpus.hpp"

struct Hit {
    double distance, facing;
    int object;
};

static std::optional<Hit> intersect(const double *sphere, double dx, double dy)
{
    double norm = sqrt(dx * dx + dy * dy + 1.0);
    double along = (sphere[0] * dx + sphere[1] * dy + sphere[2]) / norm;
    double square = sphere[0] * sphere[0] + sphere[1] * sphere[1] + sphere[2] * sphere[2];
    double inside = sphere[3] * sphere[3] - square + along * along;
    if (inside < 0.0)
        return std::nullopt;
    double distance = along - sqrt(inside);
    return Hit{distance, sqrt(inside) / sphere[3], 0};
}

static double brightness(const double *x)
{
    double sum = 0.0;
    for (int ray = 0; ray < 12; ray++) {
        std::optional<Hit> nearest;
        for (int s = 0; s < 3; s++) {
            std::optional<Hit> hit = intersect(x + 4 * s, 0.12 * ray - 0.66, 0.05 * ray - 0.2);
            if (hit && (!nearest || hit->distance < nearest->distance)) {
                nearest = hit;
                nearest->object = s;
            }
        }
        sum += nearest ? nearest->facing / (1.0 + 0.2 * nearest->object + nearest->distance) : 0.05;
    }
    return sum;
}

static double point[12] = {-0.6, 0.1, 3.0, 0.8, 0.4, -0.2, 2.5, 0.7, 1.2, 0.3, 4.0, 0.9};
static const corpus_problem problem = CORPUS_OF_ARRAY("std_optional", brightness, 12, point, nullptr,
                                                      .step = 0x1p-16, // no ray changes its sphere
                                                      .fd_tolerance = 1e-5, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
