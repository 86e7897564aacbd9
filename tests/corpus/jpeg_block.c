// Rate and distortion of an image under a blockwise 8x8 cosine transform with soft quantisation, coefficients in zigzag
// order by a static table that is filled at the first call. Active: pixels and the quality scale.
// Source: Wallace, "The JPEG still picture compression standard", Comm. ACM 34 (1991).
#include "corpus.h"

enum { B = 8 };

static double cosines[B][B];
static unsigned char zigzag[B * B];
static int ready;

static void prepare(void)
{
    int at = 0;
    for (int k = 0; k < B; k++)
        for (int i = 0; i < B; i++)
            cosines[k][i] = (k ? 0.5 : 0.35355339059327373) * cos((2 * i + 1) * k * 0.19634954084936207);
    for (int s = 0; s < 2 * B - 1; s++)
        for (int i = 0; i <= s; i++) {
            int row = s % 2 ? i : s - i, column = s - row;
            if (row < B && column < B)
                zigzag[at++] = (unsigned char)(row * B + column);
        }
    ready = 1;
}

static void transform(double block[B][B], int inverse)
{
    double rows[B][B];
    for (int i = 0; i < B; i++)
        for (int k = 0; k < B; k++) {
            rows[i][k] = 0.0;
            for (int j = 0; j < B; j++)
                rows[i][k] += block[i][j] * (inverse ? cosines[j][k] : cosines[k][j]);
        }
    for (int k = 0; k < B; k++)
        for (int j = 0; j < B; j++) {
            block[k][j] = 0.0;
            for (int i = 0; i < B; i++)
                block[k][j] += rows[i][j] * (inverse ? cosines[i][k] : cosines[k][i]);
        }
}

static double soft_round(double v)
{
    return v - sin(6.283185307179586 * v) * 0.12;
}

static double rate_distortion(const double *pixels, int width, int height, double quality)
{
    double rate = 0.0, distortion = 0.0;
    if (!ready)
        prepare();
    for (int y = 0; y < height; y += B)
        for (int x = 0; x < width; x += B) {
            double block[B][B], *flat = &block[0][0];
            for (int i = 0; i < B; i++)
                memcpy(block[i], pixels + (y + i) * width + x, sizeof(block[i]));
            transform(block, 0);
            for (int z = 0; z < B * B; z++) {
                double step = (2.0 + z) * quality, q = soft_round(flat[zigzag[z]] / step);
                rate += log1p(q * q) * (1.0 + 0.1 * z);
                flat[zigzag[z]] = q * step;
            }
            transform(block, 1);
            for (int i = 0; i < B; i++)
                for (int j = 0; j < B; j++) {
                    double error = block[i][j] - pixels[(y + i) * width + x + j];
                    distortion += error * error;
                }
        }
    return rate + distortion / (width * height);
}

enum { WIDTH = CORPUS_SIZE(24, 8), HEIGHT = CORPUS_SIZE(16, 8), SIZE = WIDTH * HEIGHT + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(192);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        point[i] = 10.0 * sin(0.3 * (i % WIDTH)) * cos(0.2 * (i / WIDTH)) + corpus_uniform(-3.0, 3.0);
    point[SIZE - 1] = 0.7;
}

static double loss(const double *x)
{
    return rate_distortion(x, WIDTH, HEIGHT, x[SIZE - 1]);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "jpeg_block",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 2048.0, // the soft rounding has a period of one quantisation step
    .fd_tolerance = 1e-6, // likewise
};

CORPUS_MAIN(&problem)
