/* The table: columns as wide as their longest entry. */
#include "runtime/pool/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "runtime/pool/names.h"

enum { WIDEST_NAME = 40 };

void pool_name_of(const char *const *names, size_t i, str *out)
{
    out->n = 0;
    if (names && names[i])
        str_puts(out, names[i]);
    else
        str_printf(out, "item %zu", i);
}

/* Characters of UTF-8 text, as terminals count them, more or less. */
static int width_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void shown_name(const char *const *names, size_t i, str *plain,
                       str *shown)
{
    pool_name_of(names, i, plain);
    shown->n = 0;
    for (size_t k = 0; k < plain->n; k++)
        if (plain->data[k] == '\n' || plain->data[k] == '\t')
            plain->data[k] = ' '; /* one row an item */
    str_add_shown(shown, str_text(plain), plain->n);
}

static int digits(uint64_t value)
{
    return snprintf(NULL, 0, "%" PRIu64, value);
}

typedef struct {
    int name, bytes, offset;
} widths;

static widths measure(const pool_item *items, const char *const *names,
                      const pool_plan *plan, str *plain, str *shown)
{
    widths w = {4, 5, 6}; /* the headings */

    for (size_t i = 0; i < plan->n; i++) {
        int name, bytes = digits(items[i].bytes);
        int offset = digits(plan->offsets[i]);

        shown_name(names, i, plain, shown);
        name = width_of(str_text(shown));
        if (name > w.name)
            w.name = name < WIDEST_NAME ? name : WIDEST_NAME;
        if (bytes > w.bytes)
            w.bytes = bytes;
        if (offset > w.offset)
            w.offset = offset;
    }
    return w;
}

void pool_report_text(const pool_item *items, const char *const *names,
                      const pool_plan *plan, str *out)
{
    str plain = {0}, shown = {0};
    widths w = measure(items, names, plan, &plain, &shown);

    str_printf(out, "%-*s  %*s  %*s  steps\n", w.name, "name", w.bytes, "bytes",
               w.offset, "offset");
    for (size_t i = 0; i < plan->n; i++) {
        int pad;

        shown_name(names, i, &plain, &shown);
        pad = w.name - width_of(str_text(&shown));
        str_printf(out, "%s%*s  %*" PRIu64 "  %*" PRIu64 "  %u-%u\n",
                   str_text(&shown), pad > 0 ? pad : 0, "", w.bytes,
                   items[i].bytes, w.offset, plan->offsets[i], items[i].first,
                   items[i].last);
    }
    str_printf(out, "\npeak         %" PRIu64 "\n", plan->peak);
    str_printf(out, "lower bound  %" PRIu64 "\n", plan->lower_bound);
    str_printf(out, "sum          %" PRIu64 "\n", plan->sum);
    if (plan->peak <= plan->sum)
        str_printf(out, "saved        %" PRIu64 "\n", plan->sum - plan->peak);
    else /* gaps that alignments leave */
        str_printf(out, "saved        -%" PRIu64 "\n", plan->peak - plan->sum);
    str_free(&plain);
    str_free(&shown);
}
