/* What the parts of the server share. Internal to runtime/dap. */
#ifndef VPU_RUNTIME_DAP_SERVER_H
#define VPU_RUNTIME_DAP_SERVER_H

#include <jansson.h>
#include <pthread.h>

#include "runtime/dap/dap.h"

enum {
    DAP_THREAD = 1,     /* the only one there is */
    DAP_MAX_FRAMES = 64 /* ids of frames are so far apart from stop to stop */
};

/* --- inbox.c: messages that have come ------------------------------------- */

typedef struct dap_message {
    struct dap_message *next;
    json_t *json;    /* NULL: it was none, and why says so */
    const char *why; /* a constant text */
    bool cancelled;
} dap_message;

typedef struct {
    int in, wake[2];
    pthread_t reader;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    dap_message *first, **last;
    bool ended;             /* nothing comes any more */
    bool done;              /* nobody asks any more */
    bool leaving;           /* `disconnect` has come; of the reader alone */
    atomic_bool *attention; /* set with each message */
    void (*late)(void *user);
    double patience;
    void *user;
} dap_inbox;

vpu_status dap_inbox_open(dap_inbox *b, const dap_config *cfg,
                          atomic_bool *attention, vpu_error *err);
void dap_inbox_close(dap_inbox *b);
/* The next message; NULL: none, as the input has ended or, without `wait`, yet.
 */
dap_message *dap_inbox_take(dap_inbox *b, bool wait);
bool dap_inbox_ended(dap_inbox *b);
void dap_message_free(dap_message *m);

/* --- what is kept --------------------------------------------------------- */

typedef enum { DAP_LINE, DAP_FUNCTION, DAP_DATA } dap_kind;

/* A breakpoint as the client wants it. */
typedef struct {
    dap_kind kind;
    uint32_t id;
    json_t *wanted;  /* path, line, condition …; its own */
    uint32_t number; /* of the debugger; 0: it is not set */
    uint32_t line;
    const char *why; /* it is not */
    bool used;       /* while a list is replaced */
} dap_point;

/* What a variablesReference stands for. */
typedef struct {
    uint32_t frame;
    bool scope; /* a scope; else the parts of `of` */
    debug_scope which;
    debug_variable of;
} dap_handle;

typedef struct {
    const dap_config *cfg;
    dap_inbox inbox;
    atomic_bool attention;
    pthread_mutex_t writing;
    uint64_t seq;
    bool lost;     /* nobody reads what is written */
    json_t *later; /* events behind the response that is being made */
    /* the client */
    bool initialized, lines_from_0, columns_from_0, uris;
    /* the session */
    bool over;       /* the client has left */
    bool launching;  /* a launch request waits for its response */
    bool launched;   /* there was one */
    bool configured; /* configurationDone */
    bool stop_on_entry, stop_at_end, stops_at_faults, no_debug;
    json_int_t launch_seq;
    json_t *launch;         /* its arguments */
    debug_session *session; /* NULL: none yet, or no longer */
    debug_stop stop;        /* the last one; its texts are gone */
    char stop_text[1024];
    bool stands;  /* the kernel does not run */
    bool entered; /* the first stop was told */
    bool moved;   /* what comes next is decided */
    debug_wish wish;
    /* ids */
    arena *arena; /* of this stop */
    uint32_t generation;
    dap_handle *handles;
    size_t n_handles, cap_handles;
    uint32_t first_handle;
    dap_point *points;
    size_t n_points, cap_points;
    uint32_t last_id;
    const char **sources; /* without a file, by sourceReference - 1 */
    size_t n_sources, cap_sources;
    arena *kept; /* as long as the server */
} dap_server;

/* --- server.c: answers ---------------------------------------------------- */

/* Sends it at once, or behind the response that is being made. Takes body,
 * which may be NULL: then it is empty, as some clients want one. */
void dap_event(dap_server *s, const char *name, json_t *body);
void dap_output(dap_server *s, const char *category, const char *text,
                size_t n);
void dap_respond(dap_server *s, json_int_t to, const char *command,
                 json_t *body, const char *failure);

/* Answers one message. False: there is none, none comes any more, or nobody
 * hears the answers. */
bool dap_attend(dap_server *s, bool wait);

/* Members of an object that may have others, or lack them. */
const char *dap_text(const json_t *o, const char *name); /* NULL: none */
bool dap_flag(const json_t *o, const char *name, bool otherwise);
/* What is there is a number that is no integer, or none at all: otherwise. */
json_int_t dap_number(const json_t *o, const char *name, json_int_t otherwise);

/* Lines as the client counts them, and back. */
json_t *dap_line_out(const dap_server *s, uint32_t line);
json_t *dap_column_out(const dap_server *s, uint32_t column);
uint32_t dap_line_in(const dap_server *s, json_int_t line);

/* A file as the client names it; a new reference. */
json_t *dap_source_out(dap_server *s, const char *file);
/* The file that a Source means; NULL: none. In s->kept. */
const char *dap_path_in(dap_server *s, const json_t *source);

/* --- stops.c: the session ------------------------------------------------- */

void dap_run_session(dap_server *s);
/* What was numbered for this stop is not valid any more. */
void dap_new_stop(dap_server *s);

/* --- points.c ------------------------------------------------------------- */

/* All that are not set yet, now that there is a session; tells of them. */
void dap_points_set(dap_server *s);
/* The client's id for one of the debugger's; 0: none. */
uint32_t dap_point_id(const dap_server *s, uint32_t number);
void dap_points_free(dap_server *s);

/* --- values.c ------------------------------------------------------------- */

/* Value, type and reference of a variable, into an object. */
void dap_value_out(dap_server *s, const debug_variable *v, uint32_t frame,
                   const char *as, json_t *to);
/* The frame of a frameId; without one the first. False: it is of no stop. */
bool dap_frame_of(const dap_server *s, const json_t *args, uint32_t *frame);
/* The variable of that name behind a variablesReference; false: none. */
bool dap_named(dap_server *s, const json_t *args, uint32_t *frame,
               debug_variable *out);

/* --- requests ------------------------------------------------------------- */

typedef enum {
    DAP_ALWAYS,
    DAP_INITIALIZED, /* behind initialize */
    DAP_SESSION,     /* behind launch; also while the kernel runs */
    DAP_STOPPED      /* while it does not run */
} dap_when;

/* Fills body; what it gives to dap_event comes behind the response. Errors are
 * told to the client. */
typedef vpu_status dap_handler(dap_server *s, const json_t *args, json_t *body,
                               vpu_error *err);

#define REQUEST(name, when) dap_handler dap_do_##name;
#include "runtime/dap/requests.def"
#undef REQUEST

#endif
