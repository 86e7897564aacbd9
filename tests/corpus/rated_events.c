// Small structs by value with active floats beside ints and chars: the calling convention packs them into integer
// registers. A rating system: games are events {rating change, count} that are combined pairwise up a tree, players'
// ratings are {char, float, short} records handed through functions by value. Loss = log-likelihood of the results +
// drift.
// Source: Elo, "The Rating of Chessplayers", chapter 8.
#include "corpus.h"

struct tally {
    float change;
    int games;
};

struct rating {
    char title;
    float points;
    short year;
};

__attribute__((noinline)) static struct tally combine(struct tally a, struct tally b)
{
    struct tally c = {a.change + b.change * 0.9f, a.games + b.games};
    return c;
}

__attribute__((noinline)) static struct tally play(struct rating white, struct rating black, int result)
{
    float expected = 1.0f / (1.0f + expf(black.points - white.points - (white.title == 'G' ? 0.125f : 0.0f)));
    struct tally t = {((float)result - expected) * (white.year > 1990 ? 0.25f : 0.5f), 1};
    return t;
}

__attribute__((noinline)) static struct rating updated(struct rating player, struct tally tally)
{
    player.points += tally.change / (float)(1 + tally.games);
    player.year++;
    return player;
}

static double season_loss(const float *start, int players, int rounds)
{
    struct rating ratings[16];
    double loss = 0.0;
    for (int i = 0; i < players; i++)
        ratings[i] = (struct rating){i % 3 ? 'M' : 'G', start[i], (short)(1985 + i)};
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < players; i++) {
            struct tally tally = {0.0f, 0};
            for (int k = 1; k <= 3; k++)
                tally = combine(tally, play(ratings[i], ratings[(i + k + r) % players], (i * k + r) % 2));
            ratings[i] = updated(ratings[i], tally);
            loss += (double)tally.change * tally.change;
        }
    for (int i = 0; i < players; i++)
        loss += 0.1 * ratings[i].points * ratings[i].points;
    return loss;
}

enum { SIZE = CORPUS_SIZE(10, 5), ROUNDS = CORPUS_SIZE(6, 2) };

static double point[SIZE];
static float start[SIZE], shadow[SIZE];

static void setup(void)
{
    corpus_seed(226);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    for (int i = 0; i < SIZE; i++)
        start[i] = (float)x[i];
    return season_loss(start, SIZE, ROUNDS);
}

static double tangent(const double *x, const double *v)
{
    for (int i = 0; i < SIZE; i++) {
        start[i] = (float)x[i];
        shadow[i] = (float)v[i];
    }
    return __enzyme_fwddiff((void *)season_loss, enzyme_dup, start, shadow, enzyme_const, SIZE, enzyme_const, ROUNDS);
}

static void gradient(const double *x, double *g)
{
    for (int i = 0; i < SIZE; i++)
        start[i] = (float)x[i];
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)season_loss, enzyme_dup, start, shadow, enzyme_const, SIZE, enzyme_const, ROUNDS);
    for (int i = 0; i < SIZE; i++)
        g[i] = shadow[i];
}

static const struct corpus_problem problem = {
    .name = "rated_events",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 16.0,
    .fd_tolerance = 5e-3,  // floats: 24 bits
    .dot_tolerance = 1e-4, // likewise
};

CORPUS_MAIN(&problem)
