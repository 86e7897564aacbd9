// Bodies of functions of the GNU C++ library that stand in its shared object: red-black trees (`std::map`, `std::set`)
// and doubly linked lists. They link nodes, and their derivatives link the shadows of nodes in the same way, which only
// a body can say. Of LLVM's C++ library (libc++) the counts of `std::shared_ptr` stand there, and what sorts arrays of
// numbers. And bodies of functions of the C library that search or move. The build compiles this file to bitcode.
//
// Trees after Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", chapter 13, with null for black leaves.
// The header of a tree is a node whose parent is the root and whose children are the first and the last node; the
// parent of the root is the header. The layouts are those of the library's ABI.

enum colour { red, black };

struct node {
    enum colour colour;
    struct node *parent, *left, *right;
};

struct link {
    struct link *next, *previous;
};

__attribute__((always_inline)) static void replace_child(struct node *header, struct node *parent, struct node *old,
                                                          struct node *now)
{
    if (parent == header)
        header->parent = now;
    else if (parent->left == old)
        parent->left = now;
    else
        parent->right = now;
}

__attribute__((always_inline)) static void rotate_left(struct node *x, struct node *header)
{
    struct node *y = x->right, *inner = y->left;
    x->right = inner;
    if (inner)
        inner->parent = x;
    y->parent = x->parent;
    replace_child(header, x->parent, x, y);
    y->left = x;
    x->parent = y;
}

__attribute__((always_inline)) static void rotate_right(struct node *x, struct node *header)
{
    struct node *y = x->left, *inner = y->right;
    x->left = inner;
    if (inner)
        inner->parent = x;
    y->parent = x->parent;
    replace_child(header, x->parent, x, y);
    y->right = x;
    x->parent = y;
}

void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(_Bool to_left, struct node *x,
                                                                       struct node *parent, struct node *header)
{
    x->parent = parent;
    x->left = 0;
    x->right = 0;
    x->colour = red;
    if (parent == header) {
        header->parent = x;
        header->left = x;
        header->right = x;
    } else if (to_left) {
        parent->left = x;
        if (parent == header->left)
            header->left = x;
    } else {
        parent->right = x;
        if (parent == header->right)
            header->right = x;
    }
    while (x != header->parent && x->parent->colour == red) {
        struct node *above = x->parent->parent;
        if (x->parent == above->left) {
            struct node *uncle = above->right;
            if (uncle && uncle->colour == red) {
                x->parent->colour = black;
                uncle->colour = black;
                above->colour = red;
                x = above;
            } else {
                if (x == x->parent->right) {
                    x = x->parent;
                    rotate_left(x, header);
                }
                x->parent->colour = black;
                above->colour = red;
                rotate_right(above, header);
            }
        } else {
            struct node *uncle = above->left;
            if (uncle && uncle->colour == red) {
                x->parent->colour = black;
                uncle->colour = black;
                above->colour = red;
                x = above;
            } else {
                if (x == x->parent->left) {
                    x = x->parent;
                    rotate_right(x, header);
                }
                x->parent->colour = black;
                above->colour = red;
                rotate_left(above, header);
            }
        }
    }
    header->parent->colour = black;
}

