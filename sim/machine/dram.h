/* DDR as banks and rows. Private to sim/machine.
 *
 *   address   | row | bank | byte in the row |        bank bits just above
 *                                                     the row's
 *
 * A bank has one row open. Data of an open row passes at the interface's speed;
 * another row needs precharge and activation (ddr_row_switch), and one
 * activation of a bank follows another by ddr_row_cycle at least. A line that a
 * SHAVE fetches or writes back always opens its row: hundreds of cycles lie
 * between two lines of a blocking SHAVE, and a controller closes rows that
 * rest. A DMA transfer opens a row once for each run of bytes in it.
 *
 * So a bank is busy, in cycles, per visit of a row with n bytes,
 *     max(ddr_row_cycle, ddr_row_switch + n / peak bytes per cycle).
 * Different banks overlap. Planes that lie a multiple of
 * ddr_row_bytes * ddr_banks apart share one bank. */
#ifndef VPU_SIM_MACHINE_DRAM_H
#define VPU_SIM_MACHINE_DRAM_H

#include "sim/machine/banks.h"
#include "sim/machine/desc.h"
#include "sim/machine/steps.h"

typedef struct {
    mach_banks banks; /* of addresses */
    uint32_t n_banks;
    uint64_t row_cycle, row_switch; /* cycles */
    uint64_t peak;                  /* bytes per cycle Q20 */
    uint32_t line_busy;             /* of a bank, for a line of L2 */
} dram;

dram dram_of(const mach_desc *desc);

static inline uint32_t dram_bank(const dram *d, uint32_t addr)
{
    return mach_bank(&d->banks, addr);
}

/* Adds what the bytes of w keep each bank busy. */
void dram_walk_busy(const dram *d, const mach_walk *w,
                    uint64_t busy[MACH_MAX_BANKS]);
/* The bank's time for n bytes in one row. */
uint64_t dram_visit(const dram *d, uint64_t n_bytes);

/* The walk piece by piece: runs of at most `most` bytes inside one row. */
typedef struct {
    uint32_t addr, bytes; /* of the piece */
    bool new_run;         /* not where the piece before ended */
    uint32_t in_row;      /* bytes of the run in this row, from addr on */
    bool opens;           /* the first of the run in this row */
    uint64_t done;        /* bytes of the plane before the piece */
    uint32_t plane;
} dram_piece;

/* The first piece when p is zeroed, then the next. False: no more. */
bool dram_next(const dram *d, const mach_walk *w, uint32_t most, dram_piece *p);

/* DDR serving one request after the other, first come, first served, but reads
 * before the lines that caches write back: those wait in the controller until
 * their bank is idle or DRAM_MAX_WRITES of them wait for it. */
enum { DRAM_MAX_WRITES = 16 }; /* assumed */

/* What a line had to wait for. */
typedef struct {
    uint64_t cycles; /* until its bank was free; 0: it was */
    uint32_t bank, by;
} dram_wait;

typedef struct {
    /* Who asks, set by the caller; who has a bank, or wrote to it last. */
    uint32_t who, holder[MACH_MAX_BANKS], writer[MACH_MAX_BANKS];
    dram_wait why;                      /* of the last line asked for */
    uint64_t bank_free[MACH_MAX_BANKS]; /* cycle the next activation may be */
    uint64_t open_row[MACH_MAX_BANKS];  /* row + 1; 0 = closed */
    /* Lines to be written wait here until their bank has nothing to read: how
     * many, and since when at the latest. */
    uint32_t writes[MACH_MAX_BANKS];
    uint64_t newest[MACH_MAX_BANKS];
    uint64_t bus_free;        /* cycle, Q20 */
    uint64_t bytes_per_cycle; /* Q20, of streams */
    uint32_t line_bytes;
    /* A bank has something to do from begin to end; NULL: nobody asks. */
    void (*busy)(void *user, uint32_t bank, uint64_t begin, uint64_t end);
    void *user;
} dram_server;

/* A line of L2 to be written. Returns the cycle it is done if nothing else
 * comes. */
uint64_t dram_write_line(const dram *d, dram_server *s, uint64_t now,
                         uint32_t addr);
/* A line of L2 asked for at cycle now, which never goes back. Returns how many
 * cycles it waits for its bank and the interface; s->why: for its bank. */
uint64_t dram_serve_line(const dram *d, dram_server *s, uint64_t now,
                         uint32_t addr);
/* A piece of a transfer; returns the cycle it has passed. The first of a run in
 * a row reserves the bank for all of the run: controllers serve what hits the
 * open row first. */
uint64_t dram_serve_piece(const dram *d, dram_server *s, uint64_t now,
                          const dram_piece *p);

#endif
