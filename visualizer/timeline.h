/* A trace in memory, made for looking at: rows of slices and of counter
 * values, in columns, with running sums that answer "how much of what is in
 * this stretch of time" exactly, for any stretch, in logarithmic time.
 *
 * Time is in ticks: cycles of the device's clock where the trace is ours,
 * nanoseconds otherwise. A row has lanes; the slices of a lane are in order of
 * time and do not overlap. They are packed to a few bytes each, their arguments
 * are bytes beside them.
 *
 * Built by one thread, through tl_add_*; read-only queries may then come from
 * several. */
#ifndef VPU_VISUALIZER_TIMELINE_H
#define VPU_VISUALIZER_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slots.h"

/* What a slice's time counts as. The causes of a SHAVE's cycles first. */
typedef enum {
    TL_ISSUE,
    TL_L2,
    TL_DDR,
    TL_STORE,
    TL_DMA_SETUP,
    TL_DMA_WAIT,
    TL_DISPATCH,
    TL_IDLE,
    TL_N_CAUSES,
    TL_IN = TL_N_CAUSES, /* transfers DDR to CMX */
    TL_OUT,
    TL_OTHER, /* and five more, by the name's hash */
    TL_N_CLASSES = TL_OTHER + 6
} tl_class;

const char *tl_class_name(tl_class c);

typedef uint32_t tl_name; /* 0 = "" */

enum {
    TL_BLOCK = 32,
    TL_MAX_LANES = 16,
    TL_MAX_ARGS = 24, /* of an event */
    TL_SLICE_ARGS = 2 * TL_MAX_ARGS
};

#define TL_NO_NUMBER UINT32_MAX

/* TL_BLOCK slices, packed; see columns.h. */
typedef struct {
    uint64_t packed, args; /* where its bytes, its arguments begin */
    uint32_t number;       /* least value of the column, + 1 */
    uint16_t name;         /* likewise */
    uint8_t begin_width, length_width, name_width, number_width; /* bytes */
    uint8_t n_shapes; /* of arguments */
} tl_block;

typedef struct {
    uint64_t n_slices;
    bool open;        /* the last slice has no end yet */
    bool has_numbers; /* "comp 7": 7 */
    bool has_args;
    uint8_t *packed;
    uint64_t n_packed, cap_packed;
    tl_block *blocks;
    uint64_t n_blocks, cap_blocks;
    struct tl_tail *tail; /* the slices behind the blocks */
    /* Begin of slice i * TL_BLOCK: to search in. */
    uint64_t *block_begin;
    uint64_t n_block_begin, cap_block_begin;
    /* Before slice i * TL_BLOCK, for the classes that occur. */
    uint64_t *sums, cap_sums, now[TL_N_CLASSES];
    uint8_t class_at[TL_N_CLASSES], n_classes, cap_classes;
    uint8_t *args; /* of the blocks' slices, as columns, too */
    uint64_t n_args, cap_args;
} tl_lane;

typedef struct {
    uint64_t *time;
    double *value;
    uint64_t n_values, cap_values;
    double *integral; /* of value over ticks, before point i * TL_BLOCK */
    double *highest;  /* of each full block */
    uint64_t cap_blocks;
    double integral_now, highest_now, max, min;
} tl_counter;

typedef enum {
    TL_ROW_SHAVE, /* lanes: 0 groups' phases, 1 causes */
    TL_ROW_LOCAL, /* local memory of SHAVE `index`; slices with "bytes" */
    TL_ROW_DMA,
    TL_ROW_COUNTER,
    TL_ROW_STAGES,
    TL_ROW_PATH,  /* the critical path; lanes as those of a SHAVE */
    TL_ROW_SLACK, /* of SHAVE `index`: its groups' slack. Not shown as a row */
    TL_ROW_HEAT,  /* a group whose counters are its lanes: shares of one */
    TL_ROW_HEAT_LANE, /* one of them. Not shown as a row */
    TL_ROW_BUNDLES,   /* of SHAVE `index`: what one work-group issues there */
    TL_ROW_OTHER
} tl_row_kind;

typedef struct {
    tl_row_kind kind;
    uint64_t uuid, parent;
    const char *name;
    uint32_t index; /* SHAVE 3: 3 */
    tl_lane *lanes; /* TL_MAX_LANES of them; NULL for counters */
    uint32_t n_lanes;
    tl_counter *counter;
    uint32_t *heat, n_heat; /* HEAT: rows of its lanes, in their order */
    uint64_t last;          /* time of the last event */
    uint32_t depth;
    uint8_t stack[64]; /* lanes of the open slices */
    bool spread;       /* the cause lane was made from phases' arguments: its
                          order inside a phase means nothing */
} tl_row;

/* Whether its lanes are phases, and what their time went to. */
static inline bool tl_has_causes(const tl_row *r)
{
    return r->kind == TL_ROW_SHAVE || r->kind == TL_ROW_PATH;
}

typedef struct {
    uint32_t row;
    uint64_t time;
    tl_name name;
    uint64_t arg_at;
} tl_instant;

typedef struct {
    tl_row *rows;
    uint32_t n_rows, cap_rows;
    tl_instant *instants;
    uint64_t n_instants, cap_instants;
    uint64_t begin, end; /* of everything */
    uint64_t first;      /* of all slices and values: where a part of a trace
                            was cut, its notes stand before that */
    bool has_first;
    uint32_t clk_mhz;     /* ticks are cycles of it; 0: ticks are ns */
    uint64_t n_events;    /* read */
    uint64_t n_backwards; /* before an event of their row: moved to it */
    uint64_t n_unmatched; /* ends without a begin, or deeper than we show */
    uint64_t n_nameless;  /* slices whose name came after 65535 others */
    bool failed;          /* memory ran out */
    char partial[512];    /* why not all of the file is here, "" otherwise */
    struct tl_names *names;
    struct tl_shapes *shapes;
    slots row_slots; /* by uuid: the row's number + 1 */
    uint8_t *blob;
    uint64_t n_blob, cap_blob;
} tl_timeline;

