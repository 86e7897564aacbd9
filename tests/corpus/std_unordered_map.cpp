// std::unordered_map as a memo table of active values: the value of a game of dice with a biased die, E(s) = sum_f p_f
// E(s + f), E(s >= 12) = (s - 12)^2 + 1, computed by recursion with memoisation.
//
// corpus: libc++ O0 O2
#include <unordered_map>

#include "corpus.hpp"

struct Game {
    double probability[4];
    std::unordered_map<int, double> known;

    double expected(int score)
    {
        if (score >= 12)
            return (score - 12) * (score - 12) + 1.0;
        auto found = known.find(score);
        if (found != known.end())
            return found->second;
        double sum = 0.1 * sin(probability[score % 4]);
        for (int face = 0; face < 4; face++)
            sum += probability[face] * expected(score + face + 1);
        known.emplace(score, sum);
        return sum;
    }
};

static double value_of_game(const double *x)
{
    Game game;
    double sum = 0.0;
    for (int i = 0; i < 4; i++)
        sum += exp(x[i]);
    for (int i = 0; i < 4; i++)
        game.probability[i] = exp(x[i]) / sum;
    return game.expected(0);
}

static double point[4] = {0.1, -0.4, 0.3, 0.2};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_unordered_map", value_of_game, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
