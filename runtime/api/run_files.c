/* What a run writes beside its tensors: timelines, folded stacks, one
 * work-group's pipeline, outputs and report. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/oom.h"
#include "runtime/advice/roofline.h"
#include "runtime/api/api_priv.h"
#include "runtime/graph/io.h"
#include "runtime/report/profile.h"

enum { MOST_BUNDLES = 10000, MOST_DEPTH = 8 /* of composed operations */ };

/* --- what the host does --------------------------------------------------- */

void api_run_files_work(api_run_files *f, const char *what)
{
    uint64_t t;

    if (!f->options->trace_host)
        return;
    t = (uint64_t)(clock_seconds() * 1e9);
    if (f->n_work && !f->work[f->n_work - 1].end)
        f->work[f->n_work - 1].end = t;
    if (!what)
        return;
    f->work = oom_realloc(f->work, (f->n_work + 1) * sizeof *f->work);
    f->work[f->n_work++] = (api_work){.name = what, .begin = t};
}

/* Wall-clock times, so only where they are asked for: other timelines are the
 * same from run to run. */
static void trace_work(const api_run_files *f)
{
    trc_track track;

    if (!f->options->trace_host)
        return;
    track = trc_track_slices(f->trace, trc_track_group(f->trace, 0, "host"),
                             "host work", TRC_NS);
    for (uint32_t i = 0; i < f->n_work; i++)
        trc_slice(f->trace, track, f->work[i].begin - f->work[0].begin,
                  f->work[i].end - f->work[0].begin,
                  &(trc_event){.name = f->work[i].name});
}

static uint64_t cycles_before(const vpu_result *r, size_t launch)
{
    uint64_t n = 0;

    for (size_t i = 0; i < launch; i++)
        n += vpu_result_launch_cycles(r, i);
    return n;
}

static uint32_t depth_of(const vpu_operation *op)
{
    uint32_t n = 0;

    for (; op->outer; op = op->outer)
        n++;
    return n;
}

/* Composed operations as slices above those of their parts, a row for each
 * depth. */
static void trace_operations(const api_run_files *f, const vpu_result *r)
{
    trc_track group = 0, rows[MOST_DEPTH] = {0};

    for (const vpu_operation *op = f->graph->operations; op; op = op->next) {
        uint32_t depth = depth_of(op);
        uint64_t begin, end;

        if (!op->composed || !op->n_launches || depth >= MOST_DEPTH)
            continue;
        if (!group)
            group = trc_track_group(f->trace, 0, "operations");
        if (!rows[depth])
            rows[depth] = trc_track_slices(
                f->trace, group, depth ? "parts" : "operations", TRC_CYCLES);
        begin = cycles_before(r, op->launch);
        end = cycles_before(r, op->launch + op->n_launches);
        trc_slice(f->trace, rows[depth], begin, end,
                  &(trc_event){.name = op->name});
    }
}

/* --- what is asked for ---------------------------------------------------- */

vpu_status api_run_files_ask(const vpu_run_options *o, const char *id,
                             const backend_ops *ops, const exec_options *how,
                             vpu_error *err)
{
    const struct {
        bool given;
        const char *name, *lacks;
        uint32_t needs;
    } lookers[] = {
        {o->profile, "profile", "profile of lines", EXEC_PROFILE_NEEDS},
        {o->folded, "folded", "profile of lines", EXEC_PROFILE_NEEDS},
        {o->kanata, "kanata", "pipeline to look at", KANATA_NEEDS},
        {o->trace_bundles, "trace_bundles", "pipeline to look at",
         BUNDLES_NEEDS},
        {o->executors, "executors", "inferences at once", EXEC_TRACE_NEEDS},
        {o->roofline, "roofline", "figures of launches", EXEC_TRACE_NEEDS},
        {o->trace || o->trace_json || o->vcd, "a trace", NULL,
         EXEC_TRACE_NEEDS}};

    if (o->trace_bundles && !o->trace && !o->trace_json && !o->vcd)
        return err_set(err, VPU_ERR_INVALID,
                       "trace_bundles needs a timeline to put them into");
    for (size_t i = 0; i < sizeof lookers / sizeof *lookers; i++) {
        if (!lookers[i].given)
            continue;
        if (!ops->observe && lookers[i].lacks)
            return err_set(err, VPU_ERR_UNSUPPORTED, "backend %s has no %s", id,
                           lookers[i].lacks);
        if (ops->observe &&
            exec_meets(lookers[i].name, lookers[i].needs, how, NULL, err))
            return VPU_ERR_INVALID;
    }
    return o->roofline ? roofline_check(o->roofline, err) : VPU_OK;
}

