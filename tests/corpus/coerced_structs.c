// Structs of every class of the calling convention, passed and returned by value: two floats in one register, a float
// and an int, a double and an int, three doubles (memory), a struct of one double. A tolerance analysis of a belt
// drive: torque is passed from pulley to pulley, with slip and losses.
#include "corpus.h"

struct ratio {
    float driving, driven;
};
struct loss_model {
    float friction;
    int bearings;
};
struct torque {
    double newton_metres;
};
struct stage_result {
    double power;
    int slipping;
};
struct shaft {
    double torque, speed, temperature;
};

static struct torque transmit(struct torque input, struct ratio ratio)
{
    struct torque output = {input.newton_metres * ratio.driven / ratio.driving};
    return output;
}

static struct ratio worn(struct ratio ratio, double wear)
{
    ratio.driven = (float)(ratio.driven * (1.0 - wear));
    return ratio;
}

static struct stage_result power_after(struct torque torque, double speed, struct loss_model model)
{
    struct stage_result result;
    result.power = torque.newton_metres * speed;
    for (int b = 0; b < model.bearings; b++)
        result.power *= 1.0 - model.friction;
    result.slipping = torque.newton_metres > 40.0;
    return result;
}

static struct shaft drive(struct shaft input, struct ratio ratio, struct loss_model model)
{
    struct shaft output;
    struct torque torque = transmit((struct torque){input.torque}, worn(ratio, 1e-3 * input.temperature));
    output.speed = input.speed * ratio.driving / ratio.driven;
    struct stage_result stage = power_after(torque, output.speed, model);
    if (stage.slipping)
        stage.power *= 0.9;
    output.torque = stage.power / output.speed;
    output.temperature = input.temperature + 0.05 * (torque.newton_metres * output.speed - stage.power);
    return output;
}

static double drive_loss(const double *x, const struct ratio *ratios, const struct loss_model *models, int stages)
{
    struct shaft shaft = {x[0], x[1], x[2]};
    double heat = 0.0;
    for (int i = 0; i < stages; i++) {
        shaft = drive(shaft, ratios[i], models[i]);
        heat += shaft.temperature * x[3 + i];
    }
    return shaft.torque * shaft.speed / 10.0 + heat;
}

enum { STAGES = 6, SIZE = 3 + STAGES };

static double point[SIZE] = {12.0, 9.0, 2.0, 0.5, -0.25, 1.0, 0.75, 0.3, 0.4};
static struct ratio ratios[STAGES];
static struct loss_model models[STAGES];

static void setup(void)
{
    for (int i = 0; i < STAGES; i++) {
        ratios[i] = (struct ratio){1.0f + 0.25f * (float)(i % 3), 2.0f - 0.25f * (float)(i % 4)};
        models[i] = (struct loss_model){0.015625f * (float)(1 + i % 2), 1 + i % 3};
    }
}

static double value(const double *x)
{
    return drive_loss(x, ratios, models, STAGES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)drive_loss, enzyme_dup, x, v, enzyme_const, ratios, enzyme_const, models,
                            enzyme_const, STAGES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)drive_loss, enzyme_dup, x, g, enzyme_const, ratios, enzyme_const, models, enzyme_const,
                      STAGES);
}

static const struct corpus_problem problem = {
    .name = "coerced_structs",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 8.0, // the ratio is rounded to float
    .fd_tolerance = 2e-4, // likewise
};

CORPUS_MAIN(&problem)
