// aborts[E0301]: bytes that are taken for characters, since there are some in that memory, are those of an active float
#include <stdlib.h>
#include <string.h>

extern double __enzyme_autodiff(void *, const double *, double *, size_t);

struct record {
    char *text;
    double value;
    char room[24];
};

// Reached through a pointer to the record itself, which is of one class with the records.
static void put(struct record *r, const void *from, size_t bytes)
{
    r->text = r->room;
    r->room[0] = 'a';
    if (bytes > 20)
        r->text = malloc(bytes + 1);
    memcpy(r->text, from, bytes);
    r->text[bytes] = 0;
}

static double moved(const double *x, size_t bytes)
{
    struct record *records = calloc(4, sizeof(struct record));
    for (size_t i = 0; i < 4; i++)
        put(&records[i], "name", bytes / 2);
    for (size_t i = 0; i < 4; i++)
        records[i].value = x[i % 2] * x[i % 2];
    put(&records[bytes % 4], &records[bytes % 3].value, bytes);
    // In two halves: neither has a derivative of its own.
    char *value = (char *)&records[bytes % 5 - 2].value;
    memmove(value, records[bytes % 4].text, bytes / 2);
    memmove(value + bytes / 2, records[bytes % 4].text + bytes / 2, bytes - bytes / 2);
    double sum = records[1].value * x[1];
    free(records);
    return sum;
}

int main(void)
{
    volatile size_t bytes = sizeof(double);
    double x[2] = {1.5, 2.0}, dx[2] = {0.0, 0.0};
    __enzyme_autodiff((void *)moved, x, dx, bytes);
    return dx[0] == 6.0;
}
