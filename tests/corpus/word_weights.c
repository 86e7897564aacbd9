// A chained hash table from words to learned weights, filled and then looked up for every word of a text: a bag-of-
// words classifier. Each word's weight is w_i (1 + log(count so far)), so entries are changed while the text is read.
//
//   loss = log(1 + exp(-label score)) for each sentence, summed
//
// Source of the hash: FNV-1a, Fowler, Noll, Vo.
#include "corpus.h"

enum { BUCKETS = 16 };

struct entry {
    const char *word;
    unsigned length;
    int count;
    double weight;
    struct entry *next;
};

struct table {
    struct entry *buckets[BUCKETS];
    int used;
};

static unsigned hash(const char *word, unsigned length)
{
    unsigned h = 2166136261u;
    for (unsigned i = 0; i < length; i++)
        h = (h ^ (unsigned char)word[i]) * 16777619u;
    return h;
}

static struct entry *find(struct table *table, const char *word, unsigned length)
{
    for (struct entry *e = table->buckets[hash(word, length) % BUCKETS]; e; e = e->next)
        if (e->length == length && memcmp(e->word, word, length) == 0)
            return e;
    return NULL;
}

static void insert(struct table *table, const char *word, double weight)
{
    struct entry *entry = malloc(sizeof(*entry));
    unsigned length = (unsigned)strlen(word);
    struct entry **bucket = &table->buckets[hash(word, length) % BUCKETS];
    entry->word = word;
    entry->length = length;
    entry->count = 0;
    entry->weight = weight;
    entry->next = *bucket;
    *bucket = entry;
    table->used++;
}

static void destroy(struct table *table)
{
    for (int b = 0; b < BUCKETS; b++)
        while (table->buckets[b]) {
            struct entry *entry = table->buckets[b];
            table->buckets[b] = entry->next;
            free(entry);
        }
}

static double sentence_score(struct table *table, const char *text, double bias)
{
    double score = bias;
    while (*text) {
        unsigned length = 0;
        while (text[length] && text[length] != ' ')
            length++;
        struct entry *entry = find(table, text, length);
        if (entry) {
            entry->count++;
            score += entry->weight * (1.0 + log(entry->count));
            entry->weight *= 0.9;
        }
        text += length;
        while (*text == ' ')
            text++;
    }
    return score;
}

static double classifier_loss(const double *weights, const char *const *words, int word_count,
                              const char *const *sentences, const int *labels, int sentence_count)
{
    struct table *table = calloc(1, sizeof(struct table));
    double loss = 0.0;
    for (int i = 0; i < word_count; i++)
        insert(table, words[i], weights[i]);
    for (int s = 0; s < sentence_count; s++) {
        double score = sentence_score(table, sentences[s], weights[word_count]);
        loss += log1p(exp(-labels[s] * score));
    }
    destroy(table);
    free(table);
    return loss;
}

static const char *const words[] = {"the",  "good", "bad",   "film", "is",    "not",  "very", "boring", "plot", "great",
                                    "weak", "and",  "story", "was",  "actor", "hero", "poor", "end",    "a"};
static const char *const sentences[] = {"the film is very good", "the plot was weak and the end was bad",
                                        "not a bad story", "great actor and great hero", "poor poor boring story"};
static const int labels[] = {1, -1, 1, 1, -1};

enum { WORDS = 19, SENTENCES = 5, SIZE = WORDS + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(102);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return classifier_loss(x, words, WORDS, sentences, labels, SENTENCES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)classifier_loss, enzyme_dup, x, v, enzyme_const, words, enzyme_const, WORDS,
                            enzyme_const, sentences, enzyme_const, labels, enzyme_const, SENTENCES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)classifier_loss, enzyme_dup, x, g, enzyme_const, words, enzyme_const, WORDS, enzyme_const,
                      sentences, enzyme_const, labels, enzyme_const, SENTENCES);
}

static const struct corpus_problem problem = {
    .name = "word_weights",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
