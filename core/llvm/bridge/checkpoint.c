// The schedule of a checkpointed loop at run time: which states of the loop are kept, and which steps are done again.
// The build compiles this to bitcode, `schedule.cpp` links it to the module that needs it.
//
// A state is the content of all regions that the loop may write, but for temporaries, which each step fills before it
// reads them. The forward sweep asks `before` how many steps to do, until the loop is left. Where their number is known on
// entry, states are kept where binomial checkpointing wants them (Griewank, Walther, "Algorithm 799: revolve", ACM TOMS
// 26, 2000); else at equal distances, which double, with every other state dropped, when there is no more room (after
// Stumm, Walther, "New algorithms for optimal online checkpointing", SIAM J. Sci. Comput. 32, 2010, whose rule for what is
// dropped is finer). The reverse sweep asks `next` what to do until it says so. From each state that is kept, steps are
// repeated binomially with the room that is free then.
//
// Steps are reversed in *blocks* of several, whose caches stand beside the states within the limit. What is said of steps
// below holds for blocks: a block is done again once less than its steps would be one by one, since its derivative does so
// itself. Of all sizes of blocks, the one is taken with which the fewest steps are done again, and of these the one that
// takes the least memory: where one repetition of all suffices, about as much for caches as for states.
//
// With c states, the one at the start among them, and r repetitions of any step, l <= C(c+r, r) steps can be reversed.
// Optimal is any first advance m with  C(c+r-2, r-2) <= m <= C(c+r-1, r-1)  and
// C(c+r-2, r-1) <= l-m <= C(c+r-1, r).
//
// Regions that the loop only reads are kept once if anyone may have overwritten them in between. What the program left
// in memory is put aside during the reverse sweep and back at its end.

typedef long long number;
typedef unsigned long long size;

void *malloc(size);
void *realloc(void *, size);
void free(void *);
void *memcpy(void *, const void *, size);
int memcmp(const void *, const void *, size);
void abort(void);
long write(int, const void *, size);

struct region {
    char *at;
    size bytes;
};

struct regions {
    struct region *all;
    number count, room;
    size bytes;
};

struct snapshot {
    number step;
    char *data;
};

struct schedule {
    struct regions state, temporary, read;
    struct snapshot *kept; // steps ascending; behind the first `used` free buffers
    number used, made, room;
    number bytes;  // for states and caches, less than 0 if states are counted
    number row;    // bytes of the caches of a step, 0 if that is not known
    number most;   // states that may be kept at once
    number block;  // steps that are reversed at once
    number known;  // steps, or -1
    number next;   // step at which the forward sweep keeps the next state
    number stride; // distance of states where the number of steps is not known
    number now;    // step at which memory is; -1 if it is no state
    number end;    // steps that were done, less those that were reversed
    number store;  // step at which the reverse sweep keeps the next state, or -1
    char *last, *first_read;
};

static void *grow(void *old, size bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p) {
        char text[] = "enzyme: out of memory for the states of a checkpointed loop\n";
        write(2, text, sizeof text - 1);
        abort();
    }
    return p;
}

// C(n, k) for small min(k, n-k), no more than a large number.
static number choose(number n, number k)
{
    const number large = 1LL << 40;
    if (k < 0 || n < k)
        return 0;
    if (k > n - k)
        k = n - k;
    number c = 1;
    for (number i = 1; i <= k; i++) {
        c = c * (n - k + i) / i;
        if (c > large)
            return large;
    }
    return c;
}

// The least number of repetitions with which `steps` can be reversed from `states`.
static number repetitions(number steps, number states)
{
    // From one state each step is reached from the start.
    number r = states == 1 ? steps - 1 : 0;
    while (choose(states + r, r) < steps)
        r++;
    return r;
}

// Where the second state is kept if the first is at 0.
static number split(number steps, number states)
{
    if (steps <= 2)
        return 1;
    number r = repetitions(steps, states);
    number most = choose(states + r - 1, r - 1), rest = choose(states + r - 2, r - 1);
    number m = steps - rest < most ? steps - rest : most;
    return m < 1 ? 1 : m >= steps ? steps - 1 : m;
}

// Steps done again in the reversal of `steps` from `states`.
static number cost(number steps, number states)
{
    number r = repetitions(steps, states);
    return r * steps - choose(states + r, r - 1);
}

// Blocks of `size` steps, the last of which may be shorter.
static number blocks(number steps, number size)
{
    return (steps + size - 1) / size;
}

