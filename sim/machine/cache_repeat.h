/* Repetitions in lists of accesses: what the body of a loop over neighbouring
 * addresses makes.
 *
 * A repetition is a list in which the same `period` accesses come again and
 * again, moved by `stride` bytes each time. `round` such times are one round:
 * from round to round all accesses move by `step` whole lines of L2. So
 * accesses share lines and sets in the same way in every round, in other sets
 * each time.
 *
 * An example: the loop loads 16 bytes of plane a and of plane b, 4,608 bytes
 * behind it, then the next 16 bytes. Lines of L2 have 64 bytes; L1 has 16 sets,
 * and a line of a shares its set with one of b. The period is 2, the stride 16
 * bytes, a round 4 times or 8 accesses, the step 1. A list of 132 accesses:
 *
 *   accesses  ab ab ab ab | ab ab ab ab | .. | ab ab ab ab | .. | ab ab
 *   round          0      |      1      | .. |      8      | .. | half of 16
 *   effects      begin    |    early    | .. |     late    | .. | owed
 *             lines of L1 and L2 are    |    |  warmup = 8: all sets of L1 have
 *             looked up                 |    |  had an a and a b and are known;
 *                                       |    |  two lines of L2 are looked up
 *
 * That list and others, and the state behind each:
 *
 *   list                             state  owed  behind
 *      (none yet)                    NONE      -       -
 *   1  132 accesses, as above        LIVE      4       8  rounds 8 to 15
 *   2  the loop goes on, 256         LIVE      4      40  rounds 8 to 47
 *   3  40 others                     LEFT      0       0  4 were looked up
 *   4  the loop again, 64 KiB on     LIVE      4       8
 *   5  a loop too short to pay       NONE      -       -
 *
 * Accesses are owed until the next list tells whether the round becomes whole.
 * L1's tags are behind by late rounds, of which the last `enough` ones, here
 * 16, give all tags. Whoever needs the tags pays first (cache_rounds_pay).
 */
#ifndef VPU_SIM_MACHINE_CACHE_REPEAT_H
#define VPU_SIM_MACHINE_CACHE_REPEAT_H

#include "sim/machine/cache_pairs.h"

enum {
    REPEAT_MAX_SITES = 64,
    REPEAT_MAX_OPS = 1024,
    REPEAT_MAX_LINES = 512,
    REPEAT_MAX_STREAMS = 32
};

typedef enum {
    REPEAT_NONE, /* no repetition is known */
    REPEAT_LEFT, /* one is known, other accesses came since: it may begin again
                  */
    REPEAT_LIVE  /* the last list ended within it: the next may go on with it */
} repeat_state;

/* What a round does to the tags and to DDR. */
typedef enum {
    /* Looked up. */
    OP_LOAD,  /* a line of L1, then of L2 */
    OP_FETCH, /* a line of L2, of a load that misses L1 */
    OP_STORE, /* a line of L2 */
    /* Known: lines of L2 that DDR gives or gets. */
    OP_LOADED,
    OP_STORED,
    OP_BACK,
    OP_PASS, /* several of them, of which load fills are the first and last */
    /* Both ways of a set, as what is known leaves them. */
    OP_SET_L1,
    OP_SET_L2
} repeat_kind;

typedef struct {
    uint32_t kind;
    uint32_t line; /* OP_PASS: load fills */
    union {
        uint32_t second;  /* OP_SET: the line used before */
        uint32_t waiting; /* OP_PASS: adds to lines_before */
    };
    union {
        uint32_t dirty;  /* OP_SET_L2: bit 0 of line, bit 1 of second */
        uint32_t behind; /* OP_PASS: adds to loads_behind */
    };
} repeat_op;

typedef struct {
    repeat_op list[REPEAT_MAX_OPS];
    uint32_t n;
} repeat_ops;

/* The effects of a round that follow from the list of accesses alone. */
typedef struct {
    repeat_ops ops;
    uint32_t l1_misses; /* known ones */
    /* Lines of L1 that become the most recent of their sets, in order. Where
     * ops do not touch L1's tags, these lines bring the tags up to date. */
    uint32_t lines[REPEAT_MAX_LINES], n_lines;
} repeat_part;

