/* What the parts of a debugging session share. Internal to runtime/debug.
 *
 * The kernel runs in this thread; callbacks at each event (a source line of an
 * item, or a bundle) compare it with the goal. At a stop the callback reads
 * commands itself. To go back, it ends the launch, and the driver (session.c)
 * begins again with another goal. */
#ifndef VPU_RUNTIME_DEBUG_SESSION_H
#define VPU_RUNTIME_DEBUG_SESSION_H

#include "runtime/debug/debug.h"
#include "runtime/debug/value.h"

enum {
    MAX_POINTS = DEBUG_MAX_POINTS,
    MAX_BACK = 256,
    MAX_DISPLAYS = 32,
    DBG_MAX_COMMANDS = 64,
    MAX_DEPTH = 32,
    MAX_LINE = 1024,
    LINE_ROOM = 8, /* a command and its argument are taken apart in place */
    MAX_CONDITION = 200
};

/* --- where --------------------------------------------------------------- */

/* An event: launch, place of the group in the order, number in the group. */
typedef struct {
    uint32_t launch;
    uint64_t index, event;
} dbg_pos;

int dbg_compare(const dbg_pos *a, const dbg_pos *b); /* < 0, 0, > 0 */

/* One of the functions that are inlined into each other at a site. */
typedef struct {
    uint32_t line;  /* it stands on */
    uint32_t first; /* of its scopes in dbg_site.scopes */
    const char *file, *function;
} dbg_frame;

typedef struct {
    const char *key; /* the text's address */
    char kind;       /* l s e (exec.h), b: a bundle */
    uint32_t line, col, depth;
    uint32_t *scopes, n_scopes;
    const char *file, *function;
    dbg_frame *frames; /* innermost first; the last is the kernel */
    uint32_t n_frames;
} dbg_site;

/* A line that has code. */
typedef struct {
    const char *file, *function;
    uint32_t line;
} dbg_code_line;

/* What "FILE:LINE", "LINE" or "FUNCTION" means. */
typedef struct {
    const char *file; /* or its end; NULL: a function */
    const char *function;
    uint32_t line;  /* that has code */
    uint32_t asked; /* may have none */
} dbg_place;

typedef struct {
    const char *key;
    uint32_t scope, line, number; /* numbers of equal texts are equal */
    const char *name, *text;
    const dbg_type *type;
} dbg_var;

typedef enum {
    ITEM_NOT_BEGUN,
    ITEM_RUNNING,
    ITEM_WAITS,
    ITEM_DONE
} dbg_item_state;

typedef struct {
    dbg_item_state state;
    const dbg_site *site;
    bool fresh;                /* its first event of the phase */
    bool arrived;              /* this event is its first of a line */
    uint32_t calls[MAX_DEPTH]; /* the line each inlined call stands on */
    const uint8_t **at;        /* of its variables, by number */
    uint32_t n_at;
    uint32_t *hits, n_hits; /* arrivals by line */
} dbg_item;

/* --- what to do ---------------------------------------------------------- */

typedef enum {
    GO_FORWARD, /* stop at the first event that matches */
    GO_TO,      /* stop at `target` */
    GO_SEARCH   /* remember the last match before `target`, then go there */
} dbg_goal_mode;

typedef enum {
    WANT_NOTHING,  /* but breakpoints */
    WANT_ANY,      /* event */
    WANT_STEP,     /* the item's next line */
    WANT_NEXT,     /* the same, not deeper */
    WANT_LINE,     /* another source line (bundles) */
    WANT_GROUP,    /* the group begins */
    WANT_ITEM,     /* an item at a line for the n-th time */
    WANT_ITEM_ANY, /* whatever event of an item */
    WANT_FINISH,   /* the item is no longer in a function */
    WANT_END,      /* the item's end */
    WANT_UNTIL,    /* the item's next line that is no earlier one */
    WANT_PLACE     /* the item at a line, or no longer in the function */
} dbg_goal_want;

typedef struct {
    dbg_goal_mode mode;
    dbg_goal_want want;
    bool points; /* breakpoints and watches, too */
    dbg_pos target;
    dbg_pos origin; /* SEARCH: where to go back to without a match */
    bool one_group; /* SEARCH: in the target's group alone */
    bool whole;     /* SEARCH: begins at the run's beginning */
    uint32_t item, line, depth, hits;
    uint32_t scope;   /* FINISH, UNTIL, PLACE: of the function */
    const char *file; /* PLACE */
    uint64_t group, count;
    const char *none; /* SEARCH: said when there is no match */
} dbg_goal;

