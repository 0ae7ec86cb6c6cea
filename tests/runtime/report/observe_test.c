/* vpu run's files for looking at a run, from outside: each is read by a reader
 * of its own here and compared with the report. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/support/fields.h"
#include "tests/support/terminal.h"

static terminal p;
static char home[1024];

static void setup(void)
{
    terminal_open(&p);
    ck_assert(getcwd(home, sizeof home));
}

static void teardown(void)
{
    terminal_close(&p);
}

/* One layer with DMA phases, one of two stages, one on DDR. */
static const char *const layers[] = {
    "grn/layer.xml --layer GRNDma --shape in0=1x5x11x48 --param bias=1",
    "mvn/layer.xml --shape in0=1x6x10x16 --param eps=0.001",
    "grn/layer.xml --layer GRNRolled --shape in0=1x7x9x20 --param bias=1"};
/* Beside them, for dumps: more changes on a track than are kept in memory. */
static const char many[] =
    "grn/layer.xml --layer GRNDma --shape in0=1x5x900x16 --param bias=1 "
    "--shaves 2";
enum { N_LAYERS = sizeof layers / sizeof *layers };

static void run_layer(int i, const char *options)
{
    terminal_run(&p, arena_printf(p.arena, "run %s/kernels/%s %s", home,
                                  i < N_LAYERS ? layers[i] : many, options));
    ck_assert_msg(!p.status, "%s%s", p.err, p.out);
}

static char *file_text(const char *name)
{
    vpu_error err = {0};
    size_t n;
    char *data;

    ck_assert_msg(!file_read(arena_printf(p.arena, "%s/%s", p.dir, name),
                             1 << 28, p.arena, &data, &n, &err),
                  "%s", err.msg);
    return data;
}

/* --- profiles ------------------------------------------------------------ */

static uint64_t shave_cycles(const json_t *report)
{
    uint64_t n = 0;
    size_t i;
    json_t *s;

    json_array_foreach(json_object_get(report, "stages"), i, s)
    {
        n += fields_number(s, "cycles") * fields_number(s, "shaves");
    }
    return n;
}

/* Rows of every stage add up to its SHAVEs' cycles, most cycles first; what a
 * row says of its line stands there. */
START_TEST(rows_add_up)
{
    json_t *j, *s, *row, *causes, *n;
    size_t i, k;
    const char *cause;

    run_layer(_i, "--profile --report json");
    j = fields_read(p.out);
    json_array_foreach(json_object_get(j, "stages"), i, s)
    {
        uint64_t sum = 0, last = UINT64_MAX, loaded = 0;
        json_t *rows = json_object_get(s, "profile");

        ck_assert_uint_gt(json_array_size(rows), 3);
        json_array_foreach(rows, k, row)
        {
            uint64_t cycles = fields_number(row, "cycles"), by_cause = 0;

            causes = json_object_get(row, "cycles_by_cause");
            json_object_foreach(causes, cause, n) by_cause +=
                (uint64_t)json_integer_value(n);
            ck_assert_uint_eq(by_cause, cycles);
            ck_assert_uint_le(cycles, last);
            last = cycles;
            sum += cycles;
            if (strcmp(fields_text(row, "place"), "line") != 0)
                continue;
            loaded += fields_number(row, "load_bytes");
            if (fields_number(row, "line"))
                ck_assert_msg(*fields_text(row, "text"), "line %u has no text",
                              (unsigned)fields_number(row, "line"));
        }
        ck_assert_uint_eq(sum, fields_number(s, "cycles") *
                                   fields_number(s, "shaves"));
        ck_assert_uint_eq(loaded, fields_number(s, "load_bytes"));
    }
    json_decref(j);
}
END_TEST

/* "frames cycles" a line, sorted, no stack twice; all of it the SHAVEs' time.
 */
START_TEST(folded_stacks)
{
    uint64_t sum = 0;
    char *data, *line, *last = NULL;
    json_t *j;

    run_layer(_i, "--folded f.txt --report json");
    j = fields_read(p.out);
    data = file_text("f.txt");
    while ((line = strsep(&data, "\n")) && *line) {
        char *blank = strrchr(line, ' '), *end;
        unsigned frames = 1;

        ck_assert_msg(blank, "%s", line);
        sum += strtoull(blank + 1, &end, 10);
        ck_assert_msg(!*end && end > blank + 1, "%s", line);
        *blank = 0;
        for (const char *c = line; *c; c++)
            frames += *c == ';';
        ck_assert_msg(frames == 4 || frames == 5, "%s", line);
        ck_assert(!last || strcmp(last, line) < 0);
        last = line;
    }
    ck_assert_uint_eq(sum, shave_cycles(j));
    /* Asked for or not, the run is the same. */
    run_layer(_i, "--report json");
    json_decref(j);
    j = fields_read(p.out);
    ck_assert_uint_eq(sum, shave_cycles(j));
    json_decref(j);
}
END_TEST

static void one_layer(const char *file)
{
    terminal_text(
        &p, "layer.xml",
        arena_printf(
            p.arena,
            "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
            "<Kernel entry=\"k\"><Source filename=\"%s\"/><Parameters>"
            "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
            "format=\"BFYX\"/></Parameters><WorkSizes dim=\"input,0\" "
            "global=\"4\" local=\"1\"/></Kernel></CustomLayer>",
            file));
}

