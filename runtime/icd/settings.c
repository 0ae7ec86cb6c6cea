/* A line of options, and the machine that it describes. */
#include "runtime/icd/settings.h"

#include <string.h>

#include "base/str.h"
#include "sim/check/check.h"

enum { DEVICE_SECONDS = 10 };

/* As given; the last one counts but for `set`. */
typedef struct {
    const char *list[ICD_MOST_SETTINGS];
    uint32_t n;
} values;

typedef struct {
#define SETTING(field, name, value, about) values field;
#include "runtime/icd/settings.def"
} given;

static const struct {
    const char *name, *value;
    size_t at;
} rows[] = {
#define SETTING(field, name, value, about) \
    {name, value, offsetof(given, field)},
#include "runtime/icd/settings.def"
};

char *icd_next_word(char **text)
{
    char *at = *text + strspn(*text, " \t\n\r"), *word = at, *to = at;
    char quote = 0;

    if (!*at)
        return NULL;
    for (; *at && (quote || !strchr(" \t\n\r", *at)); at++) {
        if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? 0 : *at;
        else if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
            *to++ = *++at;
        else
            *to++ = *at;
    }
    *text = *at ? at + 1 : at;
    *to = 0;
    return word;
}

/* Which row "--name" or "--name=value" is of; *value: behind the "=". */
static int row_of(char *word, const char **value)
{
    size_t n = strcspn(word, "=");

    *value = word[n] ? word + n + 1 : NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(word, "--", 2) && n - 2 == strlen(rows[i].name) &&
            !strncmp(word + 2, rows[i].name, n - 2))
            return (int)i;
    return -1;
}

static vpu_status split(const char *text, arena *a, given *g, vpu_error *err)
{
    char *rest = arena_strdup(a, text), *word;

    while ((word = icd_next_word(&rest))) {
        const char *value;
        int row = row_of(word, &value);
        values *v;

        if (row < 0)
            return err_set(err, VPU_ERR_INVALID,
                           "unknown option %s; vpu cl --help has those there "
                           "are",
                           word);
        if (!value)
            value = *rows[row].value == '[' ? "" : icd_next_word(&rest);
        v = (values *)((char *)g + rows[row].at);
        if (!value || (!*value && *rows[row].value != '[') ||
            v->n == ICD_MOST_SETTINGS)
            return err_set(err, VPU_ERR_INVALID, "--%s needs a value: %s",
                           rows[row].name, rows[row].value);
        v->list[v->n++] = value;
    }
    return VPU_OK;
}

static const char *last(const values *v)
{
    return v->n ? v->list[v->n - 1] : NULL;
}

static vpu_status refuse(const char *name, const char *value,
                         const char *expected, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID, "--%s %s: expected %s", name, value,
                   expected);
}

static vpu_status take_machine(const given *g, arena *a, icd_settings *out,
                               vpu_error *err)
{
    const char *shaves = last(&g->shaves);
    unsigned long long n = 0;
    vpu_status st = mach_desc_load(last(&g->machine), a, &out->desc, err);

    for (uint32_t i = 0; i < g->set.n && !st; i++)
        st = mach_desc_set(&out->desc, a, g->set.list[i], err);
    if (st)
        return st;
    if (shaves && (!str_to_u64(shaves, &n) || !n || n > out->desc.num_shaves))
        return refuse("shaves", shaves, "1 to those of the machine", err);
    out->shaves = (uint32_t)(shaves ? n : out->desc.num_shaves);
    return VPU_OK;
}

static vpu_status take_limits(const given *g, icd_settings *out, vpu_error *err)
{
    const char *cycles = last(&g->max_cycles), *timeout = last(&g->timeout);
    unsigned long long n = 0;

    if (cycles && (!str_to_u64(cycles, &n) || !n))
        return refuse("max-cycles", cycles, "a number above 0", err);
    if (timeout &&
        (!str_to_f64(timeout, &out->timeout_s) || !(out->timeout_s >= 0)))
        return refuse("timeout", timeout, "seconds", err);
    out->max_cycles = cycles ? n : out->desc.clk_mhz * 1000000 * DEVICE_SECONDS;
    return VPU_OK;
}

