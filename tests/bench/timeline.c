/* The viewer's figures on a made-up trace: timeline EVENTS FILE.
 *
 * Writes a trace of that many slices (16 SHAVEs, groups with three causes each,
 * 2 DMA channels) to FILE. Then it opens the trace and draws frames of a zoom
 * and a pan at 1920 x 1080 into memory, until it was alone on this machine
 * three times (quiet.h), at most seven times in all. Prints one line of JSON:
 * the memory of the first time, of the rest the medians of those times, or of
 * all when there are fewer. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/trace/writer.h"
#include "tests/bench/proc.h"
#include "tests/bench/quiet.h"
#include "visualizer/control.h"
#include "visualizer/load.h"

enum {
    SHAVES = 16,
    CHANNELS = 2,
    ALONE = 3,
    MOST_TIMES = 7,
    FRAMES = 300,
    WIDTH = 1920,
    HEIGHT = 1080
};

static void write_group(trc_writer *w, trc_track shave, uint64_t t, uint64_t i)
{
    static const char *const names[] = {"issue", "DDR stall", "DMA wait"};
    trc_arg args[] = {TRC_UINT("group", i), TRC_UINT("cycle", t),
                      TRC_TEXT("launch", "L"), TRC_UINT("local bytes", 4096)};
    trc_arg causes[] = {TRC_UINT("issue", 100 + i % 50),
                        TRC_UINT("DDR stall", 200), TRC_UINT("DMA wait", 100)};

    trc_begin(w, shave, t,
              &(trc_event){.name = "comp",
                           .numbered = true,
                           .number = i,
                           .args = args,
                           .n_args = 4});
    for (int k = 0; k < 3; k++) {
        uint64_t length = causes[k].number;

        trc_slice(w, shave, t, t + length, &(trc_event){.name = names[k]});
        t += length;
    }
    trc_end(w, shave, t, causes, 3);
}

static bool write_trace(uint64_t events, const char *path)
{
    trc_config cfg = {.level = TRC_FULL};
    trc_track device, shave[SHAVES], dma[CHANNELS];
    uint64_t groups = events * 16 / (SHAVES * 65);
    char name[16];
    trc_writer *w;
    vpu_error err;

    if (trc_writer_create(&cfg, &w, &err) ||
        trc_writer_add(w, TRC_PERFETTO, path, &err)) {
        fprintf(stderr, "timeline: %s\n", err.msg);
        return false;
    }
    device = trc_track_group(w, 0, "device");
    for (int i = 0; i < SHAVES; i++) {
        snprintf(name, sizeof name, "SHAVE %d", i);
        shave[i] = trc_track_slices(w, device, name, TRC_CYCLES);
    }
    for (int i = 0; i < CHANNELS; i++) {
        snprintf(name, sizeof name, "DMA %d", i);
        dma[i] = trc_track_slices(w, device, name, TRC_CYCLES);
    }
    for (uint64_t g = 0; g < groups; g++) {
        for (uint64_t i = 0; i < SHAVES; i++)
            write_group(w, shave[i], g * 500 + i * 7, g * SHAVES + i);
        trc_slice(w, dma[g % CHANNELS], g * 500, g * 500 + 450,
                  &(trc_event){.name = "in", .numbered = true, .number = g});
    }
    if (!trc_writer_commit(w, &err))
        return true;
    fprintf(stderr, "timeline: %s\n", err.msg);
    return false;
}

/* Writing gigabytes to the disk takes the processors' time, too: not while the
 * opening is measured. */
static bool written_out(const char *path)
{
    int fd = open(path, O_RDONLY);
    bool out = fd >= 0 && !fsync(fd);

    if (fd >= 0)
        close(fd);
    return out;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* 99 of 100 frames are drawn in, in milliseconds. */
static double frames(view *v, cv_font_set *fonts, uint32_t *px)
{
    static double took[FRAMES];
    control k;

    control_init(&k, v, "bench", NULL, NULL);
    control_resize(&k, WIDTH, HEIGHT);
    control_motion(&k, 700, 300);
    for (int i = 0; i < FRAMES; i++) {
        double start = clock_seconds();
        cv_canvas c;

        if (i < FRAMES / 3)
            control_wheel(&k, 0, 1, 0);
        else if (i < 2 * FRAMES / 3)
            control_wheel(&k, 0, -1, 0);
        else
            control_key(&k, i % 2 ? 'd' : 'w', 0);
        cv_raster(&c, fonts, &(const cv_pixels){px, WIDTH, HEIGHT, WIDTH}, 1);
        control_paint(&k, &c);
        took[i] = (clock_seconds() - start) * 1e3;
    }
    qsort(took, FRAMES, sizeof *took, ascending);
    return took[FRAMES * 99 / 100];
}

/* A quiet moment is waited for so long before, and looked for behind. */
static const double before_s = 5, behind_s = 0.05;

typedef struct {
    uint32_t n;
    double opened[MOST_TIMES], frame[MOST_TIMES]; /* seconds, milliseconds */
} times;

typedef struct {
    times any, alone;
    long memory_kib; /* when it had been opened the first time */
} figures;

static void add_time(times *t, double opened, double frame)
{
    t->opened[t->n] = opened;
    t->frame[t->n++] = frame;
}

static vpu_status measure(const char *path, figures *to, vpu_error *err)
{
    static uint32_t px[WIDTH * HEIGHT];
    bool alone = quiet_within(before_s);
    double start = clock_seconds();
    cv_font_set *fonts = NULL;
    struct rusage use;
    tl_timeline tl;
    view v;
    vpu_status st = load_file(path, &tl, err);

    if (st)
        return st;
    st = view_init(&v, &tl, err);
    if (!st && !(st = cv_fonts_open(1, &fonts, err))) {
        double opened = clock_seconds() - start, frame;

        getrusage(RUSAGE_SELF, &use);
        if (!to->any.n)
            to->memory_kib = use.ru_maxrss;
        frame = frames(&v, fonts, px);
        add_time(&to->any, opened, frame);
        if (quiet_within(behind_s) && alone)
            add_time(&to->alone, opened, frame);
    }
    cv_fonts_close(fonts);
    view_free(&v);
    tl_free(&tl);
    return st;
}

int main(int argc, char **argv)
{
    unsigned long long events = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    vpu_status st = VPU_OK;
    figures f = {.memory_kib = 0};
    times *t = &f.any;
    vpu_error err;

    if (!events) {
        fprintf(stderr, "usage: timeline EVENTS FILE\n");
        return 2;
    }
    if (!write_trace(events, argv[2]) || !written_out(argv[2]))
        return 2;
    while (!st && f.any.n < MOST_TIMES && f.alone.n < ALONE)
        st = measure(argv[2], &f, &err);
    unlink(argv[2]);
    if (st) {
        fprintf(stderr, "timeline: %s\n", err.msg);
        return 2;
    }
    if (f.alone.n == ALONE)
        t = &f.alone;
    printf("{\"slices\": %llu, \"open_s\": %.3f, \"memory_mib\": %ld, "
           "\"frame_p99_ms\": %.2f}\n",
           events, proc_median(t->opened, t->n), f.memory_kib / 1024,
           proc_median(t->frame, t->n));
    return 0;
}