/* A file's name may have what ends a frame. */
START_TEST(folded_names)
{
    const char *text;

    terminal_text(&p, "o;d;d.cl",
                  "__kernel void k(__global half *dst)\n{\n"
                  "    int i = get_global_id(0);\n\n    dst[i] = i;\n}\n");
    one_layer("o;d;d.cl");
    terminal_run(&p, "run layer.xml --shape in0=1x1x1x4 --folded f.txt");
    ck_assert_msg(!p.status, "%s", p.err);
    text = file_text("f.txt");
    ck_assert_msg(strstr(text, ";o_d_d.cl:5;"), "%s", text);
}
END_TEST

/* Long lines are cut to 64 bytes, not within a character; blanks around a line
 * go, tabs inside it are blanks. */
START_TEST(profiled_lines)
{
    static const char *const letters[] = {"x", "\u00e4", "\u20ac",
                                          "\U0001f600"};
    const char *letter = letters[_i / 4], *pad = "abc" + _i % 4;
    str line = {0}, file = {0};
    size_t n = 0;
    json_t *j, *row;

    str_printf(&line, "dst[i] =\ti; // %s", pad);
    for (int k = 0; k < 70; k++)
        str_puts(&line, letter);
    str_printf(&file,
               "__kernel void k(__global half *dst)\n{\n"
               "    int i = get_global_id(0);\n \t  %s \t\n}\n",
               str_text(&line));
    terminal_text(&p, "k.cl", str_text(&file));
    one_layer("k.cl");
    terminal_run(&p, "run layer.xml --shape in0=1x1x1x4 --profile --json");
    ck_assert_msg(!p.status, "%s", p.err);
    j = fields_read(p.out);
    json_array_foreach(
        json_object_get(json_array_get(json_object_get(j, "stages"), 0),
                        "profile"),
        n, row) if (json_integer_value(json_object_get(row, "line")) == 4)
    {
        const char *got = fields_text(row, "text");
        size_t most = 64;

        while ((str_text(&line)[most] & 0xc0) == 0x80)
            most--;
        *strchr(str_text(&line), '\t') = ' ';
        ck_assert_uint_eq(strlen(got), most);
        ck_assert_mem_eq(got, str_text(&line), most);
        break;
    }
    ck_assert_ptr_nonnull(row);
    json_decref(j);
    str_free(&line);
    str_free(&file);
}
END_TEST

/* Each figure stands right under its column's name. */
START_TEST(profile_columns)
{
    static const char *const names[] = {
        "cycles",    "%",        "issue",    "L2",       "DDR",     "store",
        "DMA setup", "DMA wait", "loaded B", "stored B", "executed"};
    const char *head, *line, *end;
    size_t at[sizeof names / sizeof *names], from = 0;

    run_layer(_i, "--profile");
    head = strstr(p.out, "SHAVEs together\n");
    ck_assert(head);
    head += strlen("SHAVEs together\n");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *name = strstr(head + from, names[k]);

        ck_assert_msg(name, "no column '%s'", names[k]);
        from = at[k] = (size_t)(name - head) + strlen(names[k]);
    }
    for (line = strchr(head, '\n') + 1; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        if (!strncmp(line, "profile of ", 11))
            break; /* of the next stage */
        for (size_t k = 0, begin = 0; k < sizeof names / sizeof *names; k++) {
            ck_assert_msg(line + at[k] < end && line[at[k]] == ' ' &&
                              line[at[k] - 1] != ' ',
                          "'%s' in %.*s", names[k], (int)(end - line), line);
            begin += strspn(line + begin, " ");
            begin += strcspn(line + begin, " ");
            ck_assert_uint_eq(begin, at[k]); /* one word a column */
        }
    }
}
END_TEST

START_TEST(profile_table)
{
    const char *at;
    uint64_t sum = 0, all = 0;

    run_layer(2, "--profile=2");
    ck_assert(strstr(p.out, "more lines)"));
    ck_assert(strstr(p.out, "grn_rolled.cl:16  "));
    at = strstr(p.out, "executed");
    ck_assert(at);
    while ((at = strchr(at, '\n')) && at[1]) {
        uint64_t n = strtoull(++at, NULL, 10);

        if (strcspn(at, "\n") > 6 && strstr(at, "(all)") &&
            strstr(at, "(all)") < at + strcspn(at, "\n"))
            all = n;
        else
            sum += n;
    }
    ck_assert_uint_gt(all, 0);
    ck_assert_uint_eq(sum, all);
    run_layer(2, "");
    ck_assert(!strstr(p.out, "profile of"));
}
END_TEST

/* --- Kanata logs --------------------------------------------------------- */

typedef struct {
    bool begun, retired;
    uint64_t issued; /* when its unit's stage began, UINT64_MAX: not yet */
    char name[32];   /* operation without unit and operands */
    const char *label, *about; /* as in the file */
    uint64_t left;             /* when it retired */
    bool called;               /* a routine */
    size_t reads;              /* one more than the last of those it reads */
} op_seen;

typedef struct {
    op_seen *ops;
    size_t n, cap;
    uint64_t now, bundles, last_issue, arrows;
} pipeline;