// Chooses the block and the number of states for so many bytes, where each state takes `state`.
static void share_out(struct schedule *s, number state)
{
    s->block = 1;
    s->most = s->bytes / state;
    if (s->row <= 0 || s->bytes < state)
        return;
    if (s->known < 0) {
        // Half for the caches; the states may turn out to be few.
        number room = s->bytes / 2 < s->bytes - state ? s->bytes / 2 : s->bytes - state, size = room / s->row;
        if (size > 1) {
            s->block = size;
            s->most = (s->bytes - size * s->row) / state;
        }
        return;
    }
    number least = -1, smallest = 0;
    for (number size = 1; size * s->row <= s->bytes - state; size += 1 + size / 8) {
        number count = blocks(s->known, size), states = (s->bytes - size * s->row) / state;
        if (states > count)
            states = count;
        // All are done once in any case, in the forward sweep.
        const number most = 1LL << 40, times = count > 1 ? cost(count, states) - (count - 1) : 0;
        number again = times < most / size ? size * times : most;
        number taken = size * s->row + states * state;
        if (least < 0 || again < least || (again == least && taken < smallest)) {
            least = again;
            smallest = taken;
            s->block = size;
            s->most = states;
        }
        if (count <= 1)
            break;
    }
}

static void add(struct regions *r, char *at, size bytes)
{
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 8;
        r->all = grow(r->all, (size)r->room * sizeof *r->all);
    }
    // By address.
    number i = r->count++;
    for (; i > 0 && r->all[i - 1].at > at; i--)
        r->all[i] = r->all[i - 1];
    r->all[i].at = at;
    r->all[i].bytes = bytes;
}

// Regions that overlap become one: they are of one object, and so are their shadows where this is differentiated. Those that merely
// touch may be of two, whose shadows lie elsewhere.
static void join(struct regions *r)
{
    number n = 0;
    for (number i = 0; i < r->count; i++) {
        char *end = r->all[i].at + r->all[i].bytes;
        if (n && r->all[i].at < r->all[n - 1].at + r->all[n - 1].bytes) {
            if (end > r->all[n - 1].at + r->all[n - 1].bytes)
                r->all[n - 1].bytes = (size)(end - r->all[n - 1].at);
        } else {
            r->all[n++] = r->all[i];
        }
    }
    r->count = n;
    r->bytes = 0;
    for (number i = 0; i < n; i++)
        r->bytes += r->all[i].bytes;
}

static void save(const struct regions *r, char *to)
{
    for (number i = 0; i < r->count; i++) {
        memcpy(to, r->all[i].at, r->all[i].bytes);
        to += r->all[i].bytes;
    }
}

// What is only read and is the same is not written: it may lie in memory that cannot be. A state that is the same may have other
// tangents, where this is differentiated.
static void restore(const struct regions *r, const char *from, int is_state)
{
    for (number i = 0; i < r->count; i++) {
        if (is_state || memcmp(r->all[i].at, from, r->all[i].bytes))
            memcpy(r->all[i].at, from, r->all[i].bytes);
        from += r->all[i].bytes;
    }
}

static void keep(struct schedule *s, number step)
{
    if (s->used == s->room) {
        s->room = s->room ? 2 * s->room : 16;
        s->kept = grow(s->kept, (size)s->room * sizeof *s->kept);
    }
    if (s->used == s->made) {
        s->kept[s->made].data = grow(0, s->state.bytes);
        s->made++;
    }
    s->kept[s->used].step = step;
    save(&s->state, s->kept[s->used].data);
    s->used++;
}

// Drops every other state, never the first.
static void thin(struct schedule *s)
{
    number n = 0;
    for (number i = 0; i < s->used; i++)
        if (i % 2 == 0) {
            struct snapshot swap = s->kept[n];
            s->kept[n++] = s->kept[i];
            s->kept[i] = swap;
        }
    s->used = n;
}

// `bytes`: room for states and caches, less than 0 for `states` states. `steps`: their number, less than 0 if it is not
// known. `row`: bytes that each of them caches, 0 if that is not known.
void *enzyme_checkpoint_new(number bytes, number states, number steps, number row)
{
    struct schedule *s = grow(0, sizeof *s);
    struct schedule empty = {0};
    *s = empty;
    s->bytes = bytes;
    s->row = row;
    s->most = states;
    s->block = 1;
    s->known = steps;
    s->store = -1;
    return s;
}

// `written`: whether the loop may write there. Bytes below zero: what is left there between steps is not read.
void enzyme_checkpoint_region(void *schedule, char *at, number bytes, number written)
{
    struct schedule *s = schedule;
    if (bytes > 0)
        add(written ? &s->state : &s->read, at, (size)bytes);
    else if (bytes < 0)
        add(&s->temporary, at, (size)-bytes);
}

