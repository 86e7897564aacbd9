// Hand-made type erasure: a value-semantic `Potential` with a small table of function pointers and a cloned heap object;
// the force constants are active.
//
// corpus: libc++ O0 O2
#include "corpus.hpp"

class Potential {
  public:
    template <class T>
    Potential(const T &model)
        : object_(new T(model)), table_{[](const void *o, double r) { return static_cast<const T *>(o)->energy(r); },
                                        [](const void *o) -> void * { return new T(*static_cast<const T *>(o)); },
                                        [](void *o) { delete static_cast<T *>(o); }}
    {
    }
    Potential(const Potential &o) : object_(o.table_.clone(o.object_)), table_(o.table_) {}
    Potential &operator=(const Potential &) = delete;
    ~Potential() { table_.destroy(object_); }
    double operator()(double r) const { return table_.energy(object_, r); }

  private:
    struct Table {
        double (*energy)(const void *, double);
        void *(*clone)(const void *);
        void (*destroy)(void *);
    };
    void *object_;
    Table table_;
};

struct LennardJones {
    double depth, radius;
    double energy(double r) const
    {
        double s = radius / r, s6 = s * s * s * s * s * s;
        return 4.0 * depth * (s6 * s6 - s6);
    }
};

struct Morse {
    double depth, width, radius;
    double energy(double r) const
    {
        double e = 1.0 - exp(-width * (r - radius));
        return depth * e * e;
    }
};

static double energy(const double *x)
{
    Potential pair = LennardJones{x[0], x[1]}, bond = Morse{x[2], x[3], x[4]};
    Potential copy = pair;
    double sum = 0.0;
    for (int i = 0; i < 5; i++) {
        double r = 0.9 + 0.2 * i;
        sum += pair(r) * 0.5 + bond(r) + 0.25 * copy(r + 0.1);
    }
    return sum;
}

static double point[5] = {0.7, 0.9, 1.2, 1.1, 1.05};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_type_erasure", energy, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