static bool is_unit(const char *stage)
{
    static const char *const units[] = {"PEU", "BRU", "LSU0", "LSU1", "IAU",
                                        "SAU", "VAU", "CMU",  "nop"};

    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (!strcmp(stage, units[k]))
            return true;
    return false;
}

static op_seen *op_of(pipeline *l, const char *id)
{
    uint64_t n = strtoull(id, NULL, 10);

    ck_assert_uint_lt(n, l->n);
    ck_assert_msg(l->ops[n].begun && !l->ops[n].retired, "%s is not alive", id);
    return &l->ops[n];
}

/* "3.7: LSU0.ldp.u16.global i20, …" */
static void read_label(op_seen *op, const char *label)
{
    const char *at = strstr(label, ": ");

    ck_assert_msg(at, "%s", label);
    at += 2;
    if (!strncmp(at, "nop", 3))
        return;
    at = strchr(at, '.');
    ck_assert_msg(at, "%s", label);
    snprintf(op->name, sizeof op->name, "%.*s", (int)strcspn(at + 1, ". "),
             at + 1);
}

static void read_stage(pipeline *l, op_seen *op, const char *stage)
{
    if (!strcmp(stage, "Wt")) {
        ck_assert_uint_eq(op->issued, UINT64_MAX);
    } else if (is_unit(stage)) {
        ck_assert_uint_eq(op->issued, UINT64_MAX);
        op->issued = l->now;
        l->bundles += l->last_issue != l->now;
        l->last_issue = l->now;
    } else {
        ck_assert_msg(!strcmp(stage, "Lt") || !strcmp(stage, "Rt"), "%s",
                      stage);
        ck_assert_uint_eq(op->issued + 1, l->now);
        op->called = *stage == 'R';
    }
}

static void read_retired(const pipeline *l, op_seen *op, bool cut_short)
{
    static const struct {
        const char *name;
        uint64_t lat;
    } known[] = {{"ld", 7}, {"ldp", 7}, {"iadd", 1}, {"imov", 1}, {"fmul", 3}};

    op->retired = true;
    op->left = l->now;
    ck_assert_uint_lt(op->issued, l->now);
    for (size_t k = 0; !cut_short && k < sizeof known / sizeof *known; k++)
        if (!strcmp(op->name, known[k].name))
            ck_assert_msg(l->now - op->issued == known[k].lat, "%s after %u",
                          op->name, (unsigned)(l->now - op->issued));
}

static pipeline read_kanata(const char *name)
{
    pipeline l = {.last_issue = UINT64_MAX};
    char *data = file_text(name), *line, *w[4];
    bool ends = false;

    ck_assert_str_eq(strsep(&data, "\n"), "Kanata\t0004");
    ck_assert_str_eq(strsep(&data, "\n"), "C=\t0");
    while ((line = strsep(&data, "\n")) && *line) {
        for (int k = 0; k < 4; k++)
            w[k] = k < 3 ? strsep(&line, "\t") : line;
        ck_assert(w[1]);
        /* Results the end cuts short retire with it. */
        ends = *w[0] == 'R' && !(data && strstr(data, "\nC\t"));
        if (*w[0] == 'C') {
            ck_assert_str_eq(w[0], "C");
            ck_assert_uint_gt(strtoull(w[1], NULL, 10), 0);
            l.now += strtoull(w[1], NULL, 10);
        } else if (*w[0] == 'I') {
            ck_assert_uint_eq(strtoull(w[1], NULL, 10), l.n);
            *arena_append(p.arena, l.ops, l.n, l.cap) =
                (op_seen){.begun = true, .issued = UINT64_MAX};
        } else if (*w[0] == 'L' && *w[2] == '0') {
            read_label(op_of(&l, w[1]), w[3]);
            op_of(&l, w[1])->label = w[3];
        } else if (*w[0] == 'L' && *w[2] == '1') {
            op_of(&l, w[1])->about = w[3];
        } else if (*w[0] == 'S') {
            ck_assert_str_eq(w[2], "0");
            read_stage(&l, op_of(&l, w[1]), w[3]);
        } else if (*w[0] == 'R') {
            read_retired(&l, op_of(&l, w[1]), ends);
        } else if (*w[0] == 'W') {
            uint64_t by = strtoull(w[2], NULL, 10) + 1;
            op_seen *op = op_of(&l, w[1]);

            ck_assert_uint_le(by, l.n);
            op->reads = by > op->reads ? by : op->reads;
            l.arrows++;
        } else {
            ck_assert_msg(!strcmp(w[0], "L"), "%s", w[0]);
        }
    }
    for (size_t k = 0; k < l.n; k++)
        ck_assert_msg(l.ops[k].retired, "%zu never retires", k);
    return l;
}

/* Issue cycles of a group's phases in all stages, from the trace. */
static uint64_t issue_in_trace(const char *name, unsigned group)
{
    json_error_t e;
    json_t *j = json_loads(file_text(name), 0, &e), *ev;
    uint64_t n = 0;
    size_t i;
    int64_t tid = -1;

    ck_assert_msg(j, "%s", e.text);
    json_array_foreach(json_object_get(j, "traceEvents"), i, ev)
    {
        const char *ph = fields_text(ev, "ph");
        const char *what = json_string_value(json_object_get(ev, "name"));
        char kind[8];
        unsigned of;

        if (*ph == 'B' && sscanf(what, "%7s %u", kind, &of) == 2 &&
            of == group &&
            (!strcmp(kind, "pre") || !strcmp(kind, "comp") ||
             !strcmp(kind, "post")))
            tid = (int64_t)fields_number(ev, "tid");
        if (*ph == 'E' && tid == (int64_t)fields_number(ev, "tid")) {
            n += fields_number(json_object_get(ev, "args"), "issue");
            tid = -1;
        }
    }
    json_decref(j);
    return n;
}

