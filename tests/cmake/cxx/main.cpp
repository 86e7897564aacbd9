// A gradient of a vector, by CMake.
#include <cmath>
#include <cstdio>
#include <enzyme/enzyme>
#include <vector>

static double energy(const std::vector<double> &x)
{
    double sum = 0;
    for (double v : x)
        sum += v * v * v;
    return sum;
}

int main()
{
    const std::vector<double> x{1, 2, 3};
    const std::vector<double> g = enzyme::gradient(energy, x);
    std::printf("%g %g %g\n", g[0], g[1], g[2]);
}
