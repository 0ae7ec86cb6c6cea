/* vpu port: a layer of the GPU moved to the VPU, and compared with what it was.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/cli/diff.h"
#include "runtime/diff/diff.h"
#include "runtime/diff/report.h"
#include "runtime/port/port.h"

typedef struct {
    target_options t;
    const char *to, *form;
} port_options;

#define AT(field) offsetof(port_options, field)

static const cli_option rows[] = {
    {"to", "DIR", OPTION_TEXT, AT(to),
     .help = "the folder for layer.xml and the kernel; made if there is none"},
    {"form", "best|plain|dma", OPTION_TEXT, AT(form),
     .help = "plain: the kernel reads and writes DDR; dma: what a work-group "
             "reads and writes is copied through local memory, where the "
             "accesses allow it; best (default): the faster one"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_input_options, AT(t)},
                                   {&target_how_heading, 0},
                                   TARGET_HOW(AT(t))};

static int parse(int argc, char **argv, port_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc;

    *o = (port_options){.form = "best"};
    target_init(&o->t);
    rc = cli_parse(&cli_port, o, &line, a);
    if (!rc && !o->to)
        rc = cli_usage(&cli_port, "--to says which folder to write");
    if (!rc && strcmp(o->form, "best") && strcmp(o->form, "plain") &&
        strcmp(o->form, "dma"))
        rc = cli_usage(&cli_port, "--form %s; expected best, plain or dma",
                       o->form);
    rc = rc ? rc : target_check(&o->t, &cli_port, line.words, line.n_words);
    if (!rc && (o->t.model || !o->t.shapes.n))
        rc = cli_usage(&cli_port, "the layer is moved for shapes given by "
                                  "hand: --shape in0=…");
    if (!rc && o->t.pads.n)
        rc = cli_usage(&cli_port, "a VPU's tensors have no padding");
    return rc;
}

/* --- moving -------------------------------------------------------------- */

static const config_layer *layer_of(const target *t)
{
    for (size_t i = 0; i < t->layer.binding.n_layers; i++)
        if (config_layer_is_for(&t->layer.binding.layers[i], t->graph->type))
            return &t->layer.binding.layers[i];
    return NULL;
}

static vpu_status check_layer(const config_layer *l, const target *t,
                              vpu_error *err)
{
    if (l && l->form == CONFIG_FORM_GPU)
        return VPU_OK;
    return err_set(err, VPU_ERR_INVALID,
                   "%s: layer %s is of type MVCL: it is for the VPU already",
                   t->layer.binding.path, t->graph->type);
}

/* --- writing ------------------------------------------------------------- */