START_TEST(kanata_is_the_group)
{
    unsigned group = _i >= N_LAYERS ? 3 : 0;
    pipeline l;
    uint64_t bundles;

    run_layer(_i % N_LAYERS,
              arena_printf(p.arena,
                           "--shaves 1 --kanata k.log --kanata-group %u "
                           "--kanata-bundles 100000 --trace-level groups "
                           "--trace-json t.json",
                           group));
    l = read_kanata("k.log");
    ck_assert_uint_eq(l.now, issue_in_trace("t.json", group));
    ck_assert_uint_le(l.bundles, l.now);
    ck_assert_uint_gt(l.bundles, 40);
    ck_assert_uint_gt(l.arrows, 40);
    bundles = l.bundles;
    run_layer(_i % N_LAYERS, "--kanata k.log --kanata-bundles 30");
    l = read_kanata("k.log");
    ck_assert_uint_eq(l.bundles, 30);
    ck_assert_uint_gt(bundles, 30);
}
END_TEST

/* --- bundles in a trace --------------------------------------------------- */

enum { CLOCK = 700 };

typedef struct {
    uint64_t begin, end; /* cycles */
    const char *name;
    json_t *args; /* of the begin */
} stretch;

typedef struct {
    stretch *s;
    size_t n, cap;
} stretches;

static uint64_t cycle_of(const json_t *ev)
{
    double us = json_number_value(json_object_get(ev, "ts"));

    return ((uint64_t)(us * 1000 + 0.5) * CLOCK + 999) / 1000;
}

/* Slices of a name on a track, or of all names; in the order of their ends. */
static stretches slices_of(json_t *trace, const char *track, const char *name)
{
    stretches out = {0};
    stretch open[8];
    size_t depth = 0, i;
    int64_t tid = -1;
    json_t *ev;

    json_array_foreach(json_object_get(trace, "traceEvents"), i, ev)
    {
        const char *ph = fields_text(ev, "ph");

        if (*ph == 'M' && !strcmp(fields_text(ev, "name"), "thread_name") &&
            !strcmp(fields_text(json_object_get(ev, "args"), "name"), track))
            tid = (int64_t)fields_number(ev, "tid");
        if (tid < 0 || (int64_t)fields_number(ev, "tid") != tid)
            continue;
        if (*ph == 'B') {
            ck_assert_uint_lt(depth, 8);
            open[depth++] = (stretch){.begin = cycle_of(ev),
                                      .name = fields_text(ev, "name"),
                                      .args = json_object_get(ev, "args")};
        } else if (*ph == 'E') {
            ck_assert_uint_gt(depth, 0);
            open[--depth].end = cycle_of(ev);
            if (!name || !strcmp(open[depth].name, name))
                *arena_append(p.arena, out.s, out.n, out.cap) = open[depth];
        }
    }
    return out;
}

/* Of the phase of the group that is at that cycle. */
static uint64_t phase_begin(const stretches *phases, unsigned group, uint64_t t)
{
    for (size_t i = 0; i < phases->n; i++) {
        const stretch *ph = &phases->s[i];
        char kind[8];
        unsigned of;

        if (sscanf(ph->name, "%7s %u", kind, &of) == 2 && of == group &&
            t >= ph->begin && t < ph->end)
            return ph->begin;
    }
    ck_abort_msg("no phase of group %u at %u", group, (unsigned)t);
}

/* The SHAVE issues at that cycle; how often since the phase of the group that
 * it is in began. */
static uint64_t issued_before(const stretches *phases, const stretches *issue,
                              unsigned group, uint64_t t)
{
    uint64_t n = 0;
    bool now = false, known = false;

    for (size_t i = 0; i < phases->n; i++) {
        const stretch *ph = &phases->s[i];
        char kind[8];
        unsigned of;

        if (sscanf(ph->name, "%7s %u", kind, &of) != 2 || of != group ||
            t < ph->begin || t >= ph->end)
            continue;
        known = true;
        for (size_t k = 0; k < issue->n; k++) {
            const stretch *s = &issue->s[k];

            now |= s->begin <= t && t < s->end;
            if (s->begin >= ph->begin && s->begin < t)
                n += (s->end < t ? s->end : t) - s->begin;
        }
    }
    ck_assert_msg(known && now, "nothing issues at %u", (unsigned)t);
    return n;
}

/* A bundle of the trace is the operations from `at` on of the log, which were
 * issued in one cycle; how many. */