/* Which of the times that a breakpoint is come to. */
typedef enum {
    HITS_ALL,
    HITS_EQUAL,
    HITS_BEHIND, /* > */
    HITS_FROM,   /* >= */
    HITS_EACH    /* %, every so many */
} dbg_hits;

typedef struct {
    uint32_t number; /* 0 = free */
    bool watch;
    bool temporary;   /* a stop there deletes it */
    bool reached;     /* at this event */
    const char *file; /* file, or function with line 0 */
    uint32_t line;
    char text[MAX_CONDITION]; /* condition, or what is watched */
    dbg_hits when;
    uint64_t times, passed; /* of `when`; how often it was come to so far */
    dbg_pos since;          /* counted from behind that event on */
    const char *log;        /* said in the place of a stop; NULL: none */
    bool of_item;           /* watch: an item's variable is in it */
    uint32_t item;
    uint64_t group;
    dbg_value place; /* watch: in a buffer, whoever is there; at NULL: no */
    bool known;      /* watch: old has a value */
    dbg_value old;
} dbg_point;

/* Shown at each stop. */
typedef struct {
    uint32_t number; /* 0 = free */
    dbg_format format;
    char text[MAX_CONDITION];
} dbg_display;

/* What a person has written into the device's memory at an event; every run
 * that comes by does it again. */
typedef struct {
    dbg_pos pos;
    uint32_t address, n;
    uint8_t bytes[8];
} dbg_change;

typedef enum { AT_START, AT_EVENT, AT_END } dbg_session_place;

typedef struct dbg_session {
    const debug_config *cfg;
    arena *arena;   /* the session's */
    arena *scratch; /* of one command or condition */
    backend_config run_cfg;
    sim_debug debug;
    exec_observer observer;
    const exec_observer *observers[1];
    backend sim; /* whatever can be observed and inspected */
    const graph *graph;
    /* program */
    dbg_site **sites; /* open addressing, a power of two */
    size_t n_sites, cap_sites;
    dbg_var **vars;
    size_t n_vars, cap_vars;
    const dbg_var **by_number;
    size_t n_numbers, cap_numbers;
    const char *pending[512]; /* variables of the item that comes next */
    const uint8_t *pending_at[512];
    uint32_t n_pending;
    dbg_code_line *code;
    size_t n_code, cap_code;
    /* where it is */
    dbg_session_place place;
    uint32_t frame; /* the one looked at; 0 while the kernel runs */
    dbg_pos pos, furthest;
    uint64_t group;
    mach_phase phase;
    uint64_t running_index, running_group; /* its place in the order */
    dbg_item *items;
    uint32_t n_items, cur;
    arena *items_arena;
    const dbg_site *site, *before; /* this event's, the one before it */
    uint32_t before_item;
    /* bundles */
    const isa_function *fn;
    const isa_instr *in;
    uint32_t n_in;
    uint64_t cycle;
    dbg_site bundle_sites[2]; /* this one and the one before */
    dbg_frame bundle_frames[2];
    /* going on */
    dbg_goal goal;
    dbg_pos found[MAX_BACK];         /* SEARCH: the last matches, a ring */
    uint64_t found_points[MAX_BACK]; /* as hit */
    uint64_t n_found;
    bool quit, restart, search_over;
    str why; /* the stop, in words; or the kernel's error */
    uint64_t n_stops;
    debug_cause cause;
    uint64_t hit;     /* a bit for each of points that holds here */
    vpu_status fault; /* the one that the kernel stands before */
    bool at_fault, passes_faults;
    dbg_pos fault_at;
    vpu_status ended; /* how the run did */
    dbg_point points[MAX_POINTS];
    uint32_t end_points;    /* those from here on were never used */
    bool counting, telling; /* some of them count, have a log message */
    uint32_t last_number;
    dbg_display displays[MAX_DISPLAYS];
    uint32_t last_display;
    dbg_change *changes; /* in the order of their events */
    size_t n_changes, cap_changes;
    /* memory at the beginning of a group */
    uint8_t **snap, **first;
    bool has_snap;
    dbg_pos snap_at;
    /* debug_control */
    int outcome; /* dbg_outcome of what was asked for at this stop */
    const struct dbg_rows *rows; /* of the launch that was asked about last */
    /* talking */
    uint32_t in_at, line_number;
    bool failed; /* a command of a script was not done */
    char line[MAX_LINE + LINE_ROOM], last[MAX_LINE + LINE_ROOM];
    str buf; /* what a command says; printed when it is complete */
    uint32_t list_line;
    const char *list_file;
    dbg_format memory; /* x: as the last time */
    uint32_t memory_at;
    bool memory_known;
    const char *repeat; /* what an empty line does next */
} dbg_session;