vpu_status vpu_run_options_check(const vpu_run_options *options,
                                 const vpu_context_options *context,
                                 vpu_error *err)
{
    vpu_run_options o;
    vpu_context_options c;
    const backend_ops *ops;
    const char *device;
    exec_options how;
    vpu_status st =
        api_take_options(&o, sizeof o, options, "vpu_run_options", err);

    if (!st)
        st =
            api_take_options(&c, sizeof c, context, "vpu_context_options", err);
    if (!st)
        st = api_context_check(&c, err);
    if (!st && !c.backend)
        c.backend = "sim";
    if (!st)
        st = backend_find(c.backend, &ops, &device, err);
    if (st)
        return st;
    how = api_context_how(&c);
    return api_run_files_ask(&o, c.backend, ops, &how, err);
}

/* --- opening -------------------------------------------------------------- */

static vpu_status open_trace(api_run_files *f, vpu_error *err)
{
    const vpu_run_options *o = f->options;
    const vpu_context *c = f->graph->context;
    const struct {
        const char *path;
        trc_format format;
    } files[] = {{o->trace, TRC_PERFETTO},
                 {o->trace_json, TRC_CHROME_JSON},
                 {o->vcd, TRC_VCD}};
    trc_config cfg = {.level = o->trace_level ? (trc_level)(o->trace_level - 1)
                                              : TRC_FULL,
                      .clk_mhz = (uint32_t)c->desc.clk_mhz};
    bool of_session = !f->graph->open.ops && o->finalize &&
                      backend_extras(c->ops) & BACKEND_TRACE;
    vpu_status st;

    if (!o->trace && !o->trace_json && !o->vcd)
        return VPU_OK;
    if (!c->ops->trace && !of_session)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "backend %s has no timelines of single runs", c->id);
    st = trc_writer_create(&cfg, &f->trace, err);
    for (size_t i = 0; i < sizeof files / sizeof *files && !st; i++)
        if (files[i].path)
            st = trc_writer_add(f->trace, files[i].format, files[i].path, err);
    return st;
}

/* Some launch has that work-group. */
static vpu_status has_group(const graph *g, const char *option, uint64_t group,
                            vpu_error *err)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < g->n_launches; i++) {
        const graph_launch *l = &g->launches[i];
        uint64_t n = 1;

        for (int d = 0; d < 3; d++)
            n *= l->local[d] ? l->global[d] / l->local[d] : 0;
        n = l->native ? 0 : n;
        most = n > most ? n : most;
    }
    return group < most
               ? VPU_OK
               : err_set(err, VPU_ERR_INVALID,
                         "%s %llu: there are %llu work-groups", option,
                         (unsigned long long)group, (unsigned long long)most);
}

static vpu_status open_pipelines(api_run_files *f, vpu_error *err)
{
    const vpu_run_options *o = f->options;
    const graph *g = &f->graph->g;
    uint64_t most = o->kanata_bundles ? o->kanata_bundles : MOST_BUNDLES;
    vpu_status st = VPU_OK;

    if (o->trace_bundles)
        st = has_group(g, "trace_bundles", o->trace_bundles_group, err);
    if (!st && o->kanata)
        st = has_group(g, "kanata_group", o->kanata_group, err);
    if (!st && o->kanata)
        st = file_out_open(&f->kanata_file, o->kanata, err);
    if (!st && o->kanata)
        f->kanata = kanata_create(f->kanata_file.stream, o->kanata_group, most);
    if (!st && o->trace_bundles && f->trace)
        f->bundles = bundles_create(f->trace, o->trace_bundles_group, most);
    return st;
}

