// Segmentation of an image by recursive flood fill: starting from seeds, neighbouring pixels whose intensity is close
// to the pixel they are reached from join the region. Loss = sum over the regions of variance + (mean - target)^2.
#include "corpus.h"

struct image {
    int width, height;
    const double *pixels;
    unsigned char *label;
};

struct region {
    int pixels;
    double sum, squares;
    double brightest;
};

static void fill(const struct image *image, int x, int y, unsigned char label, double from, double threshold,
                 struct region *region)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height)
        return;
    int at = y * image->width + x;
    double here = image->pixels[at];
    if (image->label[at] || fabs(here - from) > threshold)
        return;
    image->label[at] = label;
    region->pixels++;
    region->sum += here;
    region->squares += here * here;
    if (here > region->brightest)
        region->brightest = here;
    fill(image, x + 1, y, label, here, threshold, region);
    fill(image, x - 1, y, label, here, threshold, region);
    fill(image, x, y + 1, label, here, threshold, region);
    fill(image, x, y - 1, label, here, threshold, region);
}

static double segmentation_loss(const double *pixels, int width, int height, double threshold)
{
    struct image image = {width, height, pixels, calloc((size_t)(width * height), 1)};
    unsigned char label = 0;
    double loss = 0.0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            if (image.label[y * width + x])
                continue;
            struct region region = {0, 0.0, 0.0, 0.0};
            fill(&image, x, y, ++label, pixels[y * width + x], threshold, &region);
            double mean = region.sum / region.pixels;
            loss += region.squares - region.pixels * mean * mean + (mean - 0.5) * (mean - 0.5) + 0.1 * region.brightest;
            label %= 200;
        }
    free(image.label);
    return loss;
}

enum { WIDTH = CORPUS_SIZE(20, 5), HEIGHT = CORPUS_SIZE(16, 4), SIZE = WIDTH * HEIGHT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(136);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            point[y * WIDTH + x] = 0.5 + 0.4 * sin(0.7 * x) * cos(0.5 * y) + corpus_uniform(-0.05, 0.05);
}

static double value(const double *x)
{
    return segmentation_loss(x, WIDTH, HEIGHT, 0.15);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)segmentation_loss, enzyme_dup, x, v, enzyme_const, WIDTH, enzyme_const, HEIGHT,
                            enzyme_const, 0.15);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)segmentation_loss, enzyme_dup, x, g, enzyme_const, WIDTH, enzyme_const, HEIGHT,
                      enzyme_const, 0.15);
}

static const struct corpus_problem problem = {
    .name = "flood_fill",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-20, // regions stay the same
    .fd_tolerance = 1e-6, // rounding over a small step
};

CORPUS_MAIN(&problem)