/* --- commands ------------------------------------------------------------ */

/* What a command has led to. */
typedef enum {
    DBG_STAY,   /* it is done; the next one, please */
    DBG_FAILED, /* it was not done, and buf says why */
    DBG_GO,     /* the kernel goes on up to the goal */
    DBG_AGAIN   /* the launches begin again, or the session ends */
} dbg_outcome;

/* What stands behind a command's name. */
typedef enum {
    DBG_NOTHING, /* that could be completed */
    DBG_PLACE,
    DBG_EXPRESSION,
    DBG_COMMAND
} dbg_argument;

/* A row of commands.def. */
typedef struct {
    const char *name, *shorter, *args, *about;
    dbg_argument argument;
    dbg_outcome (*run)(dbg_session *s, char *arg);
} dbg_command;

#define C(handler, name, shorter, args, argument, about) \
    dbg_outcome dbg_do_##handler(dbg_session *s, char *arg);
#include "runtime/debug/commands.def"
#undef C

/* The first n bytes of a text as a line that can be taken apart. */
char *dbg_command_line(arena *a, const char *text, size_t n);
/* The row that a line names, which is taken apart; *line goes behind the name.
 * NULL: none, and buf says why. */
const dbg_command *dbg_command_find(dbg_session *s, char **line);
/* The same without a word; *line goes behind what was read. */
const dbg_command *dbg_command_named(char **line);
/* The rows of a family ("" or a first word and a blank) whose word begins so,
 * in the table's order; returns how many. out may be NULL. */
uint32_t dbg_command_matches(const char *family, const char *word,
                             const dbg_command **out);
/* A number from 1 to most; "" is 1. False: it is none, and buf says so. */
bool dbg_count(dbg_session *s, const char *text, uint64_t most, uint64_t *out);
/* "/4xw" in front of an argument; false: buf says what is wrong with it. */
bool dbg_read_format(dbg_session *s, char **arg, dbg_format *out);
/* All displays, at a stop. */
void dbg_show_displays(dbg_session *s);
/* Says it, with a line's end behind it: DBG_FAILED. */
dbg_outcome dbg_refuse(dbg_session *s, const char *fmt, ...) VPU_PRINTF(2, 3);
/* "X,Y,Z"; missing ones are 0. */
bool dbg_triple(const char *text, uint32_t out[3]);

/* --- track.c: the program's events, items and variables ------------------ */

void track_init(dbg_session *s);
/* A text of exec_observer.line, taken apart. */
dbg_site *track_read_site(dbg_session *s, const char *text);
void track_phase(dbg_session *s, uint64_t index, uint64_t group,
                 mach_phase phase);
void track_line(dbg_session *s, const char *text, const uint32_t id[3]);
void track_var(dbg_session *s, const char *text, const uint8_t *at);
void track_bundle(dbg_session *s, uint32_t line, uint32_t col);
/* The variable of that name that the frame looked at of an item sees; NULL:
 * none. Its callers' variables are found, too. */
const dbg_var *track_find(const dbg_session *s, const dbg_item *it,
                          const char *name);
/* The scope that is the function of a frame; in each run the same number. */
uint32_t track_function_scope(const dbg_site *x, uint32_t frame);
/* First scope of the next frame further out. */
uint32_t track_scopes_end(const dbg_site *x, uint32_t frame);
const uint8_t *track_at(const dbg_item *it, const dbg_var *v);
void track_item_id(const dbg_session *s, uint32_t item, uint32_t id[3]);

/* --- look.c: names, memory, tensors, what is shown ----------------------- */

/* item_used: set when an item's variable was looked at; may be NULL. */
vpu_status look_evaluate(dbg_session *s, const char *text, bool *item_used,
                         dbg_value *out, vpu_error *err);
