/* The machine description: reading the XML against the rows of params.def.
 *
 *   params.def --> rows[] (name, bounds, unit, offset) <--> <param .../>
 *
 * The reader is strict both ways: every INT and REAL once, nothing else. A
 * description is a trusted file in practice, but nothing here relies on it: the
 * size is limited, document types (and with them entities) are refused, and
 * nothing is ever fetched. */
#include "sim/machine/desc.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

#include "base/file.h"
#include "base/nearest.h"
#include "sim/machine/fast.h"

/* The built-in description, as it lies in the tree. */
__asm__(".pushsection .rodata\n"
        ".global mach_builtin_xml, mach_builtin_xml_end\n"
        "mach_builtin_xml:\n"
        ".incbin \"sim/machine/ma2x8x.xml\"\n"
        "mach_builtin_xml_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char mach_builtin_xml[], mach_builtin_xml_end[];

enum { MAX_XML_BYTES = 1 << 20 };

typedef struct {
    const char *name, *unit, *about;
    bool real, mode;
    uint64_t mode_value; /* unless --set says another */
    uint64_t min_int, max_int;
    double min_real, max_real;
    size_t offset; /* in mach_desc */
} row;

static const row rows[] = {
#define INT(n, lo, hi, u, text) \
    {.name = #n,                \
     .unit = u,                 \
     .about = text,             \
     .min_int = lo,             \
     .max_int = hi,             \
     .offset = offsetof(mach_desc, n)},
#define REAL(n, lo, hi, u, text) \
    {.name = #n,                 \
     .unit = u,                  \
     .about = text,              \
     .real = true,               \
     .min_real = lo,             \
     .max_real = hi,             \
     .offset = offsetof(mach_desc, n)},
#define MODE(n, hi, v, text) \
    {.name = #n,             \
     .unit = "",             \
     .about = text,          \
     .mode = true,           \
     .mode_value = v,        \
     .max_int = hi,          \
     .offset = offsetof(mach_desc, n)},
#include "sim/machine/params.def"
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static const char *const statuses[] = {
    [MACH_DOCUMENTED] = "documented", [MACH_INFERRED] = "inferred",
    [MACH_CALIBRATED] = "calibrated", [MACH_ASSUMED] = "assumed",
    [MACH_OVERRIDDEN] = "overridden",
};

const char *mach_status_name(mach_status s)
{
    return statuses[s];
}

typedef struct {
    const char *path; /* for messages */
    arena *a;
    vpu_error *err;
    mach_desc *d;
    mach_param_note *notes;
    uint32_t seen_at[N_ROWS]; /* line, 0 = not yet */
} reader;

/* --- values -------------------------------------------------------------- */

static const row *find_row(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* " (nearest: NAME)" behind a name that no row has; "" when none is like it. */
static const char *nearest_row(const char *name, arena *a)
{
    nearest n = {.word = name};

    for (size_t i = 0; i < N_ROWS; i++)
        nearest_offer(&n, rows[i].name);
    return n.best ? arena_printf(a, " (nearest: %s)", n.best) : "";
}

/* The value of a row from text into d; NULL, or what is wrong with it. */
static const char *store_value(mach_desc *d, const row *r, const char *text,
                               arena *a)
{
    unsigned long long n;
    double x;

    if (r->real) {
        if (!str_to_f64(text, &x) || x != x)
            return arena_printf(a, "\"%.40s\" is not a number", text);
        if (x < r->min_real || x > r->max_real)
            return arena_printf(a, "%g is outside %g .. %g %s", x, r->min_real,
                                r->max_real, r->unit);
        memcpy((char *)d + r->offset, &x, sizeof x);
        return NULL;
    }
    if (!str_to_u64(text, &n))
        return arena_printf(a, "\"%.40s\" is not a whole number", text);
    if (r->mode && n > r->max_int)
        return arena_printf(a,
                            "%llu is outside 0 .. %llu, the sum of all bits; "
                            "vpu machine lists the bits",
                            n, (unsigned long long)r->max_int);
    if (n < r->min_int || n > r->max_int)
        return arena_printf(a, "%llu is outside %llu .. %llu %s", n,
                            (unsigned long long)r->min_int,
                            (unsigned long long)r->max_int, r->unit);
    memcpy((char *)d + r->offset, &(uint64_t){n}, sizeof(uint64_t));
    return NULL;
}

static bool power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

const char *mach_desc_contradiction(const mach_desc *d)
{
    if (!power_of_two(d->l1d_line) || !power_of_two(d->l2_line))
        return "l1d_line and l2_line must be powers of two";
    if (d->l2_line < d->l1d_line)
        return "l2_line must not be below l1d_line";
    if (!power_of_two(d->ddr_banks) || !power_of_two(d->ddr_row_bytes))
        return "ddr_banks and ddr_row_bytes must be powers of two";
    if (d->l1d_bytes < d->l1d_line * d->l1d_ways)
        return "l1d_bytes must hold one line per way";
    if (d->l2_bytes < d->l2_line * d->l2_ways * d->num_shaves)
        return "l2_bytes must hold one line per way and SHAVE";
    if (d->shaves_default > d->num_shaves)
        return "shaves_default must not be above num_shaves";
    if (d->num_shaves > d->cmx_slices)
        return "num_shaves must not be above cmx_slices";
    if (d->cmx_slices_user > d->cmx_slices)
        return "cmx_slices_user must not be above cmx_slices";
    if (d->ocl_local_budget > d->cmx_slice_bytes)
        return "ocl_local_budget must not be above cmx_slice_bytes";
    if (d->ddr_eff_bw > d->ddr_peak_bw)
        return "ddr_eff_bw must not be above ddr_peak_bw";
    if (d->ddr_base + d->ddr_bytes > UINT64_C(1) << 32 ||
        d->cmx_base + d->cmx_slices * d->cmx_slice_bytes > UINT64_C(1) << 32)
        return "DDR and CMX must lie below 4 GiB";
    if (d->ddr_base < d->cmx_base + d->cmx_slices * d->cmx_slice_bytes &&
        d->cmx_base < d->ddr_base + d->ddr_bytes)
        return "DDR and CMX must not overlap";
    return NULL;
}

/* --- XML ----------------------------------------------------------------- */

static uint32_t line_of(const xmlNode *node)
{
    long line = xmlGetLineNo(node);

    return line > 0 ? (uint32_t)line : 0;
}

/* An attribute's text in the arena, NULL when it is not there. */
static const char *attribute(reader *r, xmlNode *node, const char *name)
{
    xmlChar *text = xmlGetNoNsProp(node, (const xmlChar *)name);
    const char *copy = arena_strdup(r->a, (const char *)text);

    xmlFree(text);
    return copy;
}

static vpu_status need_attribute(reader *r, xmlNode *node, const char *name,
                                 const char **out)
{
    *out = attribute(r, node, name);
    if (*out && **out)
        return VPU_OK;
    return err_at(r->err, VPU_ERR_PARSE, r->path, line_of(node), 0,
                  "<%s> needs the attribute %s", (const char *)node->name,
                  name);
}

static vpu_status only_attributes(reader *r, xmlNode *node,
                                  const char *const *names)
{
    for (const xmlAttr *p = node->properties; p; p = p->next) {
        const char *const *n = names;

        while (*n && strcmp(*n, (const char *)p->name))
            n++;
        if (!*n)
            return err_at(r->err, VPU_ERR_PARSE, r->path, line_of(node), 0,
                          "<%s> has no attribute %.60s",
                          (const char *)node->name, (const char *)p->name);
    }
    return VPU_OK;
}

static vpu_status read_status(reader *r, xmlNode *node, const char *name,
                              const char *text, mach_status *out)
{
    for (int s = MACH_DOCUMENTED; s <= MACH_ASSUMED; s++)
        if (!strcmp(text, statuses[s])) {
            *out = (mach_status)s;
            return VPU_OK;
        }
    return err_at(r->err, VPU_ERR_PARSE, r->path, line_of(node), 0,
                  "%s: status is documented, inferred, calibrated or assumed, "
                  "not \"%.40s\"",
                  name, text);
}

static vpu_status read_param(reader *r, xmlNode *node)
{
    static const char *const known[] = {"name",   "value",    "unit", "status",
                                        "source", "interval", NULL};
    const char *name, *value, *unit, *status, *source, *wrong;
    uint32_t line = line_of(node);
    vpu_status st = only_attributes(r, node, known);
    const row *p;
    size_t i;

    if (st || (st = need_attribute(r, node, "name", &name)) ||
        (st = need_attribute(r, node, "value", &value)) ||
        (st = need_attribute(r, node, "unit", &unit)) ||
        (st = need_attribute(r, node, "status", &status)) ||
        (st = need_attribute(r, node, "source", &source)))
        return st;
    p = find_row(name);
    if (!p)
        return err_at(r->err, VPU_ERR_PARSE, r->path, line, 0,
                      "unknown parameter \"%.60s\"%s", name,
                      nearest_row(name, r->a));
    if (p->mode)
        return err_at(r->err, VPU_ERR_PARSE, r->path, line, 0,
                      "%s is a mode of the simulator, not of the machine: use "
                      "--set %s=%.40s",
                      name, name, value);
    i = (size_t)(p - rows);
    if (r->seen_at[i])
        return err_at(r->err, VPU_ERR_PARSE, r->path, line, 0,
                      "%s is already given in line %u", name, r->seen_at[i]);
    if (strcmp(unit, p->unit))
        return err_at(r->err, VPU_ERR_PARSE, r->path, line, 0,
                      "%s is in %s, not \"%.40s\"", name, p->unit, unit);
    if ((wrong = store_value(r->d, p, value, r->a)))
        return err_at(r->err, VPU_ERR_PARSE, r->path, line, 0, "%s: %s", name,
                      wrong);
    r->notes[i].source = source;
    r->notes[i].interval = attribute(r, node, "interval");
    r->seen_at[i] = line ? line : 1;
    return read_status(r, node, name, status, &r->notes[i].status);
}

static vpu_status read_machine(reader *r, xmlNode *root)
{
    static const char *const known[] = {"name", NULL};
    vpu_status st = VPU_OK;
    const char *wrong;

    if (!root || strcmp((const char *)root->name, "machine"))
        return err_at(r->err, VPU_ERR_PARSE, r->path, root ? line_of(root) : 0,
                      0, "the outermost element must be <machine>");
    if ((st = only_attributes(r, root, known)) ||
        (st = need_attribute(r, root, "name", &r->d->machine)))
        return st;
    for (xmlNode *n = root->children; n && !st; n = n->next) {
        if (n->type != XML_ELEMENT_NODE)
            continue;
        if (strcmp((const char *)n->name, "param"))
            return err_at(r->err, VPU_ERR_PARSE, r->path, line_of(n), 0,
                          "<%.60s> is not known here, only <param>",
                          (const char *)n->name);
        st = read_param(r, n);
    }
    for (size_t i = 0; i < N_ROWS && !st; i++)
        if (!r->seen_at[i] && !rows[i].mode)
            st = err_at(r->err, VPU_ERR_PARSE, r->path, line_of(root), 0,
                        "parameter %s is missing", rows[i].name);
    if (!st && (wrong = mach_desc_contradiction(r->d)))
        st = err_at(r->err, VPU_ERR_PARSE, r->path, line_of(root), 0, "%s",
                    wrong);
    return st;
}

static vpu_status parse_failed(reader *r, xmlParserCtxt *ctx)
{
    const xmlError *e = xmlCtxtGetLastError(ctx);
    const char *text = e && e->message ? e->message : "not well-formed XML";
    int n = (int)strcspn(text, "\n");

    return err_at(r->err, VPU_ERR_PARSE, r->path,
                  e && e->line > 0 ? (uint32_t)e->line : 0, 0, "%.*s",
                  n < 200 ? n : 200, text);
}

static vpu_status read_xml(reader *r, const char *data, size_t n_bytes)
{
    xmlParserCtxt *ctx;
    xmlDoc *doc;
    vpu_status st;

    /* Before the parser sees it: without a document type there are no
     * entities to expand. A NUL would hide text from this search (UTF-16). */
    if (memchr(data, 0, n_bytes) || memmem(data, n_bytes, "<!DOCTYPE", 9))
        return err_at(r->err, VPU_ERR_PARSE, r->path, 0, 0,
                      "a machine description is UTF-8 without DOCTYPE");
    if (!(ctx = xmlNewParserCtxt()))
        return err_set(r->err, VPU_ERR_NOMEM, "%s: out of memory", r->path);
    doc = xmlCtxtReadMemory(ctx, data, (int)n_bytes, NULL, "UTF-8",
                            XML_PARSE_NONET | XML_PARSE_NOERROR |
                                XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
    if (!doc)
        st = parse_failed(r, ctx);
    else if (doc->intSubset)
        st = err_at(r->err, VPU_ERR_PARSE, r->path, 0, 0,
                    "DOCTYPE is not allowed");
    else
        st = read_machine(r, xmlDocGetRootElement(doc));
    xmlFreeDoc(doc);
    xmlFreeParserCtxt(ctx);
    return st;
}

/* --- modes --------------------------------------------------------------- */

static void set_modes(mach_desc *d)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].mode)
            memcpy((char *)d + rows[i].offset, &rows[i].mode_value,
                   sizeof rows[i].mode_value);
}

static void print_modes(const mach_desc *d, str *out)
{
    str_puts(out, "\nmodes of the simulator, which change no result\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        uint64_t n;

        if (!rows[i].mode)
            continue;
        memcpy(&n, (const char *)d + rows[i].offset, sizeof n);
        str_printf(out, "%-18s %12llu %s\n", rows[i].name,
                   (unsigned long long)n, rows[i].about);
    }
    str_puts(out, "\nbits of fast_cache\n");
#define WAY(name, bit, about) \
    str_printf(out, "%-18s %12d %s\n", #name, bit, about);
#include "sim/machine/fast.def"
}

/* --- interface ----------------------------------------------------------- */

vpu_status mach_desc_parse(const char *name, const char *data, size_t n_bytes,
                           arena *a, mach_desc *out, vpu_error *err)
{
    reader r = {.path = name, .a = a, .err = err, .d = out};

    memset(out, 0, sizeof *out);
    if (n_bytes > MAX_XML_BYTES)
        return err_set(err, VPU_ERR_LIMIT, "%s: %zu bytes, the limit is %d",
                       name, n_bytes, MAX_XML_BYTES);
    r.notes = arena_array(a, mach_param_note, N_ROWS);
    out->notes = r.notes;
    set_modes(out);
    return read_xml(&r, data, n_bytes);
}

vpu_status mach_desc_load(const char *path, arena *a, mach_desc *out,
                          vpu_error *err)
{
    size_t n = (size_t)(mach_builtin_xml_end - mach_builtin_xml);
    vpu_status st;
    char *data;

    if (!path)
        return mach_desc_parse("built-in machine description", mach_builtin_xml,
                               n, a, out, err);
    memset(out, 0, sizeof *out);
    if ((st = file_read(path, MAX_XML_BYTES, a, &data, &n, err)))
        return st;
    return mach_desc_parse(path, data, n, a, out, err);
}

vpu_status mach_desc_set(mach_desc *d, arena *a, const char *assignment,
                         vpu_error *err)
{
    const char *eq = strchr(assignment, '='), *key, *wrong;
    mach_param_note *notes;
    mach_desc changed = *d;
    const row *r;

    if (!eq)
        return err_set(err, VPU_ERR_INVALID, "\"%.100s\" is not key=value",
                       assignment);
    key = arena_strndup(a, assignment, (size_t)(eq - assignment));
    if (!(r = find_row(key)))
        return err_set(err, VPU_ERR_INVALID,
                       "no machine parameter \"%.60s\"%s; vpu machine lists "
                       "them",
                       key, nearest_row(key, a));
    if ((wrong = store_value(&changed, r, eq + 1, a)) ||
        (wrong = mach_desc_contradiction(&changed)))
        return err_set(err, VPU_ERR_INVALID, "%s: %s", key, wrong);
    /* Copied, so that a description made from this one keeps its own notes. */
    notes = arena_memdup(a, d->notes, N_ROWS * sizeof *notes);
    notes[r - rows] =
        (mach_param_note){"set by the user", MACH_OVERRIDDEN, NULL};
    changed.notes = notes;
    *d = changed;
    return VPU_OK;
}

static void value_text(const mach_desc *d, size_t at, char *out, size_t bytes)
{
    const char *field = (const char *)d + rows[at].offset;
    uint64_t n;
    double x;

    if (rows[at].real) {
        memcpy(&x, field, sizeof x);
        snprintf(out, bytes, "%g", x);
    } else {
        memcpy(&n, field, sizeof n);
        snprintf(out, bytes,
                 strcmp(rows[at].unit, "address") ? "%llu" : "0x%llx",
                 (unsigned long long)n);
    }
}

const char *const *mach_desc_changes(const mach_desc *d, const mach_desc *from,
                                     arena *a, uint32_t *n)
{
    const char **list = arena_array(a, const char *, N_ROWS);
    char value[32], was[32];

    *n = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        value_text(d, i, value, sizeof value);
        value_text(from, i, was, sizeof was);
        if (strcmp(value, was))
            list[(*n)++] = arena_printf(a, "%s=%s", rows[i].name, value);
    }
    return list;
}

void mach_desc_print(const mach_desc *d, str *out)
{
    str_printf(out, "machine %s\n%-18s %12s %-8s %-10s %s\n", d->machine,
               "parameter", "value", "unit", "status", "about [source]");
    for (size_t i = 0; i < N_ROWS; i++) {
        char value[32];

        if (rows[i].mode)
            continue;
        value_text(d, i, value, sizeof value);
        str_printf(out, "%-18s %12s %-8s %-10s %s [%s]", rows[i].name, value,
                   rows[i].unit, statuses[d->notes[i].status], rows[i].about,
                   d->notes[i].source);
        if (d->notes[i].interval)
            str_printf(out, " [95 %%: %s]", d->notes[i].interval);
        str_puts(out, "\n");
    }
    print_modes(d, out);
}

bool mach_desc_note(mach_desc *d, const char *parameter,
                    const mach_param_note *note, arena *a)
{
    const row *r = find_row(parameter);
    mach_param_note *notes;

    if (!r)
        return false;
    notes = arena_memdup(a, d->notes, N_ROWS * sizeof *notes);
    notes[r - rows] = *note;
    d->notes = notes;
    return true;
}

static void write_attribute(str *out, const char *name, const char *text)
{
    str_printf(out, " %s=\"", name);
    str_puts_markup(out, text);
    str_puts(out, "\"");
}

void mach_desc_write(const mach_desc *d, str *out)
{
    str_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<machine");
    write_attribute(out, "name", d->machine);
    str_puts(out, ">\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        const mach_param_note *n = &d->notes[i];
        char value[32];

        if (rows[i].mode)
            continue;
        value_text(d, i, value, sizeof value);
        str_puts(out, "  <param");
        write_attribute(out, "name", rows[i].name);
        write_attribute(out, "value", value);
        write_attribute(out, "unit", rows[i].unit);
        /* What --set says is nobody's measurement. */
        write_attribute(
            out, "status",
            statuses[n->status == MACH_OVERRIDDEN ? MACH_ASSUMED : n->status]);
        if (n->interval)
            write_attribute(out, "interval", n->interval);
        str_puts(out, "\n        ");
        write_attribute(out, "source", n->source);
        str_puts(out, "/>\n");
    }
    str_puts(out, "</machine>\n");
}

double mach_desc_seconds(const mach_desc *d, uint64_t cycles)
{
    return (double)cycles / ((double)d->clk_mhz * 1e6);
}