/* Ops that are lookups of lines of L2 only, each a stream of lines when many
 * rounds are done at once (cache_stream.c). */
typedef struct {
    uint32_t line, store;
    uint8_t place; /* among the ops */
} repeat_stream;

typedef struct {
    uint32_t most; /* rounds at once; 0: not to be done so */
    uint32_t n;
    repeat_stream list[REPEAT_MAX_STREAMS]; /* in the order to look them up */
} repeat_streams;

/* late.ops put together for the rounds whose lines are moved by `from` to
 * `from + n_lines - 1`: in these rounds each line that DDR gives or gets stays
 * in its bank (cache_bank.c). */
typedef struct {
    uint32_t from, n_lines;
    repeat_ops ops;
    uint32_t fills[MACH_MAX_BANKS], backs[MACH_MAX_BANKS]; /* a round's */
    /* The lines in late.ops that DDR gives or gets, each once; n_list: 0, they
     * are not known yet; more than REPEAT_MAX_SITES, there are too many. */
    uint32_t list[REPEAT_MAX_SITES + 1], n_list;
} repeat_sums;

typedef struct {
    repeat_state state;
    /* What comes again, and how. */
    uint32_t period;                   /* accesses */
    uint32_t round;                    /* times */
    uint32_t step;                     /* lines of L2 */
    uint64_t stride;                   /* bytes */
    uint64_t first[REPEAT_MAX_SITES];  /* accesses of the first time; an access
                                          never leaves its buffer from one time
                                          to the next, which the pages between
                                          buffers see to (sim/exec/memory.h) */
    uint32_t places[REPEAT_MAX_SITES]; /* how far they were moved (places.h) */
    uint64_t lowest, highest;          /* of these; highest: behind the last */
    cache_tally adds; /* a round's loads, stores, bytes and crossings */
    /* The effects of round 0 (begin), of a round from 1 on (early), and of a
     * round from `warmup` on (late), each with the line numbers of the first
     * round it is for. warmup is UINT32_MAX where late would know no more than
     * early, and 0, with begin as late, where early knows no more than that. */
    repeat_part begin, early, late;
    uint32_t warmup;
    repeat_streams streams; /* of late */
    repeat_sums sums;       /* of late */
    /* 0: late.ops keep L1's tags up to date. Otherwise late.ops neither read
     * nor write these tags, and after so many rounds the last lines in both
     * ways of every set that the rounds touch are from these rounds. */
    uint32_t enough;
    /* How far the caches are in it. */
    uint64_t shift;  /* of its first access against first[0] */
    uint64_t ran;    /* accesses */
    uint32_t moved;  /* lines of L2, this round against the lines in late */
    uint32_t owed;   /* accesses not looked up yet, fewer than a round has */
    uint32_t behind; /* late rounds that are not in L1's tags */
    uint64_t last[REPEAT_MAX_SITES]; /* the accesses that ran last */
} repetition;

/* The number of accesses at the list's beginning that continue r, which is
 * live. */
size_t repeat_goes_on(const repetition *r, const uint64_t *list, size_t n);
/* The number of accesses at the list's beginning that are those of r from its
 * first one on, moved by *shift, and their places moved as far. At least two
 * rounds, or 0. */
size_t repeat_again(const repetition *r, const cache_level *l2,
                    mach_places places, const uint64_t *list, size_t n,
                    uint64_t *shift);
/* Looks for a repetition at the list's beginning that has at least `least`
 * accesses, and forgets the one in r. Returns the number of its accesses, which
 * r then describes as far as the list tells; 0: there is none. Its effects
 * are not known yet (cache_walk.h). */
size_t repeat_find(const cache_level *l2, const uint64_t *list, size_t n,
                   size_t least, repetition *r);
/* Note that these n accesses were the next of r. */
void repeat_ran(repetition *r, const uint64_t *list, size_t n);

#endif
