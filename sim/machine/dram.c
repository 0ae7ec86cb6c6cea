/* The arithmetic of banks and rows; see dram.h. */
#include "sim/machine/dram.h"

enum { Q = 20 };

static uint64_t cycles_of(const mach_desc *desc, uint64_t ns)
{
    return (ns * desc->clk_mhz + 999) / 1000;
}

dram dram_of(const mach_desc *desc)
{
    double peak = desc->ddr_peak_bw * 1000 / (double)desc->clk_mhz;
    dram d = {.banks = mach_banks_of(desc, 0),
              .n_banks = (uint32_t)desc->ddr_banks,
              .row_cycle = cycles_of(desc, desc->ddr_row_cycle),
              .row_switch = cycles_of(desc, desc->ddr_row_switch),
              .peak = (uint64_t)(peak * (1 << Q) + 0.5)};

    if (!d.peak)
        d.peak = 1;
    d.line_busy = (uint32_t)dram_visit(&d, desc->l2_line);
    return d;
}

static uint64_t moving(const dram *d, uint64_t n_bytes)
{
    return ((n_bytes << Q) + d->peak - 1) / d->peak;
}

uint64_t dram_visit(const dram *d, uint64_t n_bytes)
{
    uint64_t moved = d->row_switch + moving(d, n_bytes);

    return moved > d->row_cycle ? moved : d->row_cycle;
}

bool dram_next(const dram *d, const mach_walk *w, uint32_t most, dram_piece *p)
{
    uint64_t done = p->done + p->bytes, line, at, row_left, n;

    if (done >= w->bytes) {
        if (!w->bytes || p->plane + 1 >= w->planes)
            return false;
        p->plane++;
        done = 0;
    }
    line = done / w->width;
    at = done % w->width;
    n = w->width - at;
    if (n > w->bytes - done)
        n = w->bytes - done;
    p->new_run = !at && (w->pitch != w->width || !done);
    p->addr = (uint32_t)(w->addr + p->plane * (uint64_t)w->plane_pitch +
                         line * w->pitch + at);
    /* Lines that touch are one run. */
    if (w->pitch == w->width)
        n = w->bytes - done;
    row_left = (UINT64_C(1) << d->banks.row) -
               (p->addr & ((UINT64_C(1) << d->banks.row) - 1));
    n = n > row_left ? row_left : n;
    p->opens = p->in_row == p->bytes;
    p->in_row = (uint32_t)n;
    p->bytes = (uint32_t)(n > most ? most : n);
    p->done = done;
    return true;
}

void dram_walk_busy(const dram *d, const mach_walk *w,
                    uint64_t busy[MACH_MAX_BANKS])
{
    dram_piece p = {0};
    uint64_t n_bytes = 0, row = UINT64_MAX;

    while (dram_next(d, w, UINT32_MAX, &p)) {
        if (p.addr >> d->banks.row != row) {
            if (n_bytes)
                busy[mach_bank_of_row(&d->banks, (uint32_t)row)] +=
                    dram_visit(d, n_bytes);
            n_bytes = 0;
            row = p.addr >> d->banks.row;
        }
        n_bytes += p.bytes;
    }
    if (n_bytes)
        busy[mach_bank_of_row(&d->banks, (uint32_t)row)] +=
            dram_visit(d, n_bytes);
}

/* --- serving ------------------------------------------------------------- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The interface for n bytes whose bank is ready at `ready`; Q20, the cycle they
 * begin to pass. The interface serves in order of arrival, but what still waits
 * for its bank does not hold up what is ready. */
static uint64_t pass(dram_server *s, uint64_t now, uint64_t ready,
                     uint64_t n_bytes)
{
    uint64_t begin = later(ready << Q, s->bus_free);
    uint64_t whole = n_bytes << Q;

    s->bus_free = later(now << Q, s->bus_free);
    s->bus_free += (whole << Q) / s->bytes_per_cycle;
    return begin;
}

static void occupy(dram_server *s, uint32_t b, uint64_t begin, uint64_t cycles)
{
    s->holder[b] = s->who;
    s->bank_free[b] = begin + cycles;
    if (s->busy)
        s->busy(s->user, b, begin, begin + cycles);
}

/* The writes that bank b has begun by cycle now: those there was time for, and
 * those that are too many to wait. */
static void drain(const dram *d, dram_server *s, uint32_t b, uint64_t now)
{
    while (s->writes[b]) {
        uint64_t begin = later(s->bank_free[b], s->newest[b]);

        if (begin >= now && s->writes[b] <= DRAM_MAX_WRITES)
            return;
        s->writes[b]--;
        occupy(s, b, later(begin, s->bank_free[b]), d->line_busy);
        s->holder[b] = s->writer[b];
        pass(s, now, now, s->line_bytes);
    }
}

uint64_t dram_write_line(const dram *d, dram_server *s, uint64_t now,
                         uint32_t addr)
{
    uint32_t b = dram_bank(d, addr);

    drain(d, s, b, now);
    s->open_row[b] = 0;
    s->writes[b]++;
    s->newest[b] = now;
    s->writer[b] = s->who;
    return later(s->bank_free[b], now) + s->writes[b] * d->line_busy;
}

uint64_t dram_serve_line(const dram *d, dram_server *s, uint64_t now,
                         uint32_t addr)
{
    uint32_t b = dram_bank(d, addr);
    uint64_t opens;

    drain(d, s, b, now);
    opens = later(now, s->bank_free[b]);
    s->why = (dram_wait){opens - now, b, s->holder[b]};
    s->open_row[b] = 0;
    occupy(s, b, opens, d->line_busy);
    return (pass(s, now, opens, s->line_bytes) >> Q) - now;
}

uint64_t dram_serve_piece(const dram *d, dram_server *s, uint64_t now,
                          const dram_piece *p)
{
    uint32_t b = dram_bank(d, p->addr);
    uint64_t row = (uint64_t)(p->addr >> d->banks.row) + 1, ready = now;
    uint64_t whole = (uint64_t)p->bytes << Q, begin;

    drain(d, s, b, now);
    if (p->opens && s->open_row[b] == row) {
        occupy(s, b, later(s->bank_free[b], now), moving(d, p->in_row));
    } else if (p->opens) {
        ready = later(now, s->bank_free[b]);
        occupy(s, b, ready, dram_visit(d, p->in_row));
        s->open_row[b] = row;
    }
    begin = pass(s, now, ready, p->bytes);
    return (begin + (whole << Q) / s->bytes_per_cycle + (1 << Q) - 1) >> Q;
}
