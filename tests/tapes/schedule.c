// The schedule of checkpointed loops by itself: a loop whose state is one number, the step, run forward and back under
// many limits. Each step is reversed once, the last first, from the right state; what is taken stays within the limit;
// and no more steps are repeated than the schedule reckons with, which is what Griewank and Walther (2000) call
// optimal.
#include "../../core/llvm/bridge/checkpoint.c"

int printf(const char *, ...);

enum { STATE = 40 };

static int failures;

static void check(int holds, const char *what, number steps, number bytes, number row, number known)
{
    if (!holds && failures++ < 20)
        printf("%s: %lld steps, %lld bytes, %lld a step, %s\n", what, steps, bytes, row, known ? "known" : "not known");
}

static void run(number steps, number bytes, number row, int known)
{
    number state[STATE / sizeof(number)] = {0};
    struct schedule *s = enzyme_checkpoint_new(bytes, 0, known ? steps : -1, row);
    enzyme_checkpoint_region(s, (char *)state, sizeof state, 1);
    enzyme_checkpoint_begin(s);
    const number entry = (number)(sizeof state + 3 * sizeof *s->kept), block = s->block, most = s->most;
    check(block == 1 || block * row + most * entry <= bytes, "too much is taken", steps, bytes, row, known);
    while (state[0] < steps) {
        number count = enzyme_checkpoint_before(s);
        check(count > 0, "no step is done", steps, bytes, row, known);
        state[0] += count;
    }
    check(state[0] == steps, "too many steps are done", steps, bytes, row, known);
    enzyme_checkpoint_turn(s);
    number left = steps, again = 0, widest = 0, made = 0, last = s->kept[s->used - 1].step / block;
    for (number n; made = s->made, (n = enzyme_checkpoint_next(s));) {
        if (n > 0) {
            state[0] += n;
            again += n;
            continue;
        }
        check(state[0] == left + n, "not the last steps are reversed", steps, bytes, row, known);
        left = state[0];
        if (-n > widest)
            widest = -n;
        // What a derivative leaves behind is nothing.
        state[0] = -1;
    }
    check(left == 0 && state[0] == steps, "not all steps are reversed", steps, bytes, row, known);
    check(widest <= block, "too many steps are reversed at once", steps, bytes, row, known);
    check(made <= most, "too many states are kept", steps, bytes, row, known);
    const number count = blocks(steps, block);
    if (known && block == 1)
        check(again == cost(count, most) - last, "not as often as is optimal", steps, bytes, row, known);
    if (known)
        check(again <= (cost(count, most) - last) * block, "too often", steps, bytes, row, known);
    // Two halves, one of which may be for nothing.
    if (!known && most > 1 && count <= most / 2)
        check(again <= steps, "too often", steps, bytes, row, known);
}

int main(void)
{
    const number rows[] = {0, 8, 40, 400, 4000}, limits[] = {0, 1, 100, 1000, 10000, 100000, 1000000};
    for (number steps = 1; steps <= 3000; steps += 1 + steps / 4)
        for (int r = 0; r < 5; r++)
            for (int l = 0; l < 7; l++)
                for (int known = 0; known < 2; known++)
                    if (limits[l] > 100 || steps <= 300)
                        run(steps, limits[l], rows[r], known);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
