// A legal union of views on the same bytes: a colour as named channels and as an array, a packet as header and as
// doubles (type punning through unions is defined in C). Tone mapping of an image of float colours with an active
// exposure curve.
//
//   L = 0.2126 r + 0.7152 g + 0.0722 b, scaled by (1 + L/w^2)/(1 + L)
//
// Source: Reinhard et al., "Photographic tone reproduction for digital images", SIGGRAPH 2002, equation 4.
#include "corpus.h"

union colour {
    struct {
        float r, g, b, alpha;
    };
    float channels[4];
};

union settings {
    struct {
        double exposure, white, gamma;
    };
    double all[3];
};

static union colour tone_map(union colour c, const union settings *s)
{
    for (int i = 0; i < 3; i++)
        c.channels[i] *= (float)s->exposure;
    double luminance = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
    double scale = (1.0 + luminance / (s->white * s->white)) / (1.0 + luminance);
    for (int i = 0; i < 3; i++)
        c.channels[i] = powf((float)(c.channels[i] * scale), (float)(1.0 / s->gamma));
    return c;
}

static double image_loss(const float *pixels, int count, const double *settings)
{
    union settings s;
    double loss = 0.0;
    for (int i = 0; i < 3; i++)
        s.all[i] = settings[i];
    for (int i = 0; i < count; i++) {
        union colour c;
        memcpy(&c, pixels + 4 * i, sizeof(c));
        c = tone_map(c, &s);
        double grey = (c.r + c.g + c.b) / 3.0;
        loss += c.alpha * (grey - 0.5) * (grey - 0.5);
    }
    return loss / count;
}

enum { COUNT = CORPUS_SIZE(100, 4), SIZE = 3 };

static double point[SIZE] = {1.2, 2.5, 2.2};
static float pixels[4 * COUNT];

static void setup(void)
{
    corpus_seed(121);
    for (int i = 0; i < 4 * COUNT; i++)
        pixels[i] = (float)corpus_uniform(0.1, 1.5);
}

static double value(const double *x)
{
    return image_loss(pixels, COUNT, x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)image_loss, enzyme_const, pixels, enzyme_const, COUNT, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)image_loss, enzyme_const, pixels, enzyme_const, COUNT, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "pun_union",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 16.0, // floats: 24 bits
    .fd_tolerance = 2e-3, // likewise
    .dot_tolerance = 1e-5, // likewise
};

CORPUS_MAIN(&problem)
