/* Block-chained bump allocator; blocks double in size and are freed together.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"

/* Under the address sanitizer, which knows of malloc's blocks only: what is not
 * handed out may not be touched, and things lie apart. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#endif
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
enum { APART = 16, LEAST_ALIGN = 8 };
#define FORBID(p, n) __asan_poison_memory_region(p, n)
#define ALLOW(p, n) __asan_unpoison_memory_region(p, n)
#else
enum { APART = 0, LEAST_ALIGN = 1 };
#define FORBID(p, n) ((void)(p), (void)(n))
#define ALLOW(p, n) ((void)(p), (void)(n))
#endif

typedef struct block {
    struct block *prev;
    size_t used, size;
    _Alignas(64) unsigned char data[];
} block;

struct arena {
    block *top;
    size_t block_bytes;
};

static block *block_create(size_t bytes, block *prev)
{
    block *b = NULL;
    size_t total = sizeof *b + bytes;

    if (total < bytes)
        oom_raise(SIZE_MAX);
    b = oom_aligned(total);
    b->prev = prev;
    b->used = 0;
    b->size = bytes;
    FORBID(b->data, bytes);
    return b;
}

arena *arena_create(size_t block_bytes)
{
    size_t n = block_bytes ? block_bytes : 65536;
    block *first = block_create(n, NULL);
    arena *a = malloc(sizeof *a);

    if (!a) {
        free(first);
        oom_raise(sizeof *a);
    }
    a->block_bytes = n;
    a->top = first;
    return a;
}

void arena_destroy(arena *a)
{
    if (!a)
        return;
    for (block *b = a->top, *prev; b; b = prev) {
        prev = b->prev;
        free(b);
    }
    free(a);
}

void *arena_push(arena *a, size_t n, size_t size, size_t align)
{
    block *b = a->top;
    size_t bytes, at;
    void *p;

    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 4)
        oom_raise(SIZE_MAX);
    if (align < LEAST_ALIGN)
        align = LEAST_ALIGN;
    at = (b->used + align - 1) & ~(align - 1);
    if (at > b->size || b->size - at < bytes) {
        if (a->block_bytes < (size_t)1 << 24)
            a->block_bytes *= 2;
        b = a->top =
            block_create(bytes > a->block_bytes ? bytes : a->block_bytes, b);
        at = 0;
    }
    p = b->data + at;
    ALLOW(p, bytes);
    b->used = at + bytes;
    b->used += APART < b->size - b->used ? APART : b->size - b->used;
    memset(p, 0, bytes);
    return p;
}

void *arena_bytes(void *a, size_t n)
{
    return arena_push(a, n, 1, _Alignof(max_align_t));
}

arena_mark arena_save(const arena *a)
{
    return (arena_mark){a->top, a->top->used};
}

void arena_restore(arena *a, arena_mark m)
{
    while (a->top != m.block) {
        block *b = a->top;

        a->top = b->prev;
        free(b);
    }
    a->top->used = m.used;
    FORBID(a->top->data + m.used, a->top->size - m.used);
}

void *arena_memdup(arena *a, const void *p, size_t n)
{
    void *q = arena_push(a, n ? n : 1, 1, 16);

    if (n)
        memcpy(q, p, n);
    return q;
}

char *arena_strndup(arena *a, const char *s, size_t n)
{
    char *q = arena_push(a, n + 1, 1, 1);

    memcpy(q, s, n);
    return q;
}

char *arena_strdup(arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_vprintf(arena *a, const char *fmt, va_list ap)
{
    va_list again;
    char *s;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        n = 0;
    s = arena_push(a, (size_t)n + 1, 1, 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

char *arena_printf(arena *a, const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}

void *arena_grow(arena *a, const void *items, size_t n, size_t *cap,
                 size_t size)
{
    size_t want = *cap ? *cap * 2 : 8;
    void *p = arena_push(a, want, size, 16);

    if (n)
        memcpy(p, items, n * size);
    *cap = want;
    return p;
}
