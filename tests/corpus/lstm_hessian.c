// The full Hessian of the recurrent network of ADBench, whose gradient passes through global variables: the gradient program of lstm.c, differentiated again.
#define CORPUS_SMALL
#include "corpus.h"

#undef CORPUS_MAIN
#define CORPUS_MAIN(...)
#include "lstm.c"

#include "hessian.h"

static int of_second_order(void)
{
    return hessian_checks("lstm_hessian");
}

int main(void)
{
    struct corpus_problem again = problem;
    again.name = "lstm_hessian";
    again.extra = of_second_order;
    const struct corpus_problem *const problems[] = {&again};
    return corpus_run(problems, 1, 0);
}
