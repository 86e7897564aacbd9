// error[E0205]: integer keys of floats are returned in structures, sorted, and made floats again
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

template <class Result, class... Arguments> Result __enzyme_autodiff(void *, Arguments...);

struct entry {
    std::uint64_t key;
    int place;
};

[[gnu::noinline]] static entry entry_of(double x, int place)
{
    auto bits = std::bit_cast<std::uint64_t>(x);
    return {bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63), place};
}

[[gnu::noinline]] static double float_of(const entry &e)
{
    return std::bit_cast<double>(e.key ^ (e.key >> 63 ? UINT64_C(1) << 63 : UINT64_MAX));
}

static double ranked(const double *x, int n)
{
    std::vector<entry> entries;
    for (int i = 0; i < n; i++)
        entries.push_back(entry_of(x[i], i)); // refused here
    std::sort(entries.begin(), entries.end(), [](const entry &a, const entry &b) { return a.key < b.key; });
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (i + 1) * float_of(entries[(std::size_t)i]);
    return sum;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff<void>((void *)ranked, x, dx, n);
}
