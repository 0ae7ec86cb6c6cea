/* The OpenCL driver's objects. Private to runtime/icd.
 *
 * A handle is a pointer to one of the structures here; each begins with what
 * loaders look at. The table of live objects says whether a handle is one: it
 * is never followed before. icd_mutex guards all that changes in objects, the
 * table and the list of commands; a machine is used with its device's own lock,
 * which is taken before icd_mutex or without it.
 *
 * Unlike the rest of the tree a driver has state of its process: OpenCL's
 * platform and device are the process's. */
#ifndef VPU_RUNTIME_ICD_ICD_H
#define VPU_RUNTIME_ICD_ICD_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "include/CL/cl_vpusim.h"
#include "runtime/icd/core/core.h"
#include "runtime/icd/settings.h"

/* Work-items of a group at most, a choice [U]; bytes that buffers are aligned
 * to, as the largest type, long16. */
enum { ICD_GROUP = 1024, ICD_ALIGN = 128 };

typedef enum {
    ICD_PLATFORM = 1,
    ICD_DEVICE,
    ICD_CONTEXT,
    ICD_QUEUE,
    ICD_MEMORY,
    ICD_PROGRAM,
    ICD_KERNEL,
    ICD_EVENT
} icd_kind;

/* refs: the program's references; uses: ours. A handle is one as long as there
 * are references, the object is there as long as there is any. */
#define ICD_HEAD                       \
    const cl_icd_dispatch *dispatch;   \
    void *of_loader; /* since ICD 2 */ \
    icd_kind kind;                     \
    cl_uint refs, uses

typedef struct {
    ICD_HEAD;
} icd_object;

struct _cl_platform_id {
    ICD_HEAD;
};

struct _cl_device_id {
    ICD_HEAD;
    pthread_mutex_t lock; /* of the machine */
    pthread_once_t once;  /* of desc */
    arena *arena;
    icd_settings settings;
    bool bad; /* VPU_CL is */
    const core_table *core;
    core_machine *machine; /* from the first context on */
    uint64_t clock;        /* nanoseconds, the device's own */
};

typedef void icd_notify(const char *, const void *, size_t, void *);

struct _cl_context {
    ICD_HEAD;
    cl_context_properties *properties;
    size_t n_properties;
    icd_notify *notify;
    void *user;
};

struct _cl_command_queue {
    ICD_HEAD;
    cl_context context;
    cl_command_queue_properties properties;
    cl_int pending;        /* commands that are not done */
    uint32_t traced;       /* its row in the timeline; 0: it has none */
    uint64_t seen, blocks; /* numbers of the searches that met a command of it,
                              a barrier of it */
};

typedef struct icd_destructor {
    struct icd_destructor *next;
    void(CL_CALLBACK *call)(cl_mem, void *);
    void *user;
} icd_destructor;

typedef struct icd_map {
    struct icd_map *next;
    void *at;
    size_t offset, bytes;
    cl_map_flags flags;
} icd_map;

struct _cl_mem {
    ICD_HEAD;
    cl_context context;
    cl_mem parent; /* of a sub-buffer */
    cl_mem_flags flags;
    size_t bytes, origin; /* in the parent */
    void *host;           /* CL_MEM_USE_HOST_PTR */
    uint32_t address;
    /* Of buffers that are no parts, under checkers: a bit for each byte that
     * somebody has written, the kernel that writes it, and whether a program
     * was told that it reads others. With the device's lock. */
    uint8_t *written;
    char writer[64];
    bool told;
    icd_map *maps;
    icd_destructor *destructors; /* the last one first */
};

/* A text for the compiler, with its options and what it may include. */
typedef struct {
    const char *options, *source;
    cl_uint n_headers;
    const char *const *names, *const *headers;
} icd_text;

/* Several, as they stand in binaries. */
typedef struct {
    str bytes;
    cl_uint n;
} icd_texts;

struct _cl_program {
    ICD_HEAD;
    cl_context context;
    char *source;    /* NULL: it was linked of several */
    bool binary;     /* the texts came in one */
    icd_texts texts; /* that the unit is of, or will be */
    core_unit *unit; /* NULL: not built, or in vain */
    cl_build_status status;
    cl_program_binary_type type; /* of unit, or of the binary; NONE without */
    char *options, *log;
    cl_uint kernels; /* made of it */
};

typedef struct {
    bool set;
    cl_mem memory; /* used; NULL = none */
    size_t bytes;  /* of a local array */
    void *value;   /* of others, as given */
} icd_argument;

