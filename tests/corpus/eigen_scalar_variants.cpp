// corpus: levels O0 O3
// Eigen in single precision and complex: Matrix4f colour transforms and a Matrix2cd transfer matrix of a thin film,
// whose reflectance |r|^2 is differentiated with respect to thickness, index and wavelength.
#include <Eigen/Core>
#include <complex>

#include "corpus.hpp"

static double reflectance(const double *x)
{
    using namespace std::complex_literals;
    Eigen::Matrix2cd film = Eigen::Matrix2cd::Identity();
    for (int layer = 0; layer < 3; layer++) {
        double index = x[2 * layer], phase = 6.2831853 * index * x[2 * layer + 1] / x[6];
        Eigen::Matrix2cd m;
        m << std::cos(phase), 1i * std::sin(phase) / index, 1i * index * std::sin(phase), std::cos(phase);
        film = film * m;
    }
    Eigen::Vector2cd field = film * Eigen::Vector2cd(1.0, 1.52);
    std::complex<double> r = (field(0) - field(1)) / (field(0) + field(1));
    Eigen::Matrix2f tint;
    tint << 1.0f, 0.25f, 0.5f, (float)x[7];
    Eigen::Vector2f seen = tint * Eigen::Vector2f(0.5f, (float)x[7]);
    return std::norm(r) + (double)seen.sum();
}

static double point[8] = {1.38, 0.09, 2.1, 0.12, 1.46, 0.07, 0.55, 0.75};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_scalar_variants", reflectance, 8, point, nullptr, .step = 0x1p-6,
                    .fd_tolerance = 1e-4, // partly single precision
                    .dot_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
