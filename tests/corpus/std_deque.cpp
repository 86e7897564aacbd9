// std::deque as a sliding window: response of a room impulse filter with feedback. push_back and pop_front at each
// sample, so that blocks of the deque come and go.
//
// corpus: libc++ O0 O2
#include <deque>

#include "corpus.hpp"

static constexpr int TAPS = 6, SAMPLES = 120, SIZE = TAPS + 2;
static double signal[SAMPLES];

static double output_energy(const double *x)
{
    std::deque<double> window(TAPS, 0.0);
    double energy = 0.0, feedback = 0.0;
    for (int n = 0; n < SAMPLES; n++) {
        window.push_back(signal[n] + x[TAPS] * feedback);
        window.pop_front();
        double out = 0.0;
        for (size_t k = 0; k < TAPS; k++)
            out += x[k] * window[TAPS - 1 - k];
        feedback = tanh(out + x[TAPS + 1]);
        energy += out * out;
    }
    return energy / SAMPLES;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(31);
    corpus_fill(point, SIZE, -0.4, 0.5);
    corpus_fill(signal, SAMPLES, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_deque", output_energy, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