static bool same_file(const char *x, const char *y)
{
    struct stat a, b;

    return !stat(x, &a) && !stat(y, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The layer's own files are not written over. */
static vpu_status check_place(const port_options *o, const config_layer *l,
                              const char *const paths[2], vpu_error *err)
{
    bool own = false;

    for (int i = 0; i < 2; i++) {
        own |= same_file(paths[i], l->path);
        for (size_t k = 0; k < l->kernels[0].n_sources; k++)
            own |= same_file(paths[i], l->kernels[0].sources[k]);
    }
    return own ? err_set(err, VPU_ERR_INVALID,
                         "--to %s: the layer's own files are there; choose "
                         "another folder",
                         o->to)
               : VPU_OK;
}

static vpu_status write_all(const port_options *o, const config_layer *l,
                            const port_result *r, arena *a, const char **xml,
                            vpu_error *err)
{
    const char *paths[2] = {file_join(a, o->to, "layer.xml"),
                            file_join(a, o->to, r->name)};
    vpu_status st;

    if (mkdir(o->to, 0777) && errno != EEXIST)
        return err_set(err, VPU_ERR_IO, "%s: %s", o->to, strerror(errno));
    st = check_place(o, l, paths, err);
    if (!st)
        st = file_write(paths[1], r->kernel, strlen(r->kernel), err);
    if (!st)
        st = file_write(paths[0], r->binding, strlen(r->binding), err);
    *xml = paths[0];
    return st;
}

/* --- comparing ----------------------------------------------------------- */

/* Parameters that are none any more are not given to the moved layer. */
static void keep_params(target_options *o, const port_result *r)
{
    options_list kept = {.n = 0};

    for (uint32_t i = 0; i < o->params.n; i++)
        for (size_t k = 0; k < r->n_params; k++) {
            size_t length = strlen(r->params[k]);

            if (!strncmp(o->params.items[i], r->params[k], length) &&
                o->params.items[i][length] == '=')
                kept.items[kept.n++] = o->params.items[i];
        }
    o->params = kept;
}

typedef struct {
    const port_options *o;
    arena *a;
    target from;
    const config_layer *layer;
    const char *xml;
    backend_config cfg; /* of SimpleGPU, which runs once for all forms */
    diff_kept before;
} porting;

static vpu_status compare(porting *s, const port_result *r, diff_report *report,
                          vpu_error *err)
{
    target to = {0};
    target_options moved = s->o->t;
    backend_config cfg;
    diff_side sides[2] = {
        {.id = "MVCL", .cfg = &cfg},
        {.id = "SimpleGPU", .cfg = &s->cfg, .kept = &s->before}};
    const diff_config compare = {.outputs_only = true};
    const target *targets[2] = {&to, &s->from};
    vpu_status st;

    moved.bindings = &s->xml;
    moved.n_bindings = 1;
    moved.layer = NULL;
    moved.source_dir = NULL;
    keep_params(&moved, r);
    st = target_bind(&moved, s->a, NULL, &to, err);
    if (!st) {
        cfg = target_backend(&moved, &to);
        cfg.print = cli_print_aside;
    }
    for (int i = 0; i < 2 && !st; i++) {
        const target_options *options = i ? &s->o->t : &moved;

        sides[i].graph = targets[i]->graph;
        sides[i].ops = backend_offering(BACKEND_MACHINE);
        st = target_make_inputs(options, targets[i], s->a, &sides[i].inputs,
                                err);
    }
    return st ? st : diff_run(sides, &compare, s->a, report, err);
}

/* Cycles of the stages that are not conversions. */
static uint64_t stage_cycles(const diff_report_side *s)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < s->graph->n_launches; i++)
        if (!s->graph->launches[i].text)
            n += s->results[i].cycles;
    return n;
}

/* One form of the layer: written, run, compared. */
typedef struct {
    port_result result;
    diff_report report;
    uint64_t before, after; /* cycles; 0 = unknown */
} trial;

static vpu_status try_form(porting *s, port_form form, trial *out,
                           vpu_error *err)
{
    const kernel_compile_options compile = {.options = s->o->t.clang.items,
                                            .n_options = s->o->t.clang.n,
                                            .no_cache = s->o->t.no_cache,
                                            .limits = &s->o->t.compile};
    const port_job job = {.layer = s->layer,
                          .request = &s->from.layer.request,
                          .graph = s->from.graph,
                          .source_dir = s->o->t.source_dir,
                          .compile = &compile,
                          .desc = &s->from.desc};
    vpu_status st = port_layer(&job, form, s->a, &out->result, err);

    if (!st)
        st = write_all(s->o, s->layer, &out->result, s->a, &s->xml, err);
    if (!st)
        st = compare(s, &out->result, &out->report, err);
    if (st)
        return st;
    out->before = stage_cycles(&out->report.sides[1]);
    out->after = stage_cycles(&out->report.sides[0]);
    return VPU_OK;
}

/* The form asked for; of both the faster. What is left in the folder is the
 * one of *form. */