struct _cl_kernel {
    ICD_HEAD;
    cl_program program;
    const sim_kernel *sim;
    icd_argument *arguments;
};

typedef struct icd_callback {
    struct icd_callback *next;
    void(CL_CALLBACK *call)(cl_event, cl_int, void *);
    void *user;
    cl_event event;
    cl_int on, status;
} icd_callback;

/* Of a kernel's launch. */
typedef struct {
    cl_ulong cycles, causes[MACH_N_CAUSES], load, store, dma, ddr;
    cl_uint shaves, factor, cmx;
} icd_figures;

struct _cl_event {
    ICD_HEAD;
    cl_context context;
    cl_command_queue queue; /* NULL: a user's */
    cl_command_type type;
    cl_int status;
    bool final;           /* a user's, whose status is set */
    icd_figures *figures; /* NULL: of no launch, or nobody asks */
    cl_ulong times[4];    /* queued, submitted, started, ended */
    icd_callback *callbacks;
};

extern pthread_mutex_t icd_mutex;
extern pthread_cond_t icd_changed;
extern const cl_icd_dispatch icd_dispatch;
extern struct _cl_platform_id icd_platform;
extern struct _cl_device_id icd_device;

#define FUNCTION(name) extern __typeof__(name) icd_##name;
#include "runtime/icd/functions.def"

/* --- objects -------------------------------------------------------------- */

/* Zeroed, with one reference; NULL: no memory. */
void *icd_object_new(icd_kind kind, size_t bytes);
/* Is the handle one of that kind? Any pointer will do. */
bool icd_is(const void *handle, icd_kind kind);
/* The program's references. */
cl_int icd_retain(void *handle, icd_kind kind, cl_int invalid);
cl_int icd_release(void *handle, icd_kind kind, cl_int invalid);
/* Ours: of an object that is there. drop may end it. Without icd_mutex. */
void *icd_use(void *object);
void icd_drop(void *object);
/* What the lock guards, read with it. */
cl_uint icd_count(const cl_uint *n);
/* How objects of a kind end. */
void icd_context_end(cl_context c);
void icd_queue_end(cl_command_queue q);
void icd_memory_end(cl_mem m);
void icd_program_end(cl_program p);
void icd_kernel_end(cl_kernel k);
void icd_event_end(cl_event e);

/* --- answers -------------------------------------------------------------- */

typedef struct {
    size_t room;
    void *to;
    size_t *size;
} icd_answer;

cl_int icd_put(const icd_answer *a, const void *value, size_t bytes);
cl_int icd_put_text(const icd_answer *a, const char *text);
#define ICD_PUT(a, type, v) icd_put(a, &(type){v}, sizeof(type))

/* *error = code, if there is a place for it. */
static inline void icd_say(cl_int *error, cl_int code)
{
    if (error)
        *error = code;
}

/* --- devices, contexts ---------------------------------------------------- */

/* What VPU_CL says, read once, and the machine it describes. */
const icd_settings *icd_setting(void);
const mach_desc *icd_desc(void);
/* What a program did: a context is made; a launch has ended (NULL: in vain). */
void icd_record_context(void);
void icd_record_launch(const core_launch *l, const exec_result *r);
/* Checkers have found so many; lines: of JSON. */
void icd_record_findings(uint32_t n, const char *lines);
/* The first process under a vpu cl has the file's name, others their number
 * behind it; what: it is for, one name for each option. */
const char *icd_record_path(arena *a, const char *path, const char *what);
/* Text for a context's callback, else for standard error. */
void icd_tell(cl_context c, const char *text);
cl_int icd_device_open(void); /* CL_SUCCESS, or why not */
/* The simulator; NULL: it cannot be loaded, err says why. */
const core_table *icd_core_load(vpu_error *err);

/* --- commands ------------------------------------------------------------- */

/* Bytes of a box from one place to another. */
typedef struct {
    cl_mem from, to; /* NULL = host */
    const void *source;
    void *target;
    size_t origin[2][3], region[3], pitch[2][2]; /* [0] is read, [1] written */
} icd_copy;