static size_t same_bundle(const pipeline *l, size_t at, json_t *args)
{
    const char *place = fields_text(args, "place");
    uint64_t line = json_integer_value(json_object_get(args, "line"));
    size_t n = 0;
    bool has_line = false;

    for (; at + n < l->n && l->ops[at + n].issued == l->ops[at].issued; n++) {
        const op_seen *op = &l->ops[at + n];
        size_t k = strlen(place);
        const char *text = op->label + k + 2, *dot = strchr(text, '.');
        const char *of = strstr(op->about, ", line ");
        char unit[8];

        ck_assert_msg(!strncmp(op->label, place, k) && op->label[k] == ':',
                      "%s is not at %s", op->label, place);
        if (of)
            has_line |= strtoull(of + 7, NULL, 10) == line;
        else
            has_line |= !line;
        if (!dot || !strncmp(text, "nop", 3))
            continue;
        text += *text == '?';
        snprintf(unit, sizeof unit, "%.*s", (int)(dot - text), text);
        place = fields_text(args, unit);
        ck_assert_str_eq(place + (*place == '?'), dot + 1);
        place = fields_text(args, "place");
    }
    ck_assert(has_line);
    return n;
}

/* One whose compute phase starts transfers and waits for them, again and again:
 * it stands still between bundles. */
static void run_steps(const char *options)
{
    terminal_text(
        &p, "steps.cl",
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "__kernel void steps(__global const half *restrict src,\n"
        "                    __global half *restrict dst, int C, float bias)\n"
        "{\n"
        "    __local half in[1024];\n"
        "    const int W = get_global_size(0), H = get_global_size(1);\n"
        "    const int x = get_local_id(0);\n"
        "    for (int c = 0; c < C; c++) {\n"
        "        const int first = (c * H + get_group_id(1)) * W;\n"
        "        event_t e = async_work_group_copy(in, src + first, W, 0);\n"
        "        wait_group_events(1, &e);\n"
        "        in[x] = in[x] * (half)bias;\n"
        "        barrier(CLK_LOCAL_MEM_FENCE);\n"
        "        e = async_work_group_copy(dst + first, in, W, 0);\n"
        "        wait_group_events(1, &e);\n"
        "    }\n"
        "}\n");
    terminal_text(
        &p, "steps.xml",
        "<CustomLayer name=\"Steps\" type=\"MVCL\" version=\"1\">\n"
        "<Kernel entry=\"steps\"><Source filename=\"steps.cl\"/><Parameters>\n"
        "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
        "format=\"BFYX\"/>\n"
        "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
        "format=\"BFYX\"/>\n"
        "<Scalar arg-name=\"C\" type=\"int\" port-index=\"0\" "
        "source=\"I.F\"/>\n"
        "<Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"
        "</Parameters><WorkSizes dim=\"input,0\" global=\"X,Y,B\" "
        "local=\"X,1,1\"/></Kernel></CustomLayer>\n");
    terminal_run(&p, arena_printf(p.arena,
                                  "run steps.xml --shape in0=1x4x6x32 "
                                  "--param bias=2 %s",
                                  options));
    ck_assert_msg(!p.status, "%s%s", p.err, p.out);
}

static uint64_t optional(json_t *args, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(args, key));
}

/* Cycles that the SHAVE stood still before a bundle. */
static uint64_t stalls_of(json_t *args)
{
    static const char *const causes[] = {"L2 stall", "DDR stall", "store stall",
                                         "DMA setup", "DMA wait"};
    uint64_t n = 0;

    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        n += optional(args, causes[i]);
    return n;
}

/* What the log says of a bundle's n operations, and of those before: names,
 * when the results are there, what they read. of_op: the bundle of each. */
static void same_story(const pipeline *l, size_t at, size_t n, const stretch *s,
                       const uint64_t *of_op)
{
    uint64_t latency = 1, busy = 1;
    size_t reads = 0;
    char name[256] = "";

    for (size_t i = at; i < at + n; i++) {
        const op_seen *op = &l->ops[i];
        uint64_t took = op->left - op->issued;
        const char *text = strstr(op->label, ": ") + 2;

        text = strncmp(text, "nop", 3) ? strchr(text, '.') + 1 : text;
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%.*s",
                 i > at ? " + " : "", (int)strcspn(text, " "), text);
        latency = took > latency ? took : latency;
        busy = op->called && took > busy ? took : busy;
        reads = op->reads > reads ? op->reads : reads;
    }
    ck_assert_str_eq(s->name, name);
    if (fields_number(s->args, "latency") != latency) {
        size_t next = at + n; /* the phase's end cut it short */

        ck_assert_uint_gt(fields_number(s->args, "latency"), latency);
        while (next < l->n && l->ops[next].issued < l->ops[at].issued + latency)
            next++;
        ck_assert_msg(next == l->n || !strncmp(l->ops[next].label, "0.", 2),
                      "latency of %s", s->name);
    } else {
        ck_assert_uint_eq(s->end - s->begin, busy);
    }
    if (reads)
        ck_assert_uint_eq(fields_number(s->args, "reads"), of_op[reads - 1]);
    else
        ck_assert(!json_object_get(s->args, "reads"));
}

