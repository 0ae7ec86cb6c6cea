/* See sample.h. */
#include "sim/exec/sample.h"

#include <stdio.h>

#include "sim/machine/cache.h"

void exec_sample_begin(exec_sample *s, const memory *m, uint32_t n_shaves)
{
    size_t n = memory_count(m);

    s->n_shaves = n_shaves;
    s->n = 0;
    s->n_buffers = n < EXEC_SAMPLE_BUFFERS ? (uint32_t)n : EXEC_SAMPLE_BUFFERS;
    for (uint32_t i = 0; i < s->n_buffers; i++) {
        const memory_buffer *b = memory_buffer_at(m, i);

        s->buffers[i] = (exec_sample_buffer){
            .place = mach_place_of(memory_places(m), b->address),
            .bytes = b->bytes};
        snprintf(s->buffers[i].name, sizeof s->buffers[i].name, "%s", b->name);
    }
}

void exec_sample_add(exec_sample *s, mach_places places, const uint64_t *list,
                     uint64_t n)
{
    for (uint64_t k = 0; k < n && s->n < EXEC_SAMPLE_ACCESSES; k++) {
        uint32_t at = MACH_ACCESS_ADDR(list[k]);

        s->list[s->n++] = list[k] - at + (uint64_t)mach_place_of(places, at);
    }
}

const exec_sample_buffer *exec_sample_buffer_at(const exec_sample *s,
                                                uint32_t place)
{
    for (uint32_t i = 0; i < s->n_buffers; i++)
        if (place - s->buffers[i].place < s->buffers[i].bytes)
            return &s->buffers[i];
    return NULL;
}