typedef struct icd_command icd_command;
struct icd_command {
    icd_command *next;
    cl_command_queue queue;
    cl_event event;
    cl_event *waits;
    cl_uint n_waits;
    uint64_t traced; /* its number in the timeline; 0: it is not there */
    bool barrier, after_all; /* what follows waits for it; it waits for all */
    /* CL_COMPLETE, or an error; *ns: the device's time it took. By the worker,
     * without icd_mutex. NULL: nothing to do. */
    cl_int (*run)(icd_command *c, uint64_t *ns);
    void (*end)(icd_command *c); /* gives back what data holds; or NULL */
    union {
        icd_copy copy; /* its memory is used */
        struct {
            cl_mem to;
            uint8_t pattern[128];
            size_t n, offset, bytes;
        } fill;
        struct {
            cl_mem memory;
            void *at;
            size_t offset, bytes;
            cl_map_flags flags;
        } map;
        struct {
            cl_kernel kernel;
            cl_mem *memories; /* used */
            cl_uint n_memories;
            exec_value *values;
            uint32_t *own; /* addresses of structures, n_own */
            const void **structures;
            uint32_t n_own;
            core_launch launch;
        } kernel;
        struct {
            void(CL_CALLBACK *call)(void *);
            void *args;
            cl_mem *memories; /* used, or NULL */
            cl_uint n_memories;
        } native;
    } data;
};

typedef struct {
    cl_uint n;
    const cl_event *list;
    cl_event *event;
} icd_waiting;

/* A command for the queue, after a look at queue and wait list; *out has only
 * what they say. */
cl_int icd_command_new(cl_command_queue q, const icd_waiting *w,
                       cl_command_type type, icd_command **out);
/* Give it up before it is enqueued. */
void icd_command_give_up(icd_command *c);
/* Enqueue it; blocking: until it is done, and its status. */
cl_int icd_enqueue(icd_command *c, const icd_waiting *w, bool blocking);
/* A user's event has its status, or a command is done. With icd_mutex. */
void icd_event_set(cl_event e, cl_int status);

/* What users want to know besides (watch.c); with the device's lock. False: no
 * memory. */
bool icd_watch_new_memory(cl_mem m);
void icd_watch_written(cl_mem m, size_t offset, size_t bytes);
void icd_watch_copied(cl_mem from, size_t from_offset, cl_mem to,
                      size_t to_offset, size_t bytes);
/* The program reads it. */
void icd_watch_read(cl_mem m, size_t offset, size_t bytes);
/* A launch is refused for its local size, or for the memory of its groups. */
void icd_watch_refused(cl_context context, cl_kernel k, bool sizes,
                       const char *text);
/* A kernel's command is about to run; its structures are placed. */
void icd_watch_launch(icd_command *c);
/* It has run; its structures are there still. */
void icd_watch_ran(icd_command *c, bool well);

/* The timeline (timeline.c); without icd_mutex, without the device's lock. This
 * thread enqueues the command; it has run; this thread has waited since then,
 * by the device's clock; the program ends (with the device's lock). */
void icd_timeline_enqueue(icd_command *c);
void icd_timeline_ran(const icd_command *c, cl_int status, uint64_t begin_ns,
                      uint64_t end_ns);
void icd_timeline_waited(const char *call, uint64_t begin_ns);
uint64_t icd_timeline_clock(void);
void icd_timeline_end(void);

/* Texts of programs (binary.c); what they point to is copied. */
void icd_texts_add(icd_texts *texts, const icd_text *t);
/* texts->n of them, pointing into it; arrays are in a. NULL: they are none. */
icd_text *icd_texts_list(const icd_texts *texts, arena *a);
/* Was any of them compiled with that option? */
bool icd_texts_have(const icd_texts *texts, const char *option);
/* The binary of a program that has texts. */
void icd_binary_make(cl_program p, str *out);
/* Type, options, texts and source of a new program; false: it is no binary. */
bool icd_binary_read(cl_program p, const unsigned char *bytes, size_t n);

/* Has it kernels that can be made? One of a binary is built for that. */
bool icd_program_runs(cl_program p);
/* CMX of a group of l->local items with the local arrays that are set; list, or
 * NULL: a line for each who needs some. */
uint32_t icd_kernel_local_bytes(cl_kernel k, const core_launch *l, str *list);
/* Are they flags of 1.2, none of which excludes another? */
bool icd_memory_flags_agree(cl_mem_flags f);
/* Of a memory object's bytes on the device; with offset of a sub-buffer. */
uint8_t *icd_memory_bytes(cl_mem m);
/* Bytes over the device's memory, in its nanoseconds, at least one; and between
 * host and device. */
uint64_t icd_memory_ns(size_t bytes);
uint64_t icd_link_ns(size_t bytes);

#endif
