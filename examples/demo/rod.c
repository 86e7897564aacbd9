// An inverse problem: what was the temperature along a rod, and how well does the rod conduct, when all that is known is a
// noisy measurement of its temperature at the end?
//
//   T_t = kappa T_xx on (0, 1),  T(0, t) = (1 + cos 6 pi t) / 2 (a plate),  T_x(1, t) = 0 (insulated),  T(x, 0) = T0(x)
//
// Unknown: T0 in 64 cells, and kappa. The loss is the misfit at t = 1 in units of the noise, plus Tikhonov's regularisation
// (second differences of T0), without which the backward heat equation is ill-posed. The waves that the plate, now hot, now
// cold, has sent into the rod are what tells the diffusivity apart from the initial temperature: under a steady plate no
// end state can. The gradient by reverse mode, through all the time steps, feeds L-BFGS.
//
// Sources: Nocedal, Wright, "Numerical Optimization", algorithm 7.4 (two-loop recursion); Lewis, Overton, "Nonsmooth
// optimization via quasi-Newton methods", Mathematical Programming 141 (2013), algorithm 2.6 (line search by bisection).
//
// clang -O2 -fpass-plugin=LLVMEnzyme-22.so rod.c -lm -o rod && ./rod rod.svg
// (-DROD_WITHOUT_PLUGIN takes gradients by finite differences instead, to compare.)
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CELLS = 64, STEPS = 400, UNKNOWNS = CELLS + 1, MEMORY = 10, MOST_ITERATIONS = 250 };

static const double true_diffusivity = 0.006, guessed_diffusivity = 0.012;
static const double noise = 0.003, smoothness = 1.0;

// ------------------------------------------------------------------------------------------------------- the model

// Advances the temperature in place by explicit steps; `left` keeps the neighbour's old value.
static void conduct(double *temperature, double diffusivity)
{
    double width = 1.0 / CELLS, ratio = diffusivity / STEPS / (width * width);
    for (int step = 0; step < STEPS; step++) {
        double plate = 0.5 + 0.5 * cos(6.0 * M_PI * step / STEPS);
        double left = 2.0 * plate - temperature[0]; // the mean of the cells on either side of the surface is the plate's
        for (int i = 0; i < CELLS; i++) {
            double here = temperature[i], right = i + 1 < CELLS ? temperature[i + 1] : here;
            temperature[i] = here + ratio * (left - 2.0 * here + right);
            left = here;
        }
    }
}

// unknowns = T0 in each cell, then log(kappa), which keeps kappa positive.
static double loss_of(const double *unknowns, const double *measured)
{
    double temperature[CELLS], misfit = 0.0, roughness = 0.0;
    memcpy(temperature, unknowns, sizeof(temperature));
    conduct(temperature, exp(unknowns[CELLS]));
    for (int i = 0; i < CELLS; i++) {
        double residual = (temperature[i] - measured[i]) / noise;
        misfit += residual * residual;
    }
    for (int i = 1; i + 1 < CELLS; i++) {
        double bend = CELLS * (unknowns[i - 1] - 2.0 * unknowns[i] + unknowns[i + 1]);
        roughness += bend * bend;
    }
    return 0.5 * misfit + 0.5 * smoothness * roughness;
}

// ----------------------------------------------------------------------------------------------------- its gradient

static void gradient_by_differences(const double *unknowns, const double *measured, double *gradient)
{
    double moved[UNKNOWNS];
    memcpy(moved, unknowns, sizeof(moved));
    for (int i = 0; i < UNKNOWNS; i++) {
        double step = 1e-6, sides[2];
        for (int side = 0; side < 2; side++) {
            moved[i] = unknowns[i] + (side ? -step : step);
            sides[side] = loss_of(moved, measured);
        }
        moved[i] = unknowns[i];
        gradient[i] = (sides[0] - sides[1]) / (2.0 * step);
    }
}

#ifdef ROD_WITHOUT_PLUGIN
#define gradient_of gradient_by_differences
#else
extern int enzyme_dup, enzyme_const;
extern double __enzyme_autodiff(void *, ...);

static void gradient_of(const double *unknowns, const double *measured, double *gradient)
{
    memset(gradient, 0, sizeof(double) * UNKNOWNS);
    __enzyme_autodiff((void *)loss_of, enzyme_dup, unknowns, gradient, enzyme_const, measured);
}
#endif

// --------------------------------------------------------------------------------------------------------- L-BFGS

struct history {
    int count;
    double loss[MOST_ITERATIONS + 1];
};

