/* DMA transfers: the queue of requests, the channels, the wait for them. */
#include <stdlib.h>

#include "sim/machine/engine_priv.h"

static void start_transfer(engine *e, uint32_t c, const engine_transfer *r)
{
    engine_channel *ch = &e->channels[c];

    *ch = (engine_channel){.busy = true, .begin = e->now, .request = *r};
    e->shaves[r->shave].transfers[r->slot][r->phase].started++;
    engine_wake(
        e, c, e->now + (e->desc->dma_first_byte ? e->desc->dma_first_byte : 1));
}

vpu_status engine_request(engine *e, const engine_transfer *r)
{
    for (uint32_t c = 0; c < e->n_channels; c++)
        if (!e->channels[c].busy) {
            start_transfer(e, c, r);
            return VPU_OK;
        }
    if (e->n_waiting == e->cap_waiting) {
        uint32_t cap = e->cap_waiting ? 2 * e->cap_waiting : 64;
        engine_transfer *ring = malloc(cap * sizeof *ring);

        if (!ring)
            return err_set(e->err, VPU_ERR_NOMEM,
                           "no memory for %u waiting transfers", e->n_waiting);
        for (uint32_t k = 0; k < e->n_waiting; k++)
            ring[k] = e->waiting[(e->waiting_head + k) & (e->cap_waiting - 1)];
        free(e->waiting);
        e->waiting = ring;
        e->waiting_head = 0;
        e->cap_waiting = cap;
    }
    e->waiting[(e->waiting_head + e->n_waiting++) & (e->cap_waiting - 1)] = *r;
    return VPU_OK;
}

static void end_transfer(engine *e, uint32_t c)
{
    engine_channel *ch = &e->channels[c];
    engine_transfer *r = &ch->request;
    engine_shave *s = &e->shaves[r->shave];

    if (ch->flowing && !e->launch->transactions)
        flow_end(&e->flows, c, e->now);
    ch->busy = false;
    engine_sleep(e, c);
    s->transfers[r->slot][r->phase].ended++;
    s->open--;
    e->profile->transfers++;
    e->profile->dma_busy_cycles += e->now - ch->begin;
    e->profile->ddr_bytes += r->transfer.bytes;
    *(r->transfer.to_cmx ? &e->profile->dma_in_bytes
                         : &e->profile->dma_out_bytes) += r->transfer.bytes;
    emit_transfer(e->trace, &(const emit_dma){.channel = c,
                                              .shave = r->shave,
                                              .number = r->told,
                                              .group = r->group,
                                              .asked = r->asked,
                                              .begin = ch->begin,
                                              .end = e->now,
                                              .transfer = &r->transfer});
    if (s->blocked)
        engine_wake(e, e->n_channels + r->shave, e->now); /* looks again */
    if (e->n_waiting) {
        start_transfer(e, c, &e->waiting[e->waiting_head]);
        e->waiting_head = (e->waiting_head + 1) & (e->cap_waiting - 1);
        e->n_waiting--;
    }
}

/* The channel's own cycles for the transfer. */
static uint64_t work_of(const engine *e, const mach_transfer *t)
{
    uint64_t bus = e->desc->dma_bus_bytes;

    return t->bytes / bus + (t->bytes % bus != 0) +
           t->lines * e->desc->dma_line_overhead;
}

/* The first byte is there: the rest is a flow. */
static void flow_event(engine *e, uint32_t c)
{
    engine_channel *ch = &e->channels[c];
    const mach_transfer *t = &ch->request.transfer;
    uint64_t work = work_of(e, t);
    flow_need need = {.bytes = t->bytes, .dma = true};

    if (ch->flowing || !work) {
        end_transfer(e, c);
        return;
    }
    ch->flowing = true;
    dram_walk_busy(&e->dram, &t->ddr, need.bank_busy);
    for (uint32_t b = 0; b < e->dram.n_banks; b++)
        need.banks |= (uint32_t)(need.bank_busy[b] > 0) << b;
    if (t->bytes)
        flow_start(&e->flows, c, e->now, &need, work);
    else
        e->flows.flows[c] = (flow){.finish = e->now + work};
    engine_wake(e, c, e->flows.flows[c].finish);
}

/* Transaction level: the next piece goes to DDR. Pieces follow each other as
 * fast as the channel moves them, MAX_OUTSTANDING at most on their way. */
static void piece_event(engine *e, uint32_t c)
{
    engine_channel *ch = &e->channels[c];
    const mach_transfer *t = &ch->request.transfer;
    mach_walk whole = {.bytes = (uint32_t)t->bytes, .planes = 1};
    uint64_t *slot = &ch->landed[ch->n_pieces % MAX_OUTSTANDING], due, next;

    whole.width = whole.pitch = whole.bytes;
    if (!ch->flowing) {
        ch->flowing = true;
        ch->work = work_of(e, t);
    }
    if (!dram_next(&e->dram, t->ddr.bytes ? &t->ddr : &whole, PIECE_BYTES,
                   &ch->piece)) {
        end_transfer(e, c);
        return;
    }
    e->server.who = c;
    *slot = dram_serve_piece(&e->dram, &e->server, e->now, &ch->piece);
    ch->n_pieces++;
    ch->moved += ch->piece.bytes;
    due = ch->work * ch->moved / t->bytes;
    next = e->now + (due - ch->worked);
    ch->worked = due;
    /* The last piece ends the transfer when all have landed. */
    if (ch->moved >= t->bytes)
        for (int k = 0; k < MAX_OUTSTANDING; k++)
            slot = ch->landed[k] > *slot ? &ch->landed[k] : slot;
    else
        slot = &ch->landed[ch->n_pieces % MAX_OUTSTANDING];
    engine_wake(e, c, next > *slot ? next : *slot);
}

void engine_channel_event(engine *e, uint32_t c)
{
    if (e->launch->transactions)
        piece_event(e, c);
    else
        flow_event(e, c);
}

bool engine_ended_below(const engine *e, uint32_t i, uint64_t number)
{
    const engine_shave *s = &e->shaves[i];
    uint32_t slot = (uint32_t)(s->pos % N_SLOTS);
    const engine_phase_transfers *p = &s->transfers[slot][s->phase];

    if (p->ended == p->issued)
        return true;
    if (p->started < p->issued && p->first + p->started < number)
        return false;
    for (uint32_t c = 0; c < e->n_channels; c++) {
        const engine_channel *ch = &e->channels[c];

        if (ch->busy && ch->request.shave == i && ch->request.slot == slot &&
            ch->request.phase == s->phase && ch->request.number < number)
            return false;
    }
    return true;
}