struct node *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(struct node *z, struct node *header)
{
    struct node *x, *parent;
    enum colour lost = z->colour;
    if (z == header->left) {
        // The first node has no left child.
        struct node *next = z->right;
        if (next)
            while (next->left)
                next = next->left;
        else
            next = z->parent;
        header->left = next;
    }
    if (z == header->right) {
        struct node *next = z->left;
        if (next)
            while (next->right)
                next = next->right;
        else
            next = z->parent;
        header->right = next;
    }
    if (!z->left || !z->right) {
        x = z->left ? z->left : z->right;
        parent = z->parent;
        if (x)
            x->parent = parent;
        replace_child(header, parent, z, x);
    } else {
        struct node *y = z->right;
        while (y->left)
            y = y->left;
        lost = y->colour;
        x = y->right;
        if (y->parent == z) {
            parent = y;
        } else {
            parent = y->parent;
            if (x)
                x->parent = parent;
            parent->left = x;
            y->right = z->right;
            y->right->parent = y;
        }
        y->left = z->left;
        y->left->parent = y;
        y->parent = z->parent;
        replace_child(header, z->parent, z, y);
        y->colour = z->colour;
    }
    if (lost == red)
        return z;
    while (x != header->parent && (!x || x->colour == black)) {
        if (x == parent->left) {
            struct node *w = parent->right;
            if (w->colour == red) {
                w->colour = black;
                parent->colour = red;
                rotate_left(parent, header);
                w = parent->right;
            }
            if ((!w->left || w->left->colour == black) && (!w->right || w->right->colour == black)) {
                w->colour = red;
                x = parent;
                parent = x->parent;
            } else {
                if (!w->right || w->right->colour == black) {
                    w->left->colour = black;
                    w->colour = red;
                    rotate_right(w, header);
                    w = parent->right;
                }
                w->colour = parent->colour;
                parent->colour = black;
                w->right->colour = black;
                rotate_left(parent, header);
                break;
            }
        } else {
            struct node *w = parent->left;
            if (w->colour == red) {
                w->colour = black;
                parent->colour = red;
                rotate_right(parent, header);
                w = parent->left;
            }
            if ((!w->left || w->left->colour == black) && (!w->right || w->right->colour == black)) {
                w->colour = red;
                x = parent;
                parent = x->parent;
            } else {
                if (!w->left || w->left->colour == black) {
                    w->right->colour = black;
                    w->colour = red;
                    rotate_left(w, header);
                    w = parent->left;
                }
                w->colour = parent->colour;
                parent->colour = black;
                w->left->colour = black;
                rotate_right(parent, header);
                break;
            }
        }
    }
    if (x)
        x->colour = black;
    return z;
}

struct node *_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(struct node *x)
{
    if (x->right) {
        x = x->right;
        while (x->left)
            x = x->left;
        return x;
    }
    struct node *up = x->parent;
    while (x == up->right) {
        x = up;
        up = up->parent;
    }
    // In a tree of one node the header is both.
    return x->right == up ? x : up;
}

struct node *_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(struct node *x)
{
    if (x->colour == red && x->parent->parent == x)
        return x->right;
    if (x->left) {
        x = x->left;
        while (x->right)
            x = x->right;
        return x;
    }
    struct node *up = x->parent;
    while (x == up->left) {
        x = up;
        up = up->parent;
    }
    return up;
}

// `std::sort` of an array by `<`: Williams, "Algorithm 232: Heapsort", Communications of the ACM 7 (1964). The third
// parameter is the comparison, an empty object.
#define SORT(number, symbol)                                                                                            \
    void symbol(number *first, number *last, void *less)                                                                \
    {                                                                                                                   \
        const long count = last - first;                                                                                \
        (void)less;                                                                                                     \
        for (long step = 0, half = count / 2; step < half + count - 1; step++) {                                        \
            const long size = step < half ? count : count - 1 - (step - half);                                          \
            long at = step < half ? half - 1 - step : 0;                                                                \
            const number moved = step < half ? first[at] : first[size];                                                 \
            if (step >= half)                                                                                           \
                first[size] = first[0];                                                                                 \
            for (long child = 2 * at + 1; child < size; child = 2 * at + 1) {                                           \
                child += child + 1 < size && first[child] < first[child + 1];                                           \
                if (!(moved < first[child]))                                                                            \
                    break;                                                                                              \
                first[at] = first[child];                                                                               \
                at = child;                                                                                             \
            }                                                                                                           \
            first[at] = moved;                                                                                          \
        }                                                                                                               \
    }

SORT(double, _ZNSt3__16__sortIRNS_6__lessIddEEPdEEvT0_S5_T_)
SORT(float, _ZNSt3__16__sortIRNS_6__lessIffEEPfEEvT0_S5_T_)

struct counts;

// The virtual functions of `std::__1::__shared_weak_count`, in the order of the ABI.
struct counts_table {
    void (*ends[2])(struct counts *);
    void (*on_zero)(struct counts *);
    const void *(*deleter)(const struct counts *, const void *);
    void (*on_zero_weak)(struct counts *);
};

// Both counts are of further owners: the last one finds zero.
struct counts {
    const struct counts_table *table;
    long owners, weak_owners;
};

