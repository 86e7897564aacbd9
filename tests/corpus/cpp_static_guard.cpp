// Static locals with guards and inline variables: a table of Gauss-Hermite nodes made at the first call by Newton's
// method, then used for the expected utility of a lognormal wealth.
#include <vector>

#include "corpus.hpp"

struct Rule {
    std::vector<double> nodes, weights;

    explicit Rule(int n)
    {
        for (int i = 0; i < n; i++) {
            double z = sqrt(2.0 * n + 1.0) * cos(3.14159265358979 * (4 * i + 3) / (4.0 * n + 2.0)), p1 = 0.0,
                   slope = 1.0;
            for (int k = 0; k < 20; k++) {
                double p0 = 0.0;
                p1 = 0.7511255444649425;
                for (int j = 0; j < n; j++) {
                    double p2 = z * sqrt(2.0 / (j + 1)) * p1 - sqrt(j / (j + 1.0)) * p0;
                    p0 = p1;
                    p1 = p2;
                }
                slope = sqrt(2.0 * n) * p0;
                z -= p1 / slope;
            }
            nodes.push_back(z);
            weights.push_back(2.0 / (slope * slope));
        }
    }
};

static const Rule &rule()
{
    static const Rule shared(9);
    return shared;
}

static double utility(const double *x)
{
    const Rule &gauss = rule();
    double sum = 0.0;
    for (size_t i = 0; i < gauss.nodes.size(); i++) {
        double wealth = x[0] * exp(x[1] + 1.4142135623730951 * x[2] * gauss.nodes[i]) + x[3];
        sum += gauss.weights[i] / 1.7724538509055159 * pow(wealth, 1.0 - x[4]) / (1.0 - x[4]);
    }
    return sum;
}

static double point[5] = {1.2, 0.05, 0.3, 0.4, 2.5};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_static_guard", utility, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
