/* Any bytes as what a sweep reads: by the first byte a manifest with some of
 * its points, a line of points.jsonl, or a point's result. */
#include <string.h>

#include "runtime/sweep/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { TRIED = 64 };

/* What is planned is read back as it was. */
static void read_manifest(const char *text, size_t n, arena *a)
{
    sweep_manifest m;
    sweep_value values[SWEEP_MAX_DIMENSIONS + 1];
    vpu_error err;
    uint64_t count;
    sweep_plan *p;

    if (sweep_manifest_parse(&(const file_bytes){text, n, "fuzz"}, a, &m,
                             &err) ||
        sweep_points_count(&m, &count, &err) || count > TRIED * TRIED)
        return;
    if (m.n_dims > SWEEP_MAX_DIMENSIONS + 1)
        __builtin_trap();
    p = sweep_plan_open(&m, a);
    for (uint64_t i = 0; i < count && i < TRIED; i++) {
        sweep_plan_values(p, i, values);
        if (!sweep_point_words(&m, values, a).n)
            __builtin_trap();
        for (size_t d = 0; d < m.n_dims; d++)
            if (!sweep_value_text(&m.dims[d], &values[d], a))
                __builtin_trap();
    }
}

static void read_point(const char *line, size_t n, arena *a)
{
    static const char text[] = "run l.xml\nvary --shaves 1 2\n";
    sweep_manifest m;
    sweep_point p;
    vpu_error err;

    if (sweep_manifest_parse(&(const file_bytes){text, sizeof text - 1, "fuzz"},
                             a, &m, &err))
        __builtin_trap();
    if (!sweep_point_parse(line, n, &m, "fuzz", 0, a, &p, &err) &&
        (strlen(p.name) != SWEEP_HASH - 1 || strchr(p.name, '/') ||
         !p.words.n || !p.texts[1]))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    const char *text = n ? arena_memdup(a, data + 1, n - 1) : "";

    if (!n || data[0] == 'm')
        read_manifest(text, n ? n - 1 : 0, a);
    else if (data[0] == 'p')
        read_point(text, n - 1, a);
    else
        json_decref(sweep_result_parse(text, n - 1,
                                       "0123456789abcdef0123456789abcdef"));
    arena_destroy(a);
    return 0;
}