void _ZNSt3__119__shared_weak_count14__release_weakEv(struct counts *self)
{
    if (__atomic_load_n(&self->weak_owners, __ATOMIC_ACQUIRE) == 0 ||
        __atomic_add_fetch(&self->weak_owners, -1, __ATOMIC_ACQ_REL) == -1)
        self->table->on_zero_weak(self);
}

struct counts *_ZNSt3__119__shared_weak_count4lockEv(struct counts *self)
{
    long owners = __atomic_load_n(&self->owners, __ATOMIC_SEQ_CST);
    while (owners != -1)
        if (__atomic_compare_exchange_n(&self->owners, &owners, owners + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return self;
    return 0;
}

void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct link *self, struct link *position)
{
    self->next = position;
    self->previous = position->previous;
    position->previous->next = self;
    position->previous = self;
}

void _ZNSt8__detail15_List_node_base9_M_unhookEv(struct link *self)
{
    struct link *next = self->next, *previous = self->previous;
    previous->next = next;
    next->previous = previous;
}

void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct link *self, struct link *first, struct link *last)
{
    if (self == last)
        return;
    struct link *before = self->previous;
    last->previous->next = self;
    first->previous->next = last;
    self->previous->next = first;
    self->previous = last->previous;
    last->previous = first->previous;
    first->previous = before;
}

void _ZNSt8__detail15_List_node_base10_M_reverseEv(struct link *self)
{
    struct link *at = self;
    do {
        struct link *next = at->next;
        at->next = at->previous;
        at->previous = next;
        at = next;
    } while (at != self);
}

void _ZNSt8__detail15_List_node_base4swapERS0_S1_(struct link *a, struct link *b)
{
    const int has_a = a->next != a, has_b = b->next != b;
    struct link *a_next = a->next, *a_previous = a->previous, *b_next = b->next, *b_previous = b->previous;
    if (has_b) {
        a->next = b_next;
        a->previous = b_previous;
        b_next->previous = a;
        b_previous->next = a;
    } else {
        a->next = a;
        a->previous = a;
    }
    if (has_a) {
        b->next = a_next;
        b->previous = a_previous;
        a_next->previous = b;
        a_previous->next = b;
    } else {
        b->next = b;
        b->previous = b;
    }
}

// <search.h>

void *lfind(const void *key, const void *base, unsigned long *count, unsigned long size,
            int (*compare)(const void *, const void *))
{
    char *element = (char *)base;
    for (unsigned long n = 0; n < *count; n++, element += size)
        if (compare(key, element) == 0)
            return element;
    return 0;
}

void *lsearch(const void *key, void *base, unsigned long *count, unsigned long size,
              int (*compare)(const void *, const void *))
{
    char *element = (char *)base;
    for (unsigned long n = 0; n < *count; n++, element += size)
        if (compare(key, element) == 0)
            return element;
    __builtin_memcpy(element, key, size);
    ++*count;
    return element;
}

// <wchar.h>: four bytes each.

int *wmemcpy(int *to, const int *from, unsigned long count)
{
    __builtin_memcpy(to, from, 4 * count);
    return to;
}

int *wmempcpy(int *to, const int *from, unsigned long count)
{
    __builtin_memcpy(to, from, 4 * count);
    return to + count;
}

int *wmemmove(int *to, const int *from, unsigned long count)
{
    __builtin_memmove(to, from, 4 * count);
    return to;
}

// As `_FORTIFY_SOURCE` calls them, with the room there is, in characters.

extern void __chk_fail(void) __attribute__((noreturn));

int *__wmemcpy_chk(int *to, const int *from, unsigned long count, unsigned long room)
{
    if (count > room)
        __chk_fail();
    return wmemcpy(to, from, count);
}

int *__wmempcpy_chk(int *to, const int *from, unsigned long count, unsigned long room)
{
    if (count > room)
        __chk_fail();
    return wmempcpy(to, from, count);
}

int *__wmemmove_chk(int *to, const int *from, unsigned long count, unsigned long room)
{
    if (count > room)
        __chk_fail();
    return wmemmove(to, from, count);
}