void enzyme_checkpoint_begin(void *schedule)
{
    struct schedule *s = schedule;
    join(&s->state);
    join(&s->temporary);
    join(&s->read);
    // The list of states grows by doubling: old and new, it takes three entries for each.
    if (s->bytes >= 0)
        share_out(s, (number)(s->state.bytes + 3 * sizeof *s->kept));
    if (s->most < 1)
        s->most = 1;
    s->stride = s->block;
    if (s->read.count) {
        s->first_read = grow(0, s->read.bytes);
        save(&s->read, s->first_read);
    }
}

// How many steps to do now.
number enzyme_checkpoint_before(void *schedule)
{
    struct schedule *s = schedule;
    number step = s->end;
    if (s->known >= 0) {
        if (step == s->next) {
            keep(s, step);
            number states = s->most - s->used, steps = blocks(s->known - step, s->block);
            s->next = states < 1 || steps < 2 ? -1 : step + split(steps, states + 1) * s->block;
        }
        number goal = s->next < 0 ? s->known : s->next;
        s->end = goal > step ? goal : step + 1;
        return s->end - step;
    }
    s->end++;
    if (step != s->next)
        return 1;
    if (s->used == s->most) {
        if (s->most == 1) {
            s->next = -1;
            return 1;
        }
        thin(s);
        s->stride *= 2;
        if (step % s->stride) {
            s->next = step - step % s->stride + s->stride;
            return 1;
        }
    }
    keep(s, step);
    s->next = step + s->stride;
    return 1;
}

// Blocks done again in the reversal of everything if every `by`-th state is kept.
static number cost_of(const struct schedule *s, number by)
{
    number left = (s->used + by - 1) / by, end = s->end, sum = 0;
    for (; left > 0; left--) {
        number step = s->kept[(left - 1) * by].step;
        sum += cost(blocks(end - step, s->block), s->most - left + 1);
        end = step;
    }
    return sum;
}

void enzyme_checkpoint_turn(void *schedule)
{
    struct schedule *s = schedule;
    s->last = grow(0, s->state.bytes + s->temporary.bytes);
    save(&s->state, s->last);
    save(&s->temporary, s->last + s->state.bytes);
    if (s->first_read) {
        char *now = grow(0, s->read.bytes);
        save(&s->read, now);
        restore(&s->read, s->first_read, 0);
        free(s->first_read);
        s->first_read = now;
    }
    s->now = -1;
    if (s->known >= 0 || blocks(s->end, s->block) <= s->used)
        return;
    // Room for what is done again may be worth more than states.
    number best = 1, least = cost_of(s, 1);
    for (number by = 2; by < 2 * s->used; by *= 2) {
        number c = cost_of(s, by);
        if (c < least) {
            least = c;
            best = by;
        }
    }
    for (; best > 1; best /= 2)
        thin(s);
}

// Where the next state is kept from here on, or -1.
static number store_from(const struct schedule *s)
{
    number steps = blocks(s->end - s->now, s->block), states = s->most - s->used + 1;
    return states > 1 && steps > 2 ? s->now + split(steps, states) * s->block : -1;
}

// How many steps to do again; less than zero: to reverse; 0: all are.
number enzyme_checkpoint_next(void *schedule)
{
    struct schedule *s = schedule;
    if (s->end == 0) {
        // Regions that are only read first: they may hold parts of the state.
        if (s->first_read)
            restore(&s->read, s->first_read, 0);
        restore(&s->state, s->last, 1);
        restore(&s->temporary, s->last + s->state.bytes, 1);
        for (number i = 0; i < s->made; i++)
            free(s->kept[i].data);
        free(s->kept);
        free(s->state.all);
        free(s->temporary.all);
        free(s->read.all);
        free(s->last);
        free(s->first_read);
        free(s);
        return 0;
    }
    if (s->now < 0) {
        while (s->used > 1 && s->kept[s->used - 1].step >= s->end)
            s->used--;
        restore(&s->state, s->kept[s->used - 1].data, 1);
        s->now = s->kept[s->used - 1].step;
        s->store = store_from(s);
    } else if (s->now == s->store) {
        keep(s, s->now);
        s->store = store_from(s);
    }
    number steps = s->end - s->now;
    if (steps <= s->block) {
        s->end = s->now;
        s->now = -1;
        s->store = -1;
        return -steps;
    }
    number goal = s->now + (blocks(steps, s->block) - 1) * s->block;
    if (s->store >= 0 && s->store < goal)
        goal = s->store;
    steps = goal - s->now;
    s->now = goal;
    return steps;
}
