#include "runtime/backend/trace_source.h"

#include <string.h>

#include "base/file.h"

enum { MAX_SOURCE = 1 << 20, MAX_LINE = 240, MAX_LINES = 20000 };

static trc_track source_track(trc_writer *w)
{
    return trc_track_slices(w, trc_track_group(w, 0, "vpusim"), "source",
                            TRC_CYCLES);
}

/* Printable bytes and whole characters only. */
static void copy_line(char to[MAX_LINE + 1], const char *from, size_t n)
{
    if (n > MAX_LINE)
        for (n = MAX_LINE; n && ((unsigned char)from[n] & 0xc0) == 0x80;)
            n--;
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)from[i] < 32 || from[i] == 127 ? ' ' : from[i];
    while (n && to[n - 1] == ' ')
        n--;
    to[n] = 0;
}

static void write_text(trc_writer *w, const backend_trace_stage *s,
                       const char *file, const char *text)
{
    char line[MAX_LINE + 1];

    for (uint32_t i = 1; *text && i <= MAX_LINES; i++) {
        size_t n = strcspn(text, "\n");
        trc_arg args[3] = {TRC_TEXT("file", file), TRC_UINT("line", i),
                           TRC_TEXT("text", line)};

        copy_line(line, text, n);
        trc_instant(w, source_track(w), s->start_cycle,
                    &(trc_event){.name = "text", .args = args, .n_args = 3});
        text += n + (text[n] == '\n');
    }
}

static void write_costs(trc_writer *w, const backend_trace_stage *s,
                        const char *file)
{
    static const char *const phases[] = {"pre", "comp", "post"};

    for (uint32_t i = 0; i < s->profile->n; i++) {
        const exec_profile_row *r = &s->profile->rows[i];
        trc_arg args[TRC_MAX_ARGS] = {
            TRC_TEXT("stage", s->stage), TRC_TEXT("file", file),
            TRC_UINT("line", r->line),
            TRC_TEXT("phase", r->phase < MACH_N_PHASES ? phases[r->phase] : ""),
            TRC_UINT("executions", r->executions)};
        size_t n = 5;

        if (r->place != EXEC_AT_LINE || !r->line)
            continue;
        for (int c = 0; c < MACH_N_CAUSES; c++)
            if (r->cycles[c])
                args[n++] =
                    TRC_UINT(mach_cause_name((mach_cause)c), r->cycles[c]);
        trc_instant(w, source_track(w), s->start_cycle,
                    &(trc_event){.name = "cost", .args = args, .n_args = n});
    }
}

void backend_trace_source(trc_writer *w, const backend_trace_stage *s)
{
    const char *file = file_basename(s->path), *text = s->text;
    arena *a;
    char *data;
    size_t n;

    if (!w || trc_writer_level(w) == TRC_SUMMARY)
        return;
    a = arena_create(0);
    if (!text && !s->again &&
        !file_read(s->path, MAX_SOURCE, a, &data, &n, NULL) &&
        !memchr(data, 0, n))
        text = data;
    if (text && !s->again)
        write_text(w, s, file, text);
    write_costs(w, s, file);
    arena_destroy(a);
}
