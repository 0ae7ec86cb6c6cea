/* Texts by group, in memory and behind it in a file; see print_log.h. */
#include "sim/exec/print_log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#include "base/oom.h"

enum { LOST = 0, PIECE = 64 << 10 };

typedef struct {
    uint64_t group;
    uint64_t at; /* below PRINT_LOG_BYTES: in memory, else in the file */
    uint64_t n;  /* LOST: there was no room */
} entry;

struct print_log {
    pthread_mutex_t lock;
    entry *entries;
    size_t n, cap;
    char *text;
    uint64_t in_memory, in_file;
    FILE *file;
};

print_log *print_log_create(void)
{
    print_log *p = oom_malloc(sizeof *p);

    *p = (print_log){.n = 0};
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void print_log_destroy(print_log *p)
{
    if (!p)
        return;
    if (p->file)
        fclose(p->file);
    pthread_mutex_destroy(&p->lock);
    free(p->entries);
    free(p->text);
    free(p);
}

/* Appends to the file. False: no room. */
static bool spill(print_log *p, const char *text, size_t n)
{
    if (!p->file)
        p->file = tmpfile();
    if (!p->file || fseeko(p->file, (off_t)p->in_file, SEEK_SET) ||
        fwrite(text, 1, n, p->file) != n || fflush(p->file)) {
        if (p->file)
            clearerr(p->file);
        return false;
    }
    return true;
}

/* NULL: no memory. */
static entry *new_entry(print_log *p)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        entry *more = realloc(p->entries, cap * sizeof *more);

        if (!more)
            return NULL;
        p->entries = more;
        p->cap = cap;
    }
    return &p->entries[p->n++];
}

void print_log_add(print_log *p, uint64_t group, const char *text, size_t n)
{
    entry *e;

    pthread_mutex_lock(&p->lock);
    if (!p->text)
        p->text = malloc(PRINT_LOG_BYTES);
    e = p->text ? new_entry(p) : NULL;
    if (!e) {
        pthread_mutex_unlock(&p->lock);
        oom_raise(PRINT_LOG_BYTES);
    }
    *e = (entry){group, p->in_memory, n};
    if (p->in_memory + n <= PRINT_LOG_BYTES) {
        memcpy(p->text + p->in_memory, text, n);
        p->in_memory += n;
    } else if (spill(p, text, n)) {
        e->at = PRINT_LOG_BYTES + p->in_file;
        p->in_file += n;
    } else {
        e->n = LOST;
    }
    pthread_mutex_unlock(&p->lock);
}

static int by_group(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    return (x->group > y->group) - (x->group < y->group);
}

static void give(print_log *p, const entry *e,
                 void (*print)(void *user, const char *text, size_t n),
                 void *user)
{
    static const char lost[] = "[printf: no room left for this output]\n";
    char piece[PIECE];
    uint64_t left = e->n;

    if (left == LOST) {
        print(user, lost, sizeof lost - 1);
        return;
    }
    if (e->at < PRINT_LOG_BYTES) {
        print(user, p->text + e->at, e->n);
        return;
    }
    if (fseeko(p->file, (off_t)(e->at - PRINT_LOG_BYTES), SEEK_SET))
        left = 0;
    while (left) {
        size_t n = left < PIECE ? (size_t)left : PIECE;

        n = fread(piece, 1, n, p->file);
        if (!n) {
            print(user, lost, sizeof lost - 1);
            break;
        }
        print(user, piece, n);
        left -= n;
    }
}

void print_log_deliver(print_log *p, uint64_t below,
                       void (*print)(void *user, const char *text, size_t n),
                       void *user)
{
    size_t n = 0;

    if (!p->n)
        return;
    qsort(p->entries, p->n, sizeof *p->entries, by_group);
    while (n < p->n && p->entries[n].group < below)
        give(p, &p->entries[n++], print, user);
    p->n -= n;
    memmove(p->entries, p->entries + n, p->n * sizeof *p->entries);
    if (p->n)
        return;
    p->in_memory = p->in_file = 0;
}