enum { RANDOM_ORDERS = 4, MOST_ORDERS = 1000 };

static vpu_status take_checks(const given *g, icd_settings *out, vpu_error *err)
{
    const char *order = last(&g->order);
    unsigned long long n = RANDOM_ORDERS;

    out->check = last(&g->check);
    out->suppress = last(&g->suppress);
    out->findings = last(&g->findings);
    if (order && (strncmp(order, "all", 3) ||
                  (order[3] && (order[3] != ':' || !str_to_u64(order + 4, &n) ||
                                !n || n > MOST_ORDERS))))
        return refuse("order", order, "all, or all:N with N from 1 to 1000",
                      err);
    if (!out->check && (order || out->suppress || out->findings))
        return err_set(err, VPU_ERR_INVALID,
                       "--order, --suppress and --findings are for --check");
    out->n_random = order ? (uint32_t)n : 0;
    return !out->check ? VPU_OK
                       : check_set_parse(*out->check ? out->check : "default",
                                         &(check_set){0}, err);
}

enum { PROFILE_LINES = 20 };

static vpu_status take_profile(const given *g, icd_settings *out,
                               vpu_error *err)
{
    const char *lines = last(&g->profile);
    unsigned long long n = PROFILE_LINES;

    if (lines && *lines && (!str_to_u64(lines, &n) || !n || n > UINT32_MAX))
        return refuse("profile", lines, "a number of lines, from 1 on", err);
    out->profile = lines ? (uint32_t)n : 0;
    return VPU_OK;
}

static vpu_status take_trace(const given *g, icd_settings *out, vpu_error *err)
{
    static const char *const words[] = {"summary", "groups", "full"};
    const char *level = last(&g->trace_level);
    int i = 0;

    out->trace = last(&g->trace);
    out->trace_level = TRC_GROUPS;
    while (level && i < 3 && strcmp(level, words[i]))
        i++;
    if (i == 3)
        return refuse("trace-level", level, "summary, groups or full", err);
    if (level)
        out->trace_level = (trc_level)i;
    return VPU_OK;
}

static vpu_status take_type(const given *g, icd_settings *out, vpu_error *err)
{
    static const char *const words[] = {"accelerator", "gpu", "cpu"};
    const char *as = last(&g->as);

    for (out->as = 0; as && out->as < 3; out->as++)
        if (!strcmp(as, words[out->as]))
            return VPU_OK;
    return as ? refuse("as", as, "accelerator, gpu or cpu", err) : VPU_OK;
}

/* The links of the virtual stick. */
static vpu_status take_link(const given *g, icd_settings *out, vpu_error *err)
{
    static const struct {
        const char *name;
        uint32_t rate, each;
    } links[] = {
#define STICK_LINK(name, rate, each, about) {#name, rate, each},
#include "runtime/stick/link.def"
    };
    const char *link = g->link.n ? last(&g->link) : "usb3";

    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (!strcmp(link, links[i].name)) {
            out->link_rate = links[i].rate;
            out->link_each = links[i].each;
            return VPU_OK;
        }
    return refuse("link", link, "usb3, usb2 or none", err);
}

vpu_status icd_settings_read(const char *text, arena *a, icd_settings *out,
                             vpu_error *err)
{
    given g = {0};
    vpu_status st = split(text, a, &g, err);

    *out = (icd_settings){0};
    if (!st)
        st = take_machine(&g, a, out, err);
    if (!st)
        st = take_limits(&g, out, err);
    if (!st)
        st = take_type(&g, out, err);
    if (!st)
        st = take_link(&g, out, err);
    if (!st)
        st = take_checks(&g, out, err);
    out->dump = last(&g.dump);
    out->kernels = arena_memdup(a, g.kernel.list, sizeof g.kernel.list);
    out->n_kernels = g.kernel.n;
    if (!st)
        st = take_profile(&g, out, err);
    if (!st)
        st = take_trace(&g, out, err);
    out->json = last(&g.json);
    out->launches = last(&g.launches);
    out->proof = last(&g.proof);
    return st;
}
