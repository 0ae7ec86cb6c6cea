/* Keeps a launch's memory. */
#include "sim/exec/scratch.h"

/* What a launch of 16 SHAVEs takes, and some. */
enum { BLOCK = 1 << 19 };

arena *exec_scratch_arena(exec_scratch *s)
{
    if (!s->arena) {
        s->arena = arena_create(BLOCK);
        s->empty = arena_save(s->arena);
    }
    return s->arena;
}

vpu_status exec_scratch_cache(exec_scratch *s, uint32_t shave,
                              const mach_desc *desc, uint32_t n_sharing,
                              mach_cache **out, vpu_error *err)
{
    vpu_status st = mach_cache_renew(desc, n_sharing, &s->caches[shave], err);

    *out = s->caches[shave];
    return st;
}

void exec_scratch_give_back(exec_scratch *s)
{
    if (s->arena)
        arena_restore(s->arena, s->empty);
}

void exec_scratch_free(exec_scratch *s)
{
    for (int i = 0; i < MACH_MAX_SHAVES; i++)
        mach_cache_destroy(s->caches[i]);
    arena_destroy(s->arena);
    *s = (exec_scratch){0};
}