static vpu_status try_forms(porting *s, trial trials[PORT_N_FORMS],
                            port_form *form, const char **no_dma,
                            vpu_error *err)
{
    bool dma = strcmp(s->o->form, "plain"), plain = strcmp(s->o->form, "dma");
    vpu_error why = {0};
    vpu_status st = VPU_OK;

    *form = PORT_PLAIN;
    *no_dma = NULL;
    if (plain)
        st = try_form(s, PORT_PLAIN, &trials[PORT_PLAIN], err);
    if (st || !dma)
        return st;
    st = try_form(s, PORT_DMA, &trials[PORT_DMA], &why);
    if (st == VPU_ERR_UNSUPPORTED && plain) {
        *no_dma = arena_strdup(s->a, why.msg);
        return VPU_OK;
    }
    if (st && err)
        *err = why;
    if (st)
        return st;
    *form = PORT_DMA;
    if (!plain || !trials[PORT_PLAIN].report.equal ||
        trials[PORT_DMA].after <= trials[PORT_PLAIN].after)
        return VPU_OK;
    *form = PORT_PLAIN;
    return write_all(s->o, s->layer, &trials[PORT_PLAIN].result, s->a, &s->xml,
                     err);
}

static void print_cycles(const char *what, uint64_t n, uint64_t of)
{
    if (!n)
        return;
    printf("  cycles, %-12s %llu", what, (unsigned long long)n);
    if (of)
        printf(", %.2f times as many", (double)n / (double)of);
    printf("\n");
}

static void print(const porting *s, const trial *trials, port_form form,
                  const char *no_dma)
{
    const trial *t = &trials[form];

    printf("%s: %s, form %s, kernel %s\n", s->xml, s->from.graph->type,
           port_form_name(form), t->result.name);
    print_cycles("SimpleGPU", t->before, 0);
    for (int f = 0; f < PORT_N_FORMS; f++)
        print_cycles(
            arena_printf(s->a, "form %s", port_form_name((port_form)f)),
            trials[f].after, t->before);
    printf("  outputs              %s\n",
           t->report.equal ? "equal, bit for bit" : t->report.summary);
    for (size_t i = 0; i < t->result.n_notes; i++)
        printf("  note                 %s\n", t->result.notes[i]);
    if (no_dma)
        printf("  no form dma          %s\n", no_dma);
}

static int port_main(int argc, char **argv)
{
    port_options o;
    arena *a = arena_create(0);
    vpu_error err = {0};
    int rc = parse(argc, argv, &o, a);

    if (!rc) {
        log_sink log = cli_log(o.t.quiet);
        porting s = {.o = &o, .a = a};
        trial trials[PORT_N_FORMS] = {{.after = 0}};
        port_form form = PORT_PLAIN;
        const char *no_dma = NULL;
        vpu_status st = target_bind(&o.t, a, &log, &s.from, &err);

        if (!st) {
            s.layer = layer_of(&s.from);
            st = check_layer(s.layer, &s.from, &err);
            s.cfg = target_backend(&o.t, &s.from);
            s.cfg.log = &log;
            s.cfg.print = cli_print_aside;
        }
        if (!st)
            st = try_forms(&s, trials, &form, &no_dma, &err);
        backend_close(&s.before.b);
        cli_progress_done();
        if (!st)
            print(&s, trials, form, no_dma);
        rc = st                          ? cli_fail(&err)
             : trials[form].report.equal ? CLI_OK
                                         : CLI_DIFFERS;
    }
    arena_destroy(a);
    return rc;
}

const cli_command cli_port = {
    .name = "port",
    .summary = "move a layer of the GPU to the VPU",
    .head =
        "usage: vpu port GPU.xml --to DIR --shape in0=... [OPTIONS]\n\n"
        "Writes a SimpleGPU layer anew as one of type MVCL: DIR/layer.xml and its\n"
        "kernel, whose body stays as it is. Runs both on the simulator with the same\n"
        "inputs, compares the outputs bit for bit, and prints the cycles before and\n"
        "after. Exit status 1: the outputs differ.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\n"
            "Example:\n"
            "  vpu port kernels/prelu/gpu.xml --to out/prelu \\\n"
            "      --shape in0=1x16x26x52 --shape in1=1x16x1x1\n",
    .main = port_main};
