/* Who waits for what when a launch is stopped. */
#include "base/str.h"
#include "sim/machine/engine_priv.h"

/* The message holds 4096 bytes, a line takes up to 120. */
enum { MAX_LINES = 20 };

static const char *const phases[MACH_N_PHASES] = {
    [MACH_PRE] = "preload", [MACH_COMP] = "compute", [MACH_POST] = "postwrite"};

/* Transfers of SHAVE i that are asked for and have not ended. */
static uint32_t pending(const engine_shave *s)
{
    uint32_t n = 0;

    for (int slot = 0; slot < N_SLOTS; slot++)
        for (int p = 0; p < MACH_N_PHASES; p++)
            n += s->transfers[slot][p].issued - s->transfers[slot][p].ended;
    return n;
}

static void report_shave(const engine *e, uint32_t i, str *out)
{
    const engine_shave *s = &e->shaves[i];
    const engine_group *g = &s->groups[s->pos % N_SLOTS];
    const char *phase = phases[s->phase];

    str_printf(out, "\n  SHAVE %u: ", i);
    if (s->state == DRAIN) {
        str_printf(out, "waits for its last transfers (%u)", pending(s));
        return;
    }
    if (!s->any) {
        str_printf(out, "not started before cycle %llu",
                   (unsigned long long)s->accounted);
        return;
    }
    str_printf(out, "work-group %llu, ", (unsigned long long)g->id);
    if (s->blocked && s->state == ENTER)
        str_printf(out, "waits for %u DMA transfer%s before its %s phase",
                   pending(s), pending(s) == 1 ? "" : "s", phase);
    else if (s->blocked)
        str_printf(out, "%s phase, waits for DMA (%u transfer%s not ended)",
                   phase, pending(s), pending(s) == 1 ? "" : "s");
    else if (s->state == RUNNING)
        str_printf(out, "%s phase, waits for DDR", phase);
    else
        str_printf(out, "%s phase, executes (its clock: %llu)", phase,
                   (unsigned long long)s->accounted);
}

static void report_channel(const engine *e, uint32_t c, str *out)
{
    const engine_transfer *r = &e->channels[c].request;

    str_printf(out,
               "\n  DMA channel %u: %llu bytes %s CMX for SHAVE %u, "
               "work-group %llu",
               c, (unsigned long long)r->transfer.bytes,
               r->transfer.to_cmx ? "to" : "from", r->shave,
               (unsigned long long)r->group);
    if (r->transfer.src_line)
        str_printf(out, ", started in line %u", r->transfer.src_line);
}

void engine_report(const engine *e, str *out)
{
    uint32_t done = 0, lines = 0, left = 0;

    for (uint32_t i = 0; i < e->launch->n_shaves; i++) {
        if (e->shaves[i].state == DONE)
            done++;
        else if (lines++ < MAX_LINES)
            report_shave(e, i, out);
        else
            left++;
    }
    if (left)
        str_printf(out, "\n  %u more SHAVEs", left);
    if (done)
        str_printf(out, "\n  %u SHAVE%s: all work-groups done", done,
                   done == 1 ? "" : "s");
    for (uint32_t c = 0, n = 0; c < e->n_channels && n < 4; c++)
        if (e->channels[c].busy) {
            report_channel(e, c, out);
            n++;
        }
    if (e->n_waiting)
        str_printf(out, "\n  %u transfers wait for a DMA channel",
                   e->n_waiting);
}
