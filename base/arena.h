/* Memory grouped by lifetime: everything pushed to an arena dies with it.
 *
 * A function that returns memory takes the arena to put it in; the parameter
 * documents the owner. When memory is short, base/oom.h says what happens. Not
 * thread safe: one arena, one thread at a time. */
#ifndef VPU_BASE_ARENA_H
#define VPU_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/err.h"

typedef struct arena arena;
typedef struct {
    void *block;
    size_t used;
} arena_mark;

arena *arena_create(size_t block_bytes); /* 0 = 64 KiB; never NULL (oom.h) */
void arena_destroy(arena *a);            /* NULL is fine */
/* n zeroed objects of size bytes, aligned to align (a power of two). */
void *arena_push(arena *a, size_t n, size_t size, size_t align);
/* n zeroed bytes for anything: what structures of callbacks allocate with. */
void *arena_bytes(void *a, size_t n);
arena_mark arena_save(const arena *a);
void arena_restore(arena *a, arena_mark m); /* drops all pushes since m */

#define arena_new(a, T) ((T *)arena_push((a), 1, sizeof(T), _Alignof(T)))
#define arena_array(a, T, n) ((T *)arena_push((a), (n), sizeof(T), _Alignof(T)))

char *arena_strdup(arena *a, const char *s);            /* NULL stays NULL */
char *arena_strndup(arena *a, const char *s, size_t n); /* always terminated */
void *arena_memdup(arena *a, const void *p, size_t n);
char *arena_printf(arena *a, const char *fmt, ...) VPU_PRINTF(2, 3);
char *arena_vprintf(arena *a, const char *fmt, va_list ap);

/* Growable array in an arena: T *items; size_t n, cap. Old storage stays in
 * the arena until it dies, so use it for arrays that are built once. */
#define arena_append(a, items, n, cap)                                        \
    ((n) == (cap)                                                             \
         ? ((items) = arena_grow((a), (items), (n), &(cap), sizeof *(items)), \
            &(items)[(n)++])                                                  \
         : &(items)[(n)++])
void *arena_grow(arena *a, const void *items, size_t n, size_t *cap,
                 size_t size);

#endif