static double dot(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < UNKNOWNS; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_scaled(double *to, double factor, const double *from)
{
    for (int i = 0; i < UNKNOWNS; i++)
        to[i] += factor * from[i];
}

struct memory {
    int count; // pairs ever stored; the newest MEMORY of them are kept
    double moves[MEMORY][UNKNOWNS], changes[MEMORY][UNKNOWNS];
};

// The two-loop recursion: direction = -H gradient, H built from the stored pairs.
static void search_direction(const struct memory *memory, const double *gradient, double *direction)
{
    double weights[MEMORY] = {0.0};
    int oldest = memory->count > MEMORY ? memory->count - MEMORY : 0;
    for (int i = 0; i < UNKNOWNS; i++)
        direction[i] = -gradient[i];
    for (int k = memory->count - 1; k >= oldest; k--) {
        const double *move = memory->moves[k % MEMORY], *change = memory->changes[k % MEMORY];
        weights[k % MEMORY] = dot(move, direction) / dot(move, change);
        add_scaled(direction, -weights[k % MEMORY], change);
    }
    if (memory->count > 0) {
        int newest = (memory->count - 1) % MEMORY;
        double scale = dot(memory->moves[newest], memory->changes[newest]) /
                       dot(memory->changes[newest], memory->changes[newest]);
        for (int i = 0; i < UNKNOWNS; i++)
            direction[i] *= scale;
    }
    for (int k = oldest; k < memory->count; k++) {
        const double *move = memory->moves[k % MEMORY], *change = memory->changes[k % MEMORY];
        double weight = dot(change, direction) / dot(move, change);
        add_scaled(direction, weights[k % MEMORY] - weight, move);
    }
}

// Finds a step that meets the weak Wolfe conditions, by doubling and bisection. Returns 0 when there is none.
static double line_search(double *unknowns, double *loss, double *gradient, const double *direction,
                          const double *measured, double step)
{
    double start[UNKNOWNS], slope = dot(gradient, direction), before = *loss;
    double low = 0.0, high = INFINITY;
    memcpy(start, unknowns, sizeof(start));
    for (int trial = 0; trial < 40; trial++) {
        memcpy(unknowns, start, sizeof(start));
        add_scaled(unknowns, step, direction);
        *loss = loss_of(unknowns, measured);
        if (!(*loss <= before + 1e-4 * step * slope)) { // also where the scheme is unstable and the loss is no number
            high = step;
        } else {
            gradient_of(unknowns, measured, gradient);
            if (dot(gradient, direction) >= 0.9 * slope)
                return step;
            low = step;
        }
        step = isinf(high) ? 2.0 * low : 0.5 * (low + high);
    }
    memcpy(unknowns, start, sizeof(start));
    *loss = before;
    return 0.0;
}

static void report(int iteration, double loss, const double *gradient, const double *unknowns)
{
    printf("  iteration %3d  loss %12.5f  |gradient| %9.3e  kappa %.5f\n", iteration, loss,
           sqrt(dot(gradient, gradient)), exp(unknowns[CELLS]));
}

static void minimise(double *unknowns, const double *measured, struct history *history)
{
    static struct memory memory;
    double gradient[UNKNOWNS], direction[UNKNOWNS], old_unknowns[UNKNOWNS], old_gradient[UNKNOWNS];
    double loss = loss_of(unknowns, measured);
    gradient_of(unknowns, measured, gradient);
    double first_norm = sqrt(dot(gradient, gradient));
    history->loss[0] = loss;
    history->count = 1;
    report(0, loss, gradient, unknowns);
    for (int iteration = 1; iteration <= MOST_ITERATIONS; iteration++) {
        memcpy(old_unknowns, unknowns, sizeof(old_unknowns));
        memcpy(old_gradient, gradient, sizeof(old_gradient));
        search_direction(&memory, gradient, direction);
        double step = line_search(unknowns, &loss, gradient, direction, measured,
                                  memory.count ? 1.0 : 0.1 / sqrt(dot(gradient, gradient)));
        if (step == 0.0)
            break;
        double *move = memory.moves[memory.count % MEMORY], *change = memory.changes[memory.count % MEMORY];
        for (int i = 0; i < UNKNOWNS; i++) {
            move[i] = unknowns[i] - old_unknowns[i];
            change[i] = gradient[i] - old_gradient[i];
        }
        if (dot(move, change) > 0.0)
            memory.count++;
        history->loss[history->count++] = loss;
        int converged = sqrt(dot(gradient, gradient)) < 5e-5 * first_norm;
        if (iteration % 10 == 0 || converged)
            report(iteration, loss, gradient, unknowns);
        if (converged)
            break;
    }
}

// ------------------------------------------------------------------------------------------------------ the picture

struct panel {
    double left, top, width, height; // of the frame, in the picture
    double x_low, x_high, y_low, y_high;
};

static double across(const struct panel *panel, double x)
{
    return panel->left + panel->width * (x - panel->x_low) / (panel->x_high - panel->x_low);
}

static double down(const struct panel *panel, double y)
{
    return panel->top + panel->height * (panel->y_high - y) / (panel->y_high - panel->y_low);
}

static void draw_frame(FILE *svg, const struct panel *panel, const char *title, const char *x_label, double x_tick,
                       double y_tick, int logarithmic)
{
    double bottom = panel->top + panel->height, right = panel->left + panel->width;
    fprintf(svg, "<text x='%.1f' y='%.1f' class='title'>%s</text>\n", panel->left, panel->top - 12.0, title);
    for (double x = panel->x_low; x <= panel->x_high + 1e-9; x += x_tick)
        fprintf(svg,
                "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='grid'/>"
                "<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n",
                across(panel, x), panel->top, across(panel, x), bottom, across(panel, x), bottom + 17.0, x);
    for (double y = panel->y_low; y <= panel->y_high + 1e-9; y += y_tick) {
        fprintf(svg, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='grid'/>", panel->left, down(panel, y), right,
                down(panel, y));
        if (logarithmic)
            fprintf(svg,
                    "<text x='%.1f' y='%.1f' text-anchor='end'>10</text><text x='%.1f' y='%.1f' "
                    "style='font-size:9px'>%g</text>\n",
                    panel->left - 12.0, down(panel, y) + 4.0, panel->left - 11.0, down(panel, y) - 2.0, y);
        else
            fprintf(svg, "<text x='%.1f' y='%.1f' text-anchor='end'>%.1f</text>\n", panel->left - 7.0,
                    down(panel, y) + 4.0, fabs(y) < 1e-9 ? 0.0 : y);
    }
    fprintf(svg, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' class='frame'/>\n", panel->left, panel->top,
            panel->width, panel->height);
    fprintf(svg, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", 0.5 * (panel->left + right), bottom + 36.0,
            x_label);
}

static void draw_line(FILE *svg, const struct panel *panel, const double *x, const double *y, int count,
                      const char *style)
{
    fprintf(svg, "<polyline class='line' style='%s' points='", style);
    for (int i = 0; i < count; i++)
        fprintf(svg, "%.1f,%.1f ", across(panel, x[i]), down(panel, y[i]));
    fprintf(svg, "'/>\n");
}

static void draw_dots(FILE *svg, const struct panel *panel, const double *x, const double *y, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(svg, "<circle cx='%.1f' cy='%.1f' r='2.4' class='dot'/>", across(panel, x[i]), down(panel, y[i]));
    fprintf(svg, "\n");
}

// One line of a legend, its sample drawn before the text.
static void draw_key(FILE *svg, const struct panel *panel, int row, const char *style, const char *text)
{
    double x = panel->left + panel->width - 128.0, y = panel->top + 18.0 + 18.0 * row;
    if (style)
        fprintf(svg, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='line' style='%s'/>", x, y - 4.0, x + 24.0,
                y - 4.0, style);
    else
        fprintf(svg, "<circle cx='%.1f' cy='%.1f' r='2.4' class='dot'/>", x + 12.0, y - 4.0);
    fprintf(svg, "<text x='%.1f' y='%.1f'>%s</text>\n", x + 31.0, y, text);
}

static const char *const truth_style = "stroke:#888;stroke-width:3";
static const char *const guess_style = "stroke:#c9a227;stroke-dasharray:5 4";
static const char *const result_style = "stroke:#c0392b";

static int draw(const char *path, const double *truth, const double *result, const double *measured,
                const struct history *history)
{
    double x[CELLS], fitted[CELLS], guess[CELLS], rounds[MOST_ITERATIONS + 1], logs[MOST_ITERATIONS + 1];
    memcpy(fitted, result, sizeof(fitted));
    conduct(fitted, exp(result[CELLS]));
    for (int i = 0; i < CELLS; i++) {
        x[i] = (i + 0.5) / CELLS;
        guess[i] = 0.5;
    }
    for (int i = 0; i < history->count; i++) {
        rounds[i] = i;
        logs[i] = log10(history->loss[i]);
    }
    FILE *svg = fopen(path, "w");
    if (!svg) {
        fprintf(stderr, "rod: cannot write %s\n", path);
        return 1;
    }
    double tick = history->count > 120 ? 50.0 : 20.0, rounds_high = tick * ceil((history->count - 1) / tick);
    struct panel initial = {52.0, 96.0, 320.0, 270.0, 0.0, 1.0, 0.0, 1.4};
    struct panel final = {442.0, 96.0, 320.0, 270.0, 0.0, 1.0, 0.0, 1.4};
    struct panel descent = {832.0, 96.0, 320.0, 270.0, 0.0, rounds_high, floor(logs[history->count - 1]),
                            ceil(logs[0])};
    fprintf(svg, "<svg xmlns='http://www.w3.org/2000/svg' width='1180' height='430' viewBox='0 0 1180 430'>\n"
                 "<style>text{font:12px sans-serif;fill:#333}.head{font-size:18px;font-weight:bold}"
                 ".title{font-size:14px;font-weight:bold}.grid{stroke:#e4e4e4}.frame{fill:none;stroke:#555}"
                 ".line{fill:none;stroke-width:2;stroke-linejoin:round}.dot{fill:#2c6fad;fill-opacity:.75}</style>\n"
                 "<rect width='1180' height='430' fill='white'/>\n");
    fprintf(svg, "<text x='52' y='34' class='head'>A rod's past from its present, by reverse-mode gradients</text>\n");
    fprintf(svg,
            "<text x='52' y='56'>diffusivity: true %.4f, first guess %.4f, recovered %.4f; %d unknowns, %d time steps, "
            "%d iterations of L-BFGS</text>\n",
            true_diffusivity, guessed_diffusivity, exp(result[CELLS]), UNKNOWNS, STEPS, history->count - 1);

    draw_frame(svg, &initial, "Temperature at the start", "place along the rod", 0.2, 0.2, 0);
    draw_line(svg, &initial, x, truth, CELLS, truth_style);
    draw_line(svg, &initial, x, guess, CELLS, guess_style);
    draw_line(svg, &initial, x, result, CELLS, result_style);
    draw_key(svg, &initial, 0, truth_style, "true");
    draw_key(svg, &initial, 1, guess_style, "first guess");
    draw_key(svg, &initial, 2, result_style, "recovered");

    draw_frame(svg, &final, "Temperature at the end", "place along the rod", 0.2, 0.2, 0);
    draw_dots(svg, &final, x, measured, CELLS);
    draw_line(svg, &final, x, fitted, CELLS, result_style);
    draw_key(svg, &final, 0, NULL, "measured");
    draw_key(svg, &final, 1, result_style, "fitted");

    draw_frame(svg, &descent, "Loss", "iteration", tick, 1.0, 1);
    draw_line(svg, &descent, rounds, logs, history->count, result_style);
    fprintf(svg, "</svg>\n");
    if (fclose(svg) != 0) {
        fprintf(stderr, "rod: cannot write %s\n", path);
        return 1;
    }
    return 0;
}

// --------------------------------------------------------------------------------------------------------- the task

// Approximately normal: the sum of twelve uniform numbers less six.
static double random_normal(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

static void measure(double *truth, double *measured)
{
    uint64_t state = 20;
    for (int i = 0; i < CELLS; i++) {
        double x = (i + 0.5) / CELLS;
        truth[i] = 0.2 + 0.9 * exp(-pow((x - 0.42) / 0.13, 2.0)) + 0.5 * exp(-pow((x - 0.78) / 0.1, 2.0));
        measured[i] = truth[i];
    }
    conduct(measured, true_diffusivity);
    for (int i = 0; i < CELLS; i++)
        measured[i] += noise * random_normal(&state);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    double truth[CELLS], measured[CELLS], unknowns[UNKNOWNS], gradient[UNKNOWNS], differences[UNKNOWNS];
    static struct history history;
    measure(truth, measured);
    for (int i = 0; i < CELLS; i++)
        unknowns[i] = 0.5;
    unknowns[CELLS] = log(guessed_diffusivity);

    double start = seconds();
    gradient_of(unknowns, measured, gradient);
    double by_reverse = seconds();
    gradient_by_differences(unknowns, measured, differences);
    double by_differences = seconds();
    double error = 0.0, norm = sqrt(dot(differences, differences));
    for (int i = 0; i < UNKNOWNS; i++)
        error = fmax(error, fabs(gradient[i] - differences[i]) / norm);
    printf("  one gradient of %d unknowns: %.0f us, by finite differences %.0f us; they differ by %.1e\n", UNKNOWNS,
           1e6 * (by_reverse - start), 1e6 * (by_differences - by_reverse), error);

    minimise(unknowns, measured, &history);

    double distance = 0.0;
    for (int i = 0; i < CELLS; i++)
        distance += (unknowns[i] - truth[i]) * (unknowns[i] - truth[i]) / CELLS;
    distance = sqrt(distance);
    double diffusivity = exp(unknowns[CELLS]);
    printf("  diffusivity: true %.5f, recovered %.5f (%+.1f %%)\n", true_diffusivity, diffusivity,
           100.0 * (diffusivity / true_diffusivity - 1.0));
    printf("  initial temperature: root mean square error %.4f\n", distance);
    if (argc > 1 && draw(argv[1], truth, unknowns, measured, &history) != 0)
        return 1;
    // Well within what the noise allows: a wrong gradient does not get here.
    int recovered = fabs(diffusivity / true_diffusivity - 1.0) < 0.05 && distance < 0.08 && error < 1e-5;
    if (!recovered)
        printf("  NOT recovered\n");
    return !recovered;
}
