/* The kernel cache: results of compiling, on disk, by key.
 *
 * Entries lie in $XDG_CACHE_HOME/vpusim (else ~/.cache/vpusim), a folder of
 * which only this user may have the say. Each carries a digest over all of its
 * bytes, so a damaged one is never used: it is removed and written anew. An
 * entry appears whole or not at all; any number of processes may use the cache
 * at once. What does not work costs time, nothing else.
 *
 * An entry: 64 bytes of head, then the data.
 *
 *    0  "VPUCACHE"          8  format, 1           12  bytes of the head, 64
 *   16  key, 16 bytes      32  bytes of data       40  zero
 *   48  XXH3-128 of the head's first 48 bytes and the data */
#ifndef VPU_SIM_COMPILER_STORE_KCACHE_H
#define VPU_SIM_COMPILER_STORE_KCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"

#define KCACHE_DEFAULT_BYTES ((uint64_t)512 << 20)

typedef struct {
    uint8_t bytes[16];
} kcache_key;

/* What all entries together may take, from now on in this process; 0: no cache.
 * KCACHE_DEFAULT_BYTES until it is called. */
void kcache_limit(uint64_t bytes);

/* From now on in this process entries are put into a folder of this name in the
 * cache, made if it is not there, and looked for there and then in the cache
 * itself: for a process whose results no other kind of process is to trust. The
 * name is borrowed for ever. The folder, in the arena; NULL: there is none, or
 * none to be trusted (a warning says so), and nothing is kept. */
const char *kcache_apart(const char *name, arena *a, const log_sink *log);

/* Of everything the result depends on: every part of it with kcache_part, so
 * that two lists of parts never make one text. */
void kcache_part(str *s, const void *data, size_t n);
kcache_key kcache_key_of(const str *parts);

/* The data put there under this key, in the arena, aligned for an ELF file;
 * NULL: none. A folder others can write to is not used and one warning says so;
 * for an entry that is damaged or not ours a note does. */
uint8_t *kcache_get(const kcache_key *key, const log_sink *log, arena *a,
                    size_t *n);

/* Keep the data under this key. Entries not used for longest make room. Their
 * sizes are added up in a file .account there; the folder itself is looked
 * through when they exceed the limit, and now and then. */
void kcache_put(const kcache_key *key, const log_sink *log, const void *data,
                size_t n);

#endif
