// corpus: levels O0 O3
// nanoflann: the point-to-point distance of iterative closest points. A k-d tree is built over the fixed cloud
// (inactive), queried for each point of the moved cloud (active), and the squared distances to the nearest two are
// averaged softly.
//
// corpus: libc++ O0 O2
#include <nanoflann.hpp>

#include "corpus.hpp"

enum { FIXED = 40, MOVED = 10 };

struct Cloud {
    double points[FIXED][2];
    size_t kdtree_get_point_count() const { return FIXED; }
    double kdtree_get_pt(size_t item, size_t dimension) const { return points[item][dimension]; }
    template <class Box> bool kdtree_get_bbox(Box &) const { return false; }
};

using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, 2>;

static Cloud cloud;
static double moved[MOVED][2];

static double alignment(const double *x)
{
    Tree tree(2, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(5));
    tree.buildIndex();
    double sum = 0.0;
    for (auto &p : moved) {
        double query[2] = {x[0] + cos(x[2]) * p[0] - sin(x[2]) * p[1], x[1] + sin(x[2]) * p[0] + cos(x[2]) * p[1]};
        uint32_t nearest[2];
        double squared[2];
        tree.knnSearch(query, 2, nearest, squared);
        double dx = query[0] - cloud.points[nearest[0]][0], dy = query[1] - cloud.points[nearest[0]][1];
        sum += dx * dx + dy * dy + 0.1 * exp(-squared[1]);
    }
    return sum / 10.0;
}

static double point[3] = {0.05, -0.08, 0.1};

static void setup()
{
    corpus_seed(109);
    corpus_fill(&cloud.points[0][0], 2 * (size_t)FIXED, -1.0, 1.0);
    corpus_fill(&moved[0][0], 2 * (size_t)MOVED, -0.8, 0.8);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("nanoflann_icp", alignment, 3, point, setup,
                                                      .step = 0x1p-12, // the neighbours stay
                                                      .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