vpu_status api_run_files_open(api_run_files *f, vpu_error *err)
{
    const vpu_run_options *o = f->options;
    vpu_status st = o->output ? file_mkdirs(o->output, err) : VPU_OK;

    if (!st)
        st = open_trace(f, err);
    if (!st)
        st = open_pipelines(f, err);
    if (!st && o->folded)
        st = file_out_open(&f->folded, o->folded, err);
    return st;
}

/* --- while it runs -------------------------------------------------------- */

void api_run_files_observe(api_run_files *f)
{
    const backend *b = &f->graph->open;

    f->traced = b->ops->trace && f->trace;
    if (f->traced)
        b->ops->trace->to(b->self, f->trace);
    if (f->kanata)
        f->observers[f->n_observers++] = kanata_observer(f->kanata);
    if (f->bundles && f->traced)
        f->observers[f->n_observers++] = bundles_observer(f->bundles);
    if (b->ops->observe && f->n_observers)
        b->ops->observe->observers(b->self, f->observers, f->n_observers);
}

void api_run_files_detach(api_run_files *f)
{
    const backend *b = &f->graph->open;

    if (b->ops && f->traced)
        b->ops->trace->to(b->self, NULL);
    if (b->ops && b->ops->observe && f->n_observers)
        b->ops->observe->observers(b->self, NULL, 0);
}

/* --- afterwards ----------------------------------------------------------- */

static vpu_status save_outputs(const api_run_files *f, vpu_result *r,
                               vpu_error *err)
{
    const vpu_graph *g = f->graph;
    const char *dir = f->options->output, *json = vpu_result_json(r);
    arena *a = arena_create(0);
    void **data = arena_array(a, void *, g->g.n_buffers + 1);
    vpu_status st;

    for (uint32_t i = 0; i < g->g.n_buffers; i++)
        if (g->g.buffers[i].role == GRAPH_OUTPUT)
            data[i] = api_tensor_memory(g->tensors[i]);
    st = graph_output_save(dir, &g->g, data, err);
    /* Those with gaps once more, in one piece. */
    for (uint32_t i = 0; i < g->g.n_buffers && !st; i++)
        if (data[i] && g->tensors[i]->has_gaps)
            st = vpu_tensor_save(
                g->tensors[i],
                arena_printf(a, "%s/%s.npy", dir, g->g.buffers[i].name), err);
    if (!st && !json)
        st = err_set(err, VPU_ERR_NOMEM, "no memory for the report");
    if (!st)
        st = file_write(file_join(a, dir, "report.json"), json, strlen(json),
                        err);
    arena_destroy(a);
    return st;
}

static vpu_status save_folded(api_run_files *f, const vpu_result *r,
                              vpu_error *err)
{
    const report_source source = api_result_source(r);
    str out = {0};

    report_profile_folded(&source, &out);
    fwrite(str_text(&out), 1, out.n, f->folded.stream);
    str_free(&out);
    return file_out_commit(&f->folded, err);
}

vpu_status api_run_files_save(api_run_files *f, vpu_result *r, vpu_error *err)
{
    vpu_status st = VPU_OK;

    if (f->options->output) {
        api_run_files_work(f, "transfer");
        st = save_outputs(f, r, err);
    }
    api_run_files_work(f, NULL);
    if (!st && f->traced)
        trace_operations(f, r);
    if (!st && f->traced && f->options->advise)
        api_result_trace_advice(r, f->trace);
    if (!st && f->folded.stream)
        st = save_folded(f, r, err);
    if (!st && f->kanata)
        st = file_out_commit(&f->kanata_file, err);
    if (!st && f->options->roofline)
        st =
            roofline_write(&f->graph->g, &f->graph->open,
                           &f->graph->context->desc, f->options->roofline, err);
    return st;
}

vpu_status api_run_files_close(api_run_files *f, vpu_status st, vpu_error *err)
{
    if (f->trace && st) {
        trc_writer_abandon(f->trace);
    } else if (f->trace) {
        trace_work(f);
        st = trc_writer_commit(f->trace, err);
    }
    file_out_abandon(&f->folded);
    file_out_abandon(&f->kanata_file);
    kanata_free(f->kanata);
    bundles_free(f->bundles);
    free(f->work);
    return st;
}
