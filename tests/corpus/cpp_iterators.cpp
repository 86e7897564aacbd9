// Own iterator adaptors (stride, pair-wise, transform) used with range-for and the standard algorithms: periodogram and
// roughness of a series.
#include <iterator>
#include <numeric>

#include "corpus.hpp"

class Strided
{
  public:
    using value_type = double;
    using reference = const double &;
    using pointer = const double *;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;

    Strided(const double *at, std::ptrdiff_t stride) : at_(at), stride_(stride) {}
    reference operator*() const { return *at_; }
    Strided &operator++()
    {
        at_ += stride_;
        return *this;
    }
    Strided operator++(int)
    {
        Strided old = *this;
        ++*this;
        return old;
    }
    bool operator==(const Strided &o) const { return at_ == o.at_; }

  private:
    const double *at_;
    std::ptrdiff_t stride_;
};

template <class It> struct Pairs {
    It first, last;
    struct Iterator {
        It left, right;
        std::pair<double, double> operator*() const { return {*left, *right}; }
        Iterator &operator++()
        {
            left = right++;
            return *this;
        }
        bool operator!=(const Iterator &o) const { return !(right == o.right); }
    };
    Iterator begin() const
    {
        It second = first;
        return {first, ++second};
    }
    Iterator end() const { return {last, last}; }
};

enum { COUNT = 16 };

static double roughness(const double *x)
{
    double sum = 0.0;
    for (int phase = 0; phase < 4; phase++) {
        Strided begin(x + phase, 4), end(x + COUNT + phase, 4);
        double mean = std::accumulate(begin, end, 0.0) / 4.0;
        for (auto [a, b] : Pairs<Strided>{begin, end})
            sum += (b - a) * (b - a) * (b - mean);
    }
    double re = 0.0, im = 0.0;
    int k = 0;
    for (auto [a, b] : Pairs<const double *>{x, x + COUNT}) {
        re += a * b * cos(0.7 * k);
        im += (a - b) * sin(0.7 * k);
        k++;
    }
    return sum + re * re + im * im;
}

static double point[COUNT];

static void setup()
{
    corpus_seed(149);
    corpus_fill(point, COUNT, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_iterators", roughness, COUNT, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