void look_show(dbg_session *s, const dbg_value *v, char letter);
/* "EXPR = value"; false: an error, told instead. */
bool look_print(dbg_session *s, const char *text, char letter);
void look_place(dbg_session *s); /* the line it stands on */
void look_where(dbg_session *s);
/* The source's of the frame looked at, or all of its callers', too. */
dbg_outcome look_locals(dbg_session *s, bool callers);
/* "22<tab>text" of one line; false: there is none. */
bool look_line(dbg_session *s, const char *file, uint32_t line);
/* list shows the lines around this one next. */
void look_list_at(dbg_session *s, const char *file, uint32_t line);
/* The device address of these bytes; false: they have none. */
bool look_address(const dbg_session *s, const uint8_t *at, uint32_t *address);
dbg_outcome look_list(dbg_session *s, const char *file, uint32_t line);
const char *look_source(dbg_session *s, const char *file); /* debug_source */
/* Is a variable of an item's frame not to be shown: not there, behind another
 * of its name, or of a line further on? */
bool look_hidden(const dbg_session *s, const dbg_item *it, const dbg_var *v,
                 const dbg_frame *f);
void look_group(const dbg_session *s, str *out); /* "group (0,4,0)" */
void look_item(const dbg_session *s, uint32_t item, str *out);
dbg_value look_buffer(uint32_t buffer, const graph_buffer *b, arena *a);
/* A kernel's argument as the binding has it; false: it has no value there. */
bool look_argument(const dbg_session *s, const char *name, arena *a,
                   dbg_value *out);
/* Element of a tensor, or of the buffer that a pointer points to. */
vpu_status look_element(dbg_session *s, const dbg_value *base,
                        const int64_t *index, uint32_t n, dbg_value *out,
                        vpu_error *err);

/* --- points.c: breakpoints and watches ----------------------------------- */

/* Those that hold at this event, a bit each; *why says which. */
uint64_t points_hold(dbg_session *s, str *why);
/* This event counts for those that count. */
void points_count(dbg_session *s);
/* The log messages of this event, after points_hold. */
void points_tell(dbg_session *s);
/* The whole run begins again, and counting with it. */
void points_restart(dbg_session *s);
void points_reset(dbg_session *s); /* a run begins */
dbg_outcome points_add_break(dbg_session *s, char *text, bool temporary);
/* After a stop: those that were for one stop are deleted. */
void points_forget_temporary(dbg_session *s);
dbg_outcome points_add_watch(dbg_session *s, const char *text);
dbg_outcome points_delete(dbg_session *s, const char *text);
void points_list(dbg_session *s);

/* --- source.c: lines that have code --------------------------------------- */

void dbg_source_read(dbg_session *s);
/* "a/b/grn.cl" is meant by "grn.cl" and "b/grn.cl". */
bool dbg_source_is(const char *path, const char *given);
/* Takes text apart. Says what it found instead where a line has no code; false:
 * no such place, and buf says why. Without any code (fuzzing) all are right. */
bool dbg_source_place(dbg_session *s, char *text, dbg_place *out);

/* --- change.c: what a person writes --------------------------------------- */

/* to = from, two expressions; *gone: changes further on that are forgotten.
 * Errors: as of debug_assign. */
vpu_status dbg_change_make(dbg_session *s, const char *to, const char *from,
                           size_t *gone, vpu_error *err);

/* The changes of this event, again. */
void dbg_change_replay(dbg_session *s);
/* Those behind an event are forgotten, or all (NULL); returns how many. */
size_t dbg_change_forget(dbg_session *s, const dbg_pos *behind);

/* --- command.c ----------------------------------------------------------- */

/* Reads and does commands until one makes the kernel go on. False: the launch
 * has to begin again, or the session ends. */
bool dbg_command_loop(dbg_session *s);

/* One line, in s->line or elsewhere; it is taken apart. */
dbg_outcome dbg_command_do(dbg_session *s, char *line);

/* --- control.c: a program in the place of commands ------------------------ */

/* Says where the run is, and waits for what comes next. False: as
 * dbg_command_loop. */
bool dbg_control_stop(dbg_session *s);
/* What buf says, without the line's end, as an error. */
vpu_status dbg_control_error(dbg_session *s, vpu_status code, vpu_error *err);

/* --- view.c: frames and variables as values ------------------------------- */

/* What names mean in that frame, from here on. */
void dbg_choose_frame(dbg_session *s, uint32_t frame);

/* --- rows.c: the SHAVE program -------------------------------------------- */

/* The address of the bundle where it stands, as of debug_rows. */
bool dbg_rows_here(dbg_session *s, uint64_t *address);

/* --- session.c ----------------------------------------------------------- */

/* Prints buf; when nobody listens any more the session ends. */
void dbg_session_flush(dbg_session *s);
const graph_launch *dbg_session_launch(const dbg_session *s);
uint32_t dbg_session_groups(const dbg_session *s, uint32_t n[3]);

#endif
