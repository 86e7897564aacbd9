// A Vec3 class with overloaded operators: potential energy and torque of magnetic dipoles on a ring.
#include "corpus.hpp"

struct Vec3 {
    double x = 0.0, y = 0.0, z = 0.0;

    Vec3 &operator+=(const Vec3 &o)
    {
        x += o.x;
        y += o.y;
        z += o.z;
        return *this;
    }
    friend Vec3 operator+(Vec3 a, const Vec3 &b) { return a += b; }
    friend Vec3 operator-(const Vec3 &a, const Vec3 &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend Vec3 operator*(double s, const Vec3 &a) { return {s * a.x, s * a.y, s * a.z}; }
    friend double operator*(const Vec3 &a, const Vec3 &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
    friend Vec3 operator^(const Vec3 &a, const Vec3 &b)
    {
        return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    }
    double norm() const { return sqrt(*this * *this); }
};

enum { DIPOLES = 4, SIZE = 3 * DIPOLES };

static double energy(const double *x)
{
    Vec3 moment[DIPOLES], place[DIPOLES], torque;
    for (int i = 0; i < DIPOLES; i++) {
        moment[i] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        place[i] = {cos(1.5 * i), sin(1.5 * i), 0.1 * i};
    }
    double sum = 0.0;
    for (int i = 0; i < DIPOLES; i++)
        for (int j = 0; j < i; j++) {
            Vec3 r = place[i] - place[j];
            double d = r.norm();
            Vec3 unit = (1.0 / d) * r;
            sum += (moment[i] * moment[j] - 3.0 * (moment[i] * unit) * (moment[j] * unit)) / (d * d * d);
            torque += moment[i] ^ ((moment[j] * unit) * unit);
        }
    return sum + 0.2 * torque.norm();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(127);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_vec3", energy, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
