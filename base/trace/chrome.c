/* Chrome's JSON form (Trace Event Format): an array of events, written as they
 * come. Times are microseconds with three decimals, so nanoseconds stay exact.
 * Outermost groups are processes, tracks are threads of theirs. */
#include <inttypes.h>
#include <math.h>

#include "base/trace/sink.h"

static void write_text(FILE *f, const char *s)
{
    putc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 32 || c > 126) /* byte for byte; names are ASCII */
            fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void write_real(FILE *f, double x)
{
    uint64_t micro;

    /* Not %g: that follows the locale's decimal point. */
    if (!isfinite(x) || fabs(x) > 1e12) {
        fputs("null", f);
        return;
    }
    micro = (uint64_t)(fabs(x) * 1e6 + 0.5);
    fprintf(f, "%s%" PRIu64 ".%06" PRIu64, x < 0 ? "-" : "", micro / 1000000,
            micro % 1000000);
}

static void write_args(FILE *f, const sink_event *e)
{
    for (size_t i = 0; i < e->n_args; i++) {
        const trc_arg *a = &e->args[i];

        fputs(i ? "," : ",\"args\":{", f);
        write_text(f, a->name);
        putc(':', f);
        /* JSON readers keep numbers as doubles: above 2^53 as text. */
        if (a->kind == TRC_ARG_UINT)
            fprintf(f, a->number >> 53 ? "\"%" PRIu64 "\"" : "%" PRIu64,
                    a->number);
        else if (a->kind == TRC_ARG_REAL)
            write_real(f, a->real);
        else
            write_text(f, a->text);
    }
    if (e->n_args)
        putc('}', f);
}

static bool open_trace(sink *s)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\","
          "\"args\":{\"name\":\"trace\"}}",
          s->file);
    return true;
}

static void write_track(sink *s, const sink_track *t)
{
    FILE *f = s->file;

    if (t->kind == SINK_COUNTER)
        return; /* named by its events */
    fprintf(f, ",\n{\"ph\":\"M\",\"pid\":%u,", t->process);
    if (t->parent)
        fprintf(f, "\"tid\":%u,\"name\":\"thread_name\"", t->id);
    else
        fputs("\"name\":\"process_name\"", f);
    fputs(",\"args\":{\"name\":", f);
    write_text(f, t->name);
    fputs("}}", f);
}

static void start_event(FILE *f, const sink_event *e, const char *phase)
{
    fprintf(f,
            ",\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
            ".%03" PRIu64,
            phase, e->track->process, e->track->id, e->ns / 1000, e->ns % 1000);
}

static void write_event(sink *s, const sink_event *e)
{
    FILE *f = s->file;
    static const char *const phases[] = {[SINK_BEGIN] = "B",
                                         [SINK_END] = "E",
                                         [SINK_INSTANT] = "i",
                                         [SINK_COUNT] = "C"};
    static const char *const flows[] = {
        [TRC_FLOW_START] = "s", [TRC_FLOW_STEP] = "t", [TRC_FLOW_END] = "f"};

    start_event(f, e, phases[e->kind]);
    if (e->kind == SINK_INSTANT)
        fputs(",\"s\":\"t\"", f);
    if (e->kind == SINK_COUNT || e->name) {
        fputs(",\"name\":", f);
        write_text(f, e->kind == SINK_COUNT ? e->track->name : e->name);
    }
    if (e->kind == SINK_COUNT) {
        fputs(",\"args\":{\"value\":", f);
        if (e->real)
            write_real(f, e->real_value);
        else
            fprintf(f, "%" PRId64, e->value);
        putc('}', f);
    }
    write_args(f, e);
    putc('}', f);
    if (e->flow == TRC_FLOW_NONE)
        return;
    start_event(f, e, flows[e->flow]);
    fprintf(f,
            ",\"id\":%" PRIu64
            ",\"name\":\"flow\",\"cat\":\"flow\",\"bp\":\"e\"}",
            e->flow_id);
}

static bool close_trace(sink *s)
{
    fputs("\n]}\n", s->file);
    return true;
}

const sink_ops sink_chrome = {open_trace, write_track, write_event, close_trace,
                              NULL};
