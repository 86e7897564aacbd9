// An image class as libraries write them: each operation checks its arguments, warns or throws with a message made by a
// format string that names the object and where its data lie, and is built of smaller ones that do the same.
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "corpus.hpp"

// The message of what went wrong, in memory of its own.
struct failure {
    char *message;

    failure(const char *format, ...)
    {
        std::va_list list;
        va_start(list, format);
        message = new char[256];
        std::vsnprintf(message, 256, format, list);
        va_end(list);
    }

    failure(const failure &other) : message(new char[256]) { std::snprintf(message, 256, "%s", other.message); }

    failure &operator=(const failure &) = delete;
    ~failure() { delete[] message; }
};

static int warnings;

static void warn(const char *format, ...)
{
    char *message = new char[256];
    std::va_list list;
    va_start(list, format);
    std::vsnprintf(message, 256, format, list);
    va_end(list);
    if (warnings++ < 0) std::fprintf(stderr, "%s\n", message);
    delete[] message;
}

#define INSTANCE "[instance(%d,%d,%p,%s)] "
#define OF_INSTANCE width, height, static_cast<const void *>(data), shared ? "shared" : "own"

struct image {
    int width = 0, height = 0;
    bool shared = false;
    double *data = nullptr;

    image() = default;

    image(int w, int h) { assign(w, h); }

    image(const double *from, int w, int h) { assign(w, h).fill(from); }

    image(const image &other) { assign(other.width, other.height).fill(other.data); }

    image &operator=(const image &) = delete;

    ~image()
    {
        if (!shared) delete[] data;
    }

    image &assign(int w, int h)
    {
        if (w < 0 || h < 0) throw failure(INSTANCE "assign(): no size (%d,%d)", OF_INSTANCE, w, h);
        if (w * h != width * height) {
            if (shared) throw failure(INSTANCE "assign(): shared memory of (%d,%d)", OF_INSTANCE, w, h);
            delete[] data;
            data = w * h ? new double[static_cast<size_t>(w * h)] : nullptr;
        }
        width = w;
        height = h;
        return *this;
    }

    image &fill(const double *from)
    {
        if (!from && width * height) throw failure(INSTANCE "fill(): no data", OF_INSTANCE);
        for (int i = 0; i < width * height; i++) data[i] = from[i];
        return *this;
    }

    double &at(int x, int y) const { return data[y * width + x]; }

    // Beyond the edge is what lies at the edge.
    double near(int x, int y) const
    {
        const int i = x < 0 ? 0 : x >= width ? width - 1 : x, j = y < 0 ? 0 : y >= height ? height - 1 : y;
        return at(i, j);
    }

    image correlated(const image &kernel) const
    {
        if (kernel.width % 2 == 0)
            throw failure(INSTANCE "correlated(): kernel of width %d", OF_INSTANCE, kernel.width);
        if (kernel.width > width)
            warn(INSTANCE "correlated(): kernel at %p is larger", OF_INSTANCE, static_cast<void *>(kernel.data));
        image out(width, height);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                double sum = 0.0;
                for (int j = 0; j < kernel.height; j++)
                    for (int i = 0; i < kernel.width; i++)
                        sum += kernel.at(i, j) * near(x + i - kernel.width / 2, y + j - kernel.height / 2);
                out.at(x, y) = sum;
            }
        return out;
    }

    image resized(int w, int h) const
    {
        if (!width || !height) throw failure(INSTANCE "resized(): nothing to resize to (%d,%d)", OF_INSTANCE, w, h);
        if (w == width && h == height) return image(data, width, height);
        image out(w, h);
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const double fx = (x + 0.5) * width / w - 0.5, fy = (y + 0.5) * height / h - 0.5;
                const int i = static_cast<int>(std::floor(fx)), j = static_cast<int>(std::floor(fy));
                const double a = fx - i, b = fy - j;
                out.at(x, y) = (1.0 - b) * ((1.0 - a) * near(i, j) + a * near(i + 1, j)) +
                               b * ((1.0 - a) * near(i, j + 1) + a * near(i + 1, j + 1));
            }
        return out;
    }

    double dot(const image &other) const
    {
        if (other.width != width || other.height != height)
            throw failure(INSTANCE "dot(): sizes differ from those of (%d,%d,%p)", OF_INSTANCE, other.width,
                          other.height, static_cast<void *>(other.data));
        double sum = 0.0;
        for (int i = 0; i < width * height; i++) sum += data[i] * other.data[i];
        return sum;
    }
};

enum { SIDE = 6 };

static double sharpness(const double *x)
{
    const image picture(x, SIDE, SIDE), kernel(x, 3, 3);
    const image smooth = picture.correlated(kernel).resized(SIDE + 2, SIDE - 1).resized(SIDE, SIDE);
    if (smooth.near(0, 0) < -1.0) warn("dark: %g of %p", 1.0, static_cast<void *>(smooth.data));
    return smooth.dot(picture) + 0.5 * smooth.dot(smooth);
}

static double point[SIDE * SIDE];

static void setup()
{
    corpus_seed(107);
    corpus_fill(point, SIDE * SIDE, 0.1, 0.9);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("cpp_reports", sharpness, SIDE *SIDE, point, setup,
                                                      .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