/* Zeroed tl in; NULL-safe. VPU_ERR_NOMEM */
vpu_status tl_init(tl_timeline *tl, vpu_error *err);
void tl_free(tl_timeline *tl);

/* Memory that it holds, without what every timeline has. */
uint64_t tl_bytes(const tl_timeline *tl);

/* --- names --------------------------------------------------------------- */
tl_name tl_intern(tl_timeline *tl, const char *text, size_t n);
const char *tl_text(const tl_timeline *tl, tl_name name);
tl_class tl_class_of(const tl_timeline *tl, tl_name name);

/* --- arguments ----------------------------------------------------------- */
typedef struct {
    tl_name name;
    enum { TL_ARG_UINT, TL_ARG_REAL, TL_ARG_TEXT } kind;
    uint64_t number;
    double real;
    tl_name text;
} tl_arg;

/* A name and a kind. */
typedef uint32_t tl_arg_key;

static inline tl_arg_key tl_key_of(tl_name name, unsigned kind)
{
    return name << 2 | kind;
}

/* Those of an event, to be added; values: a number, a name, a double's bits. */
typedef struct {
    size_t n;
    tl_arg_key keys[TL_MAX_ARGS];
    uint64_t values[TL_MAX_ARGS];
} tl_args;

/* All of a slice; how many, at most TL_SLICE_ARGS. */
size_t tl_slice_args(const tl_timeline *tl, const tl_lane *l, uint64_t slice,
                     tl_arg *args, size_t cap);
size_t tl_instant_args(const tl_timeline *tl, const tl_instant *at,
                       tl_arg *args, size_t cap);
bool tl_slice_arg(const tl_timeline *tl, const tl_lane *l, uint64_t slice,
                  const char *name, tl_arg *out);

/* --- building ------------------------------------------------------------ */
uint32_t tl_row_at(tl_timeline *tl, uint64_t uuid); /* made when new */
void tl_row_describe(tl_timeline *tl, uint32_t row, uint64_t parent,
                     const char *name, bool counter);
/* Names as files spell them: "comp 7" becomes "comp" and 7. */
void tl_add_begin(tl_timeline *tl, uint32_t row, uint64_t t, const char *name);
/* The same of a name that was taken apart before. */
tl_name tl_split_name(tl_timeline *tl, const char *name, uint32_t *number);
void tl_add_split(tl_timeline *tl, uint32_t row, uint64_t t, tl_name name,
                  uint32_t number);
void tl_add_end(tl_timeline *tl, uint32_t row, uint64_t t);
/* Arguments of the innermost open slice of a row; those behind TL_SLICE_ARGS
 * are dropped. */
void tl_add_args(tl_timeline *tl, uint32_t row, const tl_args *args);
void tl_add_value(tl_timeline *tl, uint32_t row, uint64_t t, double value);
void tl_add_instant(tl_timeline *tl, uint32_t row, uint64_t t, const char *name,
                    const tl_args *args);
/* Open slices end at the end of the trace. */
void tl_finish(tl_timeline *tl);

/* --- queries ------------------------------------------------------------- */
uint64_t tl_begin(const tl_lane *l, uint64_t slice);
uint64_t tl_length(const tl_lane *l, uint64_t slice);
uint64_t tl_end(const tl_lane *l, uint64_t slice);
tl_name tl_name_of(const tl_lane *l, uint64_t slice);
uint32_t tl_number(const tl_lane *l, uint64_t slice); /* or TL_NO_NUMBER */
/* "comp 7" */
void tl_slice_name(const tl_timeline *tl, const tl_lane *l, uint64_t slice,
                   char *to, size_t n);
/* Number of slices that begin before t; so the candidate at t is that - 1. */
uint64_t tl_count_before(const tl_lane *l, uint64_t t);
/* The slice that covers t. */
bool tl_slice_at(const tl_lane *l, uint64_t t, uint64_t *slice);
/* Ticks of each class in [from, to), exactly. */
void tl_sums(const tl_timeline *tl, const tl_lane *l, uint64_t from,
             uint64_t to, uint64_t sums[TL_N_CLASSES]);
/* Mean over [from, to) and highest value in it. */
void tl_mean(const tl_counter *c, uint64_t from, uint64_t to, double *mean,
             double *highest);

/* For walks along a lane, as a painter makes: the sums of everything before t,
 * t not going back. A zeroed cursor is at the start. */
typedef struct {
    uint64_t n, begin[TL_BLOCK], length[TL_BLOCK];
    uint8_t class[TL_BLOCK];
} tl_spread;

typedef struct {
    uint64_t slice; /* slices that begin before t */
    uint64_t before[TL_N_CLASSES];
    uint64_t skipped;  /* blocks, by the last step that left its block */
    uint64_t n_spread; /* which block is spread out, + 1 */
    tl_spread spread;
} tl_cursor;

void tl_walk(const tl_timeline *tl, const tl_lane *l, tl_cursor *at, uint64_t t,
             uint64_t sums[TL_N_CLASSES]);
/* The same for a time that may be up to slack earlier than t, where that is
 * quicker; which it is. Sums of stretches between such times add up, too. */
uint64_t tl_walk_near(const tl_timeline *tl, const tl_lane *l, tl_cursor *at,
                      uint64_t t, uint64_t slack, uint64_t sums[TL_N_CLASSES]);

/* --- units --------------------------------------------------------------- */
double tl_ns(const tl_timeline *tl, uint64_t ticks);

#endif
