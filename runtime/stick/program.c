/* From a blob to a graph the simulator runs. Its memory is what the device's
 * is: four areas, with buffers at offsets that may overlap. */
#include "runtime/stick/program_priv.h"

#include <string.h>

#include "runtime/blob/check.h"
#include "runtime/blob/stage.h"

/* --- memory -------------------------------------------------------------- */

static uint64_t area_bytes(const blob *b, stick_area at)
{
    const uint64_t bytes[N_AREAS] = {b->inputs_size, b->outputs_size,
                                     b->bss_size, b->n_constants};

    return bytes[at];
}

bool stick_place(const blob *b, const blob_buffer *f, uint64_t bytes,
                 stick_area *at, uint32_t *offset)
{
    uint64_t start = f->offset;

    switch (f->location) {
    case BLOB_INPUT:
        *at = AREA_INPUT;
        if (f->data.index >= b->n_inputs)
            return false;
        start += b->inputs[f->data.index].offset;
        break;
    case BLOB_OUTPUT:
        *at = AREA_OUTPUT;
        if (f->data.index >= b->n_outputs)
            return false;
        start += b->outputs[f->data.index].offset;
        break;
    case BLOB_BSS:
        *at = AREA_SCRATCH;
        break;
    case BLOB_CONST:
        *at = AREA_CONST;
        break;
    default:
        return false;
    }
    if (start > area_bytes(b, *at) || bytes > area_bytes(b, *at) - start)
        return false;
    *offset = (uint32_t)start;
    return true;
}

static void make_buffers(stick_program *p)
{
    static const char *const names[] = {"input", "output", "scratch",
                                        "constants"};
    static const graph_role roles[] = {GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_SCRATCH,
                                       GRAPH_CONST};
    graph_buffer *list = arena_array(p->arena, graph_buffer, N_AREAS);

    for (int i = 0; i < N_AREAS; i++) {
        uint64_t n = area_bytes(&p->blob, (stick_area)i);

        list[i] = (graph_buffer){
            .name = names[i],
            .role = roles[i],
            .desc = {TENSOR_U8, 1, {n ? (uint32_t)n : 1}, TENSOR_PLAIN},
            .untyped = true,
            .bytes = n ? n : 1,
            .init = i == AREA_CONST && n ? p->blob.constants : NULL};
    }
    p->graph.buffers = list;
    p->graph.n_buffers = N_AREAS;
}

/* --- stages -------------------------------------------------------------- */

vpu_status stick_make_nothing(stick_program *p, const blob_stage *s,
                              const char *name, stick_step *out, vpu_error *err)
{
    (void)p, (void)s, (void)name, (void)err;
    out->kind = STEP_NOTHING;
    return VPU_OK;
}

vpu_status stick_make_custom(stick_program *p, const blob_stage *s,
                             const char *name, stick_step *out, vpu_error *err)
{
    out->kind = STEP_LAUNCH;
    out->launch = p->graph.n_launches++;
    return stick_custom(p, s, name, &p->graph.launches[out->launch], err);
}

vpu_status stick_make_move(stick_program *p, const blob_stage *s,
                           const char *name, stick_step *out, vpu_error *err)
{
    stick_move *m = &out->move;
    vpu_status st = stick_move_of(s, m, err);

    if (st)
        return st;
    out->kind = STEP_MOVE;
    if (!stick_place(&p->blob, &s->buffers[0], stick_move_span(m, false),
                     &out->from, &m->from_offset) ||
        !stick_place(&p->blob, &s->buffers[1], stick_move_span(m, true),
                     &out->to, &m->to_offset) ||
        out->to == AREA_CONST)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: its input and output are not both in DDR",
                       stage_name(s->type));
    if (stick_convert(p, s, out, name,
                      &p->graph.launches[p->graph.n_launches])) {
        out->kind = STEP_LAUNCH;
        out->launch = p->graph.n_launches++;
    }
    return VPU_OK;
}

typedef vpu_status maker(stick_program *p, const blob_stage *s,
                         const char *name, stick_step *out, vpu_error *err);

static maker *maker_of(uint32_t type)
{
    static const struct {
        uint32_t type;
        maker *make;
    } rows[] = {
#define NATIVE(number, maker, how) {number, maker},
#include "runtime/stick/native.def"
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return rows[i].make;
    return NULL;
}

void stick_stages(str *out)
{
#define NATIVE(number, maker, how) \
    str_printf(out, "%4d %-8s %s\n", number, stage_name(number), how);
#include "runtime/stick/native.def"
}

static vpu_status make_step(stick_program *p, uint32_t i, vpu_error *err)
{
    const blob_stage *s = &p->blob.stages[i];
    maker *make = maker_of(s->type);

    if (!make)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "a stage of type %u, %s, is not run here "
                       "(vpu stick --stages)",
                       s->type,
                       stage_name(s->type) ? stage_name(s->type) : "unknown");
    return make(p, s, arena_printf(p->arena, "stage %u", i), &p->steps[i], err);
}