START_TEST(bundles_are_the_log)
{
    unsigned group = _i >= N_LAYERS ? 3 : 0;
    bool steps = _i == 2 * N_LAYERS;
    const char *options;
    json_t *trace;
    json_error_t e;
    pipeline l;
    stretches phases[2], issue[2], b[2];
    size_t at = 0, found = 0, k[2] = {0};
    uint64_t base = 0, last = 0, waits = 0, stood = 0, *of_op;
    const stretch *before = NULL;
    size_t n;

    options = arena_printf(p.arena,
                           "--shaves 2 --kanata k.log --kanata-group %u "
                           "--kanata-bundles 100000 --trace-bundles %u "
                           "--trace-json t.json",
                           group, group);
    if (steps)
        run_steps(options);
    else
        run_layer(_i % N_LAYERS, options);
    l = read_kanata("k.log");
    of_op = arena_array(p.arena, uint64_t, l.n);
    trace = json_loads(file_text("t.json"), 0, &e);
    ck_assert_msg(trace, "%s", e.text);
    /* Stages may have the group on different SHAVEs. */
    for (unsigned shave = 0; shave < 2; shave++) {
        const char *name = arena_printf(p.arena, "SHAVE %u", shave);

        phases[shave] = slices_of(trace, name, NULL);
        issue[shave] = slices_of(trace, name, "issue");
        b[shave] =
            slices_of(trace, arena_printf(p.arena, "%s bundles", name), NULL);
    }
    while (k[0] < b[0].n || k[1] < b[1].n) {
        int on = k[0] == b[0].n ||
                 (k[1] < b[1].n && b[1].s[k[1]].begin < b[0].s[k[0]].begin);
        const stretch *s = &b[on].s[k[on]++];
        uint64_t cycle = fields_number(s->args, "issue cycle");

        ck_assert_uint_eq(
            issued_before(&phases[on], &issue[on], group, s->begin), cycle);
        ck_assert_uint_gt(s->end, s->begin);
        ck_assert_uint_eq(fields_number(s->args, "bundle"), found);
        ck_assert_uint_eq(fields_number(s->args, "group"), group);
        ck_assert_uint_lt(at, l.n);
        /* A phase's cycles follow those of the one before. */
        if (!found || cycle <= last) {
            ck_assert_uint_ge(l.ops[at].issued, base + cycle);
            base = l.ops[at].issued - cycle;
        }
        ck_assert_uint_eq(l.ops[at].issued, base + cycle);
        /* Cycles since the bundle before: it, stalls, and nothing to issue. */
        if (found && cycle > last) {
            uint64_t length = before->end - before->begin;

            ck_assert_uint_eq(s->begin - before->begin,
                              cycle - last + stalls_of(s->args));
            ck_assert_uint_eq(optional(s->args, "waited"),
                              cycle - last - length);
            waits += json_object_get(s->args, "because") != NULL;
        } else {
            ck_assert_uint_eq(s->begin -
                                  phase_begin(&phases[on], group, s->begin),
                              cycle + stalls_of(s->args));
        }
        stood += stalls_of(s->args) > 0;
        last = cycle;
        n = same_bundle(&l, at, s->args);
        for (size_t i = at; i < at + n; i++)
            of_op[i] = found;
        same_story(&l, at, n, s, of_op);
        at += n;
        before = s;
        found++;
    }
    ck_assert_uint_eq(at, l.n);
    ck_assert_uint_eq(found, l.bundles);
    ck_assert_uint_gt(waits, 5);
    ck_assert_uint_ge(stood, steps ? 7 : 0);
    json_decref(trace);
}
END_TEST

/* Levels and host threads change nothing; the option does not change the rest.
 */
START_TEST(bundles_are_beside_the_rest)
{
    static const char *const levels[] = {"summary", "groups", "full"};
    json_t *with[2], *without;
    json_error_t e;
    stretches a, b;

    for (int k = 0; k < 2; k++) {
        run_layer(0, arena_printf(p.arena,
                                  "--shaves 2 --trace-bundles 1 --threads %d "
                                  "--trace-json t.json --trace-level %s",
                                  k ? 1 : 3, k ? "full" : levels[_i]));
        with[k] = json_loads(file_text("t.json"), 0, &e);
        ck_assert_ptr_nonnull(with[k]);
    }
    a = slices_of(with[0], "SHAVE 0 bundles", NULL);
    b = slices_of(with[1], "SHAVE 0 bundles", NULL);
    ck_assert_uint_gt(a.n, 40);
    ck_assert_uint_eq(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        ck_assert_uint_eq(a.s[i].begin, b.s[i].begin);
        ck_assert_uint_eq(a.s[i].end, b.s[i].end);
        ck_assert(json_equal(a.s[i].args, b.s[i].args));
    }
    run_layer(0, "--shaves 2 --trace-json t.json");
    without = json_loads(file_text("t.json"), 0, &e);
    for (int k = 0; k < 2; k++) {
        const char *track = arena_printf(p.arena, "SHAVE %d", k);

        a = slices_of(without, track, NULL);
        b = slices_of(with[1], track, NULL);
        ck_assert_uint_gt(a.n, 10);
        ck_assert_uint_eq(a.n, b.n);
        for (size_t i = 0; i < a.n; i++)
            ck_assert(a.s[i].begin == b.s[i].begin &&
                      a.s[i].end == b.s[i].end &&
                      !strcmp(a.s[i].name, b.s[i].name));
    }
    json_decref(with[0]);
    json_decref(with[1]);
    json_decref(without);
}
END_TEST

