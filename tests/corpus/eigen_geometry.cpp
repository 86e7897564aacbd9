// corpus: levels O0 O2
// corpus: fma O2
// Eigen Geometry: a three-link arm with quaternions, angle-axis rotations and affine transforms; squared distance of
// the tip from a target plus the angle between two orientations.
#include <Eigen/Core>
#include <Eigen/Geometry>

#include "corpus.hpp"

static double miss(const double *x)
{
    Eigen::Quaterniond base(Eigen::AngleAxisd(x[0], Eigen::Vector3d::UnitZ()));
    Eigen::Quaterniond elbow(Eigen::AngleAxisd(x[1], Eigen::Vector3d(0.6, 0.8, 0.0)));
    Eigen::Quaterniond wrist(1.0, x[2], x[3], x[4]);
    wrist.normalize();
    Eigen::Isometry3d arm = Eigen::Isometry3d::Identity();
    arm.rotate(base);
    arm.translate(Eigen::Vector3d(x[5], 0.0, 0.1));
    arm.rotate(elbow);
    arm.translate(Eigen::Vector3d(0.0, x[6], 0.0));
    Eigen::Vector3d tip = arm * (wrist * Eigen::Vector3d(0.2, 0.1, x[7]));
    Eigen::Vector3d axis = tip.cross(Eigen::Vector3d::UnitX()).normalized();
    return (tip - Eigen::Vector3d(0.3, 0.4, 0.5)).squaredNorm() + 0.1 * (base * wrist).angularDistance(elbow) +
           axis.z();
}

enum { SIZE = 8 };
static double point[SIZE];

static void setup()
{
    corpus_seed(89);
    corpus_fill(point, SIZE, 0.2, 1.1);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_geometry", miss, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
