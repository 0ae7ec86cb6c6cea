/* What a sweep adds to the runs themselves: its points as a plain loop. */
#include "tests/bench/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "include/vpusim/vpu.h"
#include "tests/bench/proc.h"

enum { POINTS = 1000, TRIES = 3 };

#define LAYER "kernels/grn/layer.xml"

static void stop_at(const vpu_error *err)
{
    fprintf(stderr, "bench: %s\n", err->msg);
    exit(1);
}

/* As a program would that does it by itself. */
static void run_point(int i)
{
    static const char *const bindings[] = {LAYER},
                             *const shapes[] = {"in0=1x16x16x32"},
                             *const params[] = {"bias=1.0"};
    vpu_context_options co = VPU_CONTEXT_OPTIONS_INIT;
    vpu_layer_options lo = VPU_LAYER_OPTIONS_INIT;
    vpu_run_options ro = VPU_RUN_OPTIONS_INIT;
    char setting[64];
    const char *settings[] = {setting};
    vpu_context *c;
    vpu_graph *g = NULL;
    vpu_operation *op;
    vpu_result *r = NULL;
    vpu_error err;

    snprintf(setting, sizeof setting, "ddr_load_stall=%d", i + 1);
    co.settings = settings;
    co.n_settings = 1;
    co.threads = 1;
    lo.bindings = bindings;
    lo.n_bindings = 1;
    lo.layer = "GRN";
    lo.shapes = shapes;
    lo.n_shapes = 1;
    lo.params = params;
    lo.n_params = 1;
    ro.finalize = 1;
    if (vpu_context_create(&c, &co, &err) || vpu_graph_create(&g, c, &err) ||
        vpu_graph_add_layer(g, &lo, &op, &err) || vpu_graph_finalize(g, &err) ||
        vpu_tensor_fill(vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 0), "random:0",
                        &err) ||
        vpu_graph_run(g, &ro, &r, &err))
        stop_at(&err);
    if (!vpu_result_json(r))
        exit(1);
    vpu_result_free(r);
    vpu_graph_free(g);
    vpu_context_free(c);
}

/* Seconds of all points; the kernel is in the cache before. */
static double time_loop(void)
{
    double begin;

    run_point(0);
    begin = clock_seconds();
    for (int i = 0; i < POINTS; i++)
        run_point(i);
    return clock_seconds() - begin;
}

/* In a folder of its own: where files were deleted a moment ago, some file
 * systems make new ones slowly. Planning, once for a sweep, is left out. */
static double time_sweep(const char *vpu, const char *dir, int try,
                         unsigned jobs)
{
    static proc_result r;
    char words[512];

    snprintf(words, sizeof words, "%s sweep plan %s/m --dir %s/%d-%u", vpu, dir,
             dir, try, jobs);
    proc_run(words, &r);
    snprintf(words, sizeof words, "%s sweep run %s/%d-%u --jobs %u --quiet",
             vpu, dir, try, jobs, jobs);
    proc_run(words, &r);
    return r.wall_s;
}

static void put_manifest(const char *dir)
{
    char path[256], *layer = realpath(LAYER, NULL);
    FILE *f;

    snprintf(path, sizeof path, "%s/m", dir);
    f = fopen(path, "w");
    if (!f || !layer) {
        perror(path);
        exit(1);
    }
    fprintf(f,
            "run %s --layer GRN --param bias=1.0 --shape in0=1x16x16x32 "
            "--threads 1\nvary --set ddr_load_stall 1..%d/%d\n",
            layer, POINTS, POINTS);
    fclose(f);
    free(layer);
}

json_t *bench_sweep(const char *vpu)
{
    char dir[] = "/tmp/vpu-bench-XXXXXX", words[64];
    static proc_result r;
    double loop = 1e9, sweep[2] = {1e9, 1e9};

    if (!mkdtemp(dir)) {
        perror(dir);
        exit(1);
    }
    put_manifest(dir);
    for (int i = 0; i < TRIES; i++) { /* the fastest of each, taken by turns */
        double s = time_loop();

        loop = s < loop ? s : loop;
        for (unsigned jobs = 1; jobs <= 2; jobs++) {
            s = time_sweep(vpu, dir, i, jobs);
            sweep[jobs - 1] = s < sweep[jobs - 1] ? s : sweep[jobs - 1];
        }
    }
    snprintf(words, sizeof words, "rm -rf %s", dir);
    proc_run(words, &r);
    printf("\n%-34s %11s %11s\n", "sweeps of a small layer", "points/s",
           "of a loop");
    printf("%-34s %11.0f\n", "a loop in one process", POINTS / loop);
    for (int j = 0; j < 2; j++)
        printf("vpu sweep run --jobs %-13d %11.0f %10.2fx\n", j + 1,
               POINTS / sweep[j], loop / sweep[j]);
    return json_pack("{s:f, s:f, s:f}", "loop", POINTS / loop, "jobs1",
                     POINTS / sweep[0], "jobs2", POINTS / sweep[1]);
}