START_TEST(bundles_are_cut_off)
{
    json_t *trace;
    json_error_t e;
    stretches b;

    run_layer(2, "--shaves 2 --trace-bundles 0 --kanata-bundles 30 "
                 "--trace-json t.json");
    trace = json_loads(file_text("t.json"), 0, &e);
    b = slices_of(trace, "SHAVE 0 bundles", NULL);
    ck_assert_uint_eq(b.n, 30);
    ck_assert(strstr(file_text("t.json"), "the first 30 of work-group 0, "
                                          "what follows is left out"));
    ck_assert(strstr(file_text("t.json"), "\"cut off\""));
    json_decref(trace);
    run_layer(2, "--shaves 2 --trace-bundles 0 --kanata-bundles 100000 "
                 "--trace-json t.json");
    ck_assert(!strstr(file_text("t.json"), "left out"));
    ck_assert(!strstr(file_text("t.json"), "\"cut off\""));
}
END_TEST

/* --- value change dumps -------------------------------------------------- */

/* What a track is in from `ns` on; "" = in nothing. */
typedef struct {
    uint64_t ns;
    bool busy;
    char state[24];
} span;

enum { MAX_SPANS = 20000, MAX_SIGNALS = 256 };

typedef struct {
    char name[24]; /* blanks as _ */
    span *s;
    size_t n;
} line_of_time;

/* At one time the last value counts; the same value again is none. */
static void add_span(line_of_time *t, const span *s)
{
    if (t->n && t->s[t->n - 1].ns == s->ns)
        t->n--;
    if (t->n && t->s[t->n - 1].busy == s->busy &&
        !strcmp(t->s[t->n - 1].state, s->state))
        return;
    if (!t->n && !s->busy && !*s->state)
        return;
    ck_assert_uint_lt(t->n, MAX_SPANS);
    t->s[t->n++] = *s;
}

