// The full Hessian of the Gaussian mixture of ADBench: the gradient program of gmm.c, differentiated again.
#define CORPUS_SMALL
#include "corpus.h"

#undef CORPUS_MAIN
#define CORPUS_MAIN(...)
#include "gmm.c"

#include "hessian.h"

static int of_second_order(void)
{
    return hessian_checks("gmm_hessian");
}

int main(void)
{
    struct corpus_problem again = problem;
    again.name = "gmm_hessian";
    again.extra = of_second_order;
    const struct corpus_problem *const problems[] = {&again};
    return corpus_run(problems, 1, 0);
}
