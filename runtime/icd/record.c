/* What a program did with the device: counted, and written where the settings
 * say. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/icd/icd.h"

typedef struct {
    FILE *file; /* NULL = not open, or in vain */
    bool tried;
} output;

/* With icd_mutex. */
static struct {
    uint64_t contexts, launches, failed, cycles, findings;
    bool ending; /* the end of the program is waited for */
    pid_t pid;
    output lines, found; /* settings.launches, settings.findings */
} record;

/* NULL: it is not wanted, or cannot be written. */
static FILE *open_once(output *o, const char *path)
{
    vpu_error err;

    if (!path || o->tried)
        return o->file;
    o->tried = true;
    if (file_log_open(path, &o->file, &err)) {
        fprintf(stderr, "vpusim: %s\n", err.msg);
        o->file = NULL;
    }
    return o->file;
}

const char *icd_record_path(arena *a, const char *path, const char *what)
{
    const icd_settings *s = icd_setting();
    int fd = s->proof ? open(arena_printf(a, "%s.%s", s->proof, what),
                             O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)
                      : -1;

    if (fd >= 0)
        close(fd);
    return fd >= 0 || !s->proof
               ? path
               : arena_printf(a, "%s.%ld", path, (long)getpid());
}

/* What all launches came to. With the device's lock. */
static void tell_totals(void)
{
    const icd_settings *s = icd_setting();
    const core_summary all = {record.contexts, record.launches, record.failed,
                              record.cycles, record.findings};
    str table = {0}, json = {0};
    vpu_error err;
    vpu_status st;

    if (!icd_device.machine || (!s->profile && !s->json))
        return;
    st = icd_device.core->tell(icd_device.machine, &all, s->profile,
                               s->profile ? &table : NULL,
                               s->json ? &json : NULL, &err);
    if (!st && s->json) {
        arena *a = arena_create(0);

        st = file_write(icd_record_path(a, s->json, "json"), str_text(&json),
                        json.n, &err);
        arena_destroy(a);
    }
    if (table.n)
        fputs(str_text(&table), stderr);
    if (st)
        fprintf(stderr, "vpusim: %s\n", err.msg);
    str_free(&table);
    str_free(&json);
}

enum { END_TRIES = 50, END_TRY_NS = 20 * 1000 * 1000 };

/* A thread whose launch runs has its second: the program ends. */
static void finish(void)
{
    const struct timespec nap = {0, END_TRY_NS};

    for (int i = 0; i < END_TRIES; i++) {
        if (pthread_mutex_trylock(&icd_device.lock)) {
            nanosleep(&nap, NULL);
            continue;
        }
        icd_timeline_end();
        tell_totals();
        pthread_mutex_unlock(&icd_device.lock);
        return;
    }
}

/* At the program's end, of the process that made the context, not of its
 * children. */
static void prove(void)
{
    const char *path = icd_setting()->proof;
    bool own = record.pid == getpid();
    FILE *f = path && own ? fopen(path, "ae") : NULL;

    if (own)
        finish();
    if (!f)
        return;
    fprintf(f, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            record.contexts, record.launches, record.failed, record.cycles,
            record.findings);
    fclose(f);
}

void icd_record_context(void)
{
    pthread_mutex_lock(&icd_mutex);
    record.contexts++;
    if (!record.ending) {
        record.ending = true;
        record.pid = getpid();
        atexit(prove);
    }
    pthread_mutex_unlock(&icd_mutex);
}

void icd_record_findings(uint32_t n, const char *lines)
{
    FILE *f;

    pthread_mutex_lock(&icd_mutex);
    record.findings += n;
    f = open_once(&record.found, icd_setting()->findings);
    if (f) {
        fputs(lines, f);
        fflush(f);
    }
    pthread_mutex_unlock(&icd_mutex);
}

static void put_sizes(FILE *f, const char *name, const uint32_t n[3],
                      const uint32_t times[3])
{
    fprintf(f, ", \"%s\": [%u, %u, %u]", name, n[0] * (times ? times[0] : 1),
            n[1] * (times ? times[1] : 1), n[2] * (times ? times[2] : 1));
}

static void put_line(FILE *f, const core_launch *l, const exec_result *r,
                     uint64_t start_ns)
{
    const mach_profile *p = &r->profile;

    fprintf(f, "{\"launch\": %" PRIu64 ", \"kernel\": \"%s\"", record.launches,
            l->kernel->name);
    put_sizes(f, "global", l->groups, l->local);
    put_sizes(f, "local", l->local, NULL);
    put_sizes(f, "offset", l->offset, NULL);
    fprintf(f,
            ", \"shaves\": %u, \"vector_factor\": %u, \"local_bytes\": %u, "
            "\"start_ns\": %" PRIu64 ", \"cycles\": %" PRIu64
            ", \"load_bytes\": %" PRIu64 ", \"store_bytes\": %" PRIu64
            ", \"ddr_bytes\": %" PRIu64 ", \"causes\": {",
            l->n_shaves, r->factor, r->local_bytes, start_ns, p->cycles,
            p->load_bytes, p->store_bytes, p->ddr_bytes);
    for (int c = 0, n = 0; c < MACH_N_CAUSES; c++) {
        uint64_t all = 0;

        for (uint32_t i = 0; i < MACH_MAX_SHAVES; i++)
            all += p->by_cause[i][c];
        if (all)
            fprintf(f, "%s\"%s\": %" PRIu64, n++ ? ", " : "",
                    icd_device.core->cause((mach_cause)c), all);
    }
    fprintf(f, "}}\n");
}

void icd_record_launch(const core_launch *l, const exec_result *r)
{
    FILE *f;

    pthread_mutex_lock(&icd_mutex);
    record.launches++;
    record.failed += !r;
    record.cycles += r ? r->profile.cycles : 0;
    f = r ? open_once(&record.lines, icd_setting()->launches) : NULL;
    if (f) {
        put_line(f, l, r, icd_device.clock);
        fflush(f);
    }
    pthread_mutex_unlock(&icd_mutex);
}