static line_of_time *track_named(line_of_time *t, const char *name)
{
    char flat[24];

    snprintf(flat, sizeof flat, "%s", name);
    for (char *c = flat; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    while (t->s && strcmp(t->name, flat) != 0)
        t++;
    if (!t->s) {
        memcpy(t->name, flat, sizeof flat);
        t->s = arena_array(p.arena, span, MAX_SPANS);
    }
    return t;
}

/* From Chrome's form: B and E of each thread that is a SHAVE or a channel. */
static void from_slices(const char *name, line_of_time *tracks)
{
    struct {
        line_of_time *track;
        char open[8][24];
        int depth, idle;
    } tid[256] = {0};
    json_error_t e;
    json_t *j = json_loads(file_text(name), 0, &e), *ev;
    size_t i;

    ck_assert_msg(j, "%s", e.text);
    json_array_foreach(json_object_get(j, "traceEvents"), i, ev)
    {
        const char *ph = fields_text(ev, "ph");
        const char *what = json_string_value(json_object_get(ev, "name"));
        json_t *id = json_object_get(ev, "tid");
        int64_t t = id ? json_integer_value(id) : 0;
        span s = {0};

        ck_assert(t >= 0 && t < 256);
        if (*ph == 'M' && !strcmp(what, "thread_name")) {
            const char *of = fields_text(json_object_get(ev, "args"), "name");

            if (!strncmp(of, "SHAVE", 5) || !strncmp(of, "DMA", 3))
                tid[t].track = track_named(tracks, of);
        }
        if ((*ph != 'B' && *ph != 'E') || !tid[t].track)
            continue;
        if (*ph == 'B') {
            ck_assert_int_lt(tid[t].depth, 8);
            snprintf(tid[t].open[tid[t].depth], 24, "%s", what);
            for (char *c = tid[t].open[tid[t].depth]; *c; c++)
                if (*c == ' ')
                    *c = c[1] >= '0' && c[1] <= '9' ? '\0' : '_';
            tid[t].idle += !strcmp(what, "idle");
            tid[t].depth++;
        } else {
            tid[t].depth--;
            tid[t].idle -= !strcmp(tid[t].open[tid[t].depth], "idle");
        }
        s.ns = (uint64_t)(json_number_value(json_object_get(ev, "ts")) * 1000 +
                          0.5);
        s.busy = tid[t].depth > tid[t].idle;
        if (tid[t].depth)
            memcpy(s.state, tid[t].open[tid[t].depth - 1], 24);
        add_span(tid[t].track, &s);
    }
    json_decref(j);
}

typedef struct {
    char id[8];
    bool state; /* else busy */
    line_of_time *track;
    span now; /* the track's; in the signal that is busy */
} vcd_signal;

/* "states: 1=issue 2=…" -> names[1] … */
static void read_states(const char *list, char names[64][24])
{
    unsigned k;
    int used;

    for (; sscanf(list, " %u=%n", &k, &used) == 1; list += strcspn(list, " ")) {
        ck_assert_uint_lt(k, 64);
        list += used;
        snprintf(names[k], 24, "%.*s", (int)strcspn(list, " "), list);
    }
}

static void from_dump(const char *name, line_of_time *tracks)
{
    char names[64][24] = {""}, scope[24] = "", *data = file_text(name), *line;
    vcd_signal sig[2 * MAX_SIGNALS] = {0};
    unsigned n = 0, width;
    uint64_t ns = 0;
    bool values = false;

    while ((line = strsep(&data, "\n")) && *line) {
        if (!strncmp(line, "$comment states:", 16)) {
            read_states(line + 16, names);
        } else if (sscanf(line, "$scope module %23s $end", scope) == 1) {
            continue;
        } else if (!strncmp(line, "$var", 4)) {
            sig[n].state = strstr(line, " state ") != NULL;
            ck_assert_int_eq(sscanf(line, "$var %*s %u %7s", &width, sig[n].id),
                             2);
            ck_assert(sig[n].state || width == 1);
            sig[n].track = track_named(tracks, scope);
            n++;
        } else if (*line == '#') {
            ck_assert(!values || strtoull(line + 1, NULL, 10) > ns);
            values = true;
            ns = strtoull(line + 1, NULL, 10);
        } else if (*line != '$') {
            bool vector = *line == 'b';
            const char *id = vector ? strchr(line, ' ') + 1 : line + 1;
            unsigned k = 0;

            while (k < n && strcmp(sig[k].id, id) != 0)
                k++;
            ck_assert_msg(k < n && sig[k].state == vector, "%s", line);
            if (vector) /* busy comes in front of state */
                memcpy(sig[k - 1].now.state,
                       names[strtoul(line + 1, NULL, 2) & 63], 24);
            else
                sig[k].now.busy = *line == '1';
            k -= vector;
            sig[k].now.ns = ns;
            add_span(sig[k].track, &sig[k].now);
        }
    }
}

START_TEST(dump_is_the_trace)
{
    static const char *const levels[] = {"full", "groups"};
    line_of_time slices[MAX_SIGNALS] = {0}, dump[MAX_SIGNALS] = {0};
    size_t spans = 0;

    run_layer(_i / 2,
              arena_printf(p.arena,
                           "--vcd t.vcd --trace-json t.json --trace-level %s",
                           levels[_i % 2]));
    from_slices("t.json", slices);
    from_dump("t.vcd", dump);
    for (line_of_time *a = slices; a->s; a++) {
        const line_of_time *b = track_named(dump, a->name);

        ck_assert_msg(a->n == b->n, "%s: %zu changes in the trace, %zu dumped",
                      a->name, a->n, b->n);
        for (size_t k = 0; k < a->n; k++) {
            ck_assert_uint_eq(a->s[k].ns, b->s[k].ns);
            ck_assert_str_eq(a->s[k].state, b->s[k].state);
            ck_assert_int_eq(a->s[k].busy, b->s[k].busy);
        }
        spans += a->n;
    }
    ck_assert_uint_ge(spans, 16);
}
END_TEST

/* --- options ------------------------------------------------------------- */

static const struct {
    const char *args, *want[2];
} bad[] = {
    {"--profile=0", {"--profile", "'0'"}},
    {"--profile=many", {"--profile", "many"}},
    {"--profile --engine compiled", {"--profile", "compiled"}},
    {"--folded f.txt --engine compiled", {"--folded", "compiled"}},
    {"--folded no/such/f.txt", {"no/such/f.txt"}},
    {"--kanata k.log --engine compiled", {"--kanata", "compiled"}},
    {"--kanata k.log --kanata-group 9", {"--kanata-group 9", "9 work-groups"}},
    {"--kanata k.log --kanata-group x", {"--kanata-group", "'x'"}},
    {"--vcd no/such/t.vcd", {"no/such/t.vcd"}},
    {"--trace t --trace-bundles 0 --engine compiled",
     {"--trace-bundles needs", "compiled"}},
    {"--trace t --trace-bundles 0 --timing transaction", {"--trace-bundles"}},
    {"--trace t --trace-bundles 9", {"--trace-bundles 9", "9 work-groups"}},
    {"--trace t --trace-bundles x", {"--trace-bundles", "'x'"}},
    {"--trace-bundles 0", {"--trace-bundles needs a timeline"}},
    {"--kanata-bundles 0", {"--kanata-bundles", "'0'"}},
    {"--kanata no/such/k.log", {"no/such/k.log"}},
};

START_TEST(bad_options)
{
    terminal_run(&p, arena_printf(p.arena, "run %s/kernels/%s %s", home,
                                  layers[2], bad[_i].args));
    ck_assert_int_eq(p.status, 2);
    for (int k = 0; k < 2 && bad[_i].want[k]; k++)
        ck_assert_msg(strstr(p.err, bad[_i].want[k]), "'%s' is not in\n%s",
                      bad[_i].want[k], p.err);
    ck_assert_str_eq(terminal_files(&p, ""), "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu run, observed");
    TCase *c = tcase_create("observed");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, rows_add_up, 0, N_LAYERS);
    tcase_add_loop_test(c, folded_stacks, 0, N_LAYERS);
    tcase_add_test(c, folded_names);
    tcase_add_loop_test(c, profiled_lines, 0, 16);
    tcase_add_loop_test(c, profile_columns, 0, N_LAYERS);
    tcase_add_test(c, profile_table);
    tcase_add_loop_test(c, kanata_is_the_group, 0, 2 * N_LAYERS);
    tcase_add_loop_test(c, bundles_are_the_log, 0, 2 * N_LAYERS + 1);
    tcase_add_loop_test(c, bundles_are_beside_the_rest, 0, 3);
    tcase_add_test(c, bundles_are_cut_off);
    tcase_add_loop_test(c, dump_is_the_trace, 0, 2 * N_LAYERS + 2);
    tcase_add_loop_test(c, bad_options, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