static vpu_status make_graph(stick_program *p, vpu_error *err)
{
    uint32_t n = p->blob.n_stages;
    vpu_status st = VPU_OK;

    make_buffers(p);
    p->graph.layer = p->graph.type = "blob";
    p->graph.form = "blob";
    p->graph.launches = arena_array(p->arena, graph_launch, n + 1);
    p->steps = arena_array(p->arena, stick_step, n + 1);
    for (uint32_t i = 0; i < n && !st; i++) {
        st = make_step(p, i, err);
        if (st)
            err_in(err, st, "stage %u", i);
    }
    return st;
}

/* --- loading ------------------------------------------------------------- */

static vpu_status check(stick_program *p, vpu_error *err)
{
    str text = {0};
    vpu_status st = VPU_OK;

    if (blob_check(&p->blob, p->arena, &text))
        st = err_set(err, VPU_ERR_PARSE,
                     "the blob does not agree with itself: "
                     "%.1000s",
                     str_text(&text));
    str_free(&text);
    if (!st && p->blob.batch != 1)
        st = err_set(err, VPU_ERR_UNSUPPORTED, "a batch of %u", p->blob.batch);
    return st;
}

static vpu_status open_sim(stick_program *p, vpu_error *err)
{
    const stick_program_config *c = &p->cfg;
    vpu_status st = mach_desc_load(NULL, p->arena, &p->desc, err);

    p->run = (backend_config){.device = "",
                              .desc = &p->desc,
                              .how = {.n_shaves = p->blob.n_shaves,
                                      .n_threads = c->n_threads,
                                      .timeout_s = c->timeout_s},
                              .source_dir = c->kernels,
                              .compile.no_cache = c->no_cache,
                              .log = c->log,
                              .print = c->print,
                              .print_user = c->print_user};
    return st ? st
              : backend_open(
                    backend_offering(BACKEND_MACHINE | BACKEND_INSPECT),
                    &p->run, &p->graph, &p->sim, err);
}

vpu_status stick_program_load(const void *file, size_t n,
                              const stick_program_config *cfg,
                              stick_program **out, vpu_error *err)
{
    arena *a = arena_create(0);
    stick_program *p = arena_new(a, stick_program);
    vpu_status st;

    p->arena = a;
    p->cfg = *cfg;
    st = blob_parse(arena_memdup(a, file, n), n, "the blob", a, &p->blob, err);
    if (!st)
        st = check(p, err);
    if (!st)
        st = make_graph(p, err);
    if (!st)
        st = open_sim(p, err);
    if (st)
        stick_program_free(p);
    else
        *out = p;
    return st;
}

void stick_program_free(stick_program *p)
{
    if (!p)
        return;
    backend_close(&p->sim);
    arena_destroy(p->arena);
}

stick_program_info stick_program_about(const stick_program *p)
{
    uint64_t n = 0;

    for (int i = 0; i < N_AREAS; i++)
        n += area_bytes(&p->blob, (stick_area)i);
    return (stick_program_info){p->blob.inputs_size, p->blob.outputs_size,
                                p->blob.n_stages, p->blob.batch, n};
}

/* --- running ------------------------------------------------------------- */

/* What is moved as it is, a Copy foremost, is DMA on the device: as long as its
 * bytes, read and written, take on the way to DDR and back. */
static float run_move(stick_program *p, const stick_step *s)
{
    const stick_move *m = &s->move;
    double bytes = blob_type_bytes(m->from_type) + blob_type_bytes(m->to_type);

    stick_move_run(m, backend_buffer(&p->sim, s->from),
                   backend_buffer(&p->sim, s->to));
    for (uint32_t i = 0; i < m->rank; i++)
        bytes *= m->dims[i];
    return (float)(bytes / (p->desc.ddr_eff_bw * 1e9) * 1e3);
}

vpu_status stick_program_run(stick_program *p, const void *input, void *output,
                             float *ms, vpu_error *err)
{
    vpu_status st = VPU_OK;

    memcpy(backend_buffer(&p->sim, AREA_INPUT), input, p->blob.inputs_size);
    for (uint32_t i = 0; i < p->blob.n_stages && !st; i++) {
        const stick_step *s = &p->steps[i];

        ms[i] = 0;
        if (s->kind == STEP_MOVE)
            ms[i] = run_move(p, s);
        if (s->kind != STEP_LAUNCH)
            continue;
        st = backend_run_one(&p->sim, s->launch, err);
        ms[i] = (float)(mach_desc_seconds(&p->desc,
                                          backend_launch_of(&p->sim, s->launch)
                                              ->exec.profile.cycles) *
                        1e3);
    }
    if (!st)
        memcpy(output, backend_buffer(&p->sim, AREA_OUTPUT),
               p->blob.outputs_size);
    return st;
}
