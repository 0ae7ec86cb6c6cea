/* The picture. Coordinates are hundredths of a pixel and whole numbers, so that
 * no locale and no rounding mode changes the text. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "runtime/pool/names.h"
#include "runtime/pool/report.h"

enum {
    WIDTH = 960,
    HEIGHT = 540,
    LEFT = 100, /* of the plane that has the rectangles */
    TOP = 40,
    PLANE_WIDTH = 840,
    PLANE_HEIGHT = 440,
    N_COLOURS = 8,
};

typedef struct {
    uint64_t bytes;
    size_t item;
} sized;

typedef struct {
    const pool_item *items;
    const char *const *names;
    const pool_plan *plan;
    uint64_t first, steps; /* the range that is shown */
    str *out;
} picture;

static int by_size(const void *left, const void *right)
{
    const sized *l = left, *r = right;

    if (l->bytes != r->bytes)
        return l->bytes > r->bytes ? -1 : 1;
    return l->item < r->item ? -1 : l->item > r->item;
}

static int by_number(const void *left, const void *right)
{
    const sized *l = left, *r = right;

    return l->item < r->item ? -1 : l->item > r->item;
}

/* value / whole of length pixels, in hundredths. */
static unsigned scaled(uint64_t value, uint64_t whole, unsigned length)
{
    while (whole >> 40) { /* the product must fit */
        whole >>= 1;
        value >>= 1;
    }
    return whole ? (unsigned)(value * length * 100 / whole) : 0;
}

static void number(str *out, const char *name, unsigned hundredths)
{
    str_printf(out, " %s=\"%u.%02u\"", name, hundredths / 100,
               hundredths % 100);
}

/* From the bottom of the plane. */
static unsigned height_of(const picture *p, uint64_t address)
{
    return scaled(address, p->plan->peak, PLANE_HEIGHT);
}

static void rectangle(const picture *p, size_t i, str *name)
{
    static const char *const colours[N_COLOURS] = {
        "#4e79a7", "#f28e2b", "#59a14f", "#e15759",
        "#76b7b2", "#edc948", "#b07aa1", "#9c755f"};
    const pool_item *item = &p->items[i];
    uint64_t offset = p->plan->offsets[i];
    unsigned x = scaled(item->first - p->first, p->steps, PLANE_WIDTH);
    unsigned right =
        scaled((uint64_t)item->last + 1 - p->first, p->steps, PLANE_WIDTH);
    unsigned low = height_of(p, offset);
    unsigned high = height_of(p, offset + item->bytes);

    str_puts(p->out, "<rect");
    number(p->out, "x", LEFT * 100 + x);
    number(p->out, "y", (TOP + PLANE_HEIGHT) * 100 - high);
    number(p->out, "width", right - x);
    number(p->out, "height", high - low);
    str_printf(p->out, " fill=\"%s\"><title>", colours[i % N_COLOURS]);
    pool_name_of(p->names, i, name);
    str_puts_markup(p->out, str_text(name));
    str_printf(p->out,
               ": %" PRIu64 " bytes at %" PRIu64 ", steps %u-%u"
               "</title></rect>\n",
               item->bytes, offset, item->first, item->last);
}

/* Numbers at the ends of both axes, the lower bound, the remark. */
static void frame(const picture *p, size_t hidden)
{
    unsigned bound =
        (TOP + PLANE_HEIGHT) * 100 - height_of(p, p->plan->lower_bound);

    str_puts(p->out, "<line");
    number(p->out, "x1", LEFT * 100);
    number(p->out, "y1", bound);
    number(p->out, "x2", (LEFT + PLANE_WIDTH) * 100);
    number(p->out, "y2", bound);
    str_puts(p->out, " stroke=\"#000\" stroke-dasharray=\"6 4\">"
                     "<title>lower bound</title></line>\n");
    str_printf(p->out,
               "<text x=\"%d\" y=\"24\">peak %" PRIu64 " bytes, lower bound "
               "%" PRIu64 ", without sharing %" PRIu64,
               LEFT, p->plan->peak, p->plan->lower_bound, p->plan->sum);
    if (hidden)
        str_printf(p->out, "; %zu smaller items are not drawn", hidden);
    str_puts(p->out, "</text>\n");
    str_printf(p->out,
               "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%" PRIu64
               "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0"
               "</text>\n",
               LEFT - 6, TOP + 12, p->plan->peak, LEFT - 6, TOP + PLANE_HEIGHT);
    str_printf(
        p->out,
        "<text x=\"%d\" y=\"%d\">step %" PRIu64 "</text>\n"
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%" PRIu64 "</text>\n",
        LEFT, TOP + PLANE_HEIGHT + 20, p->first, LEFT + PLANE_WIDTH,
        TOP + PLANE_HEIGHT + 20, p->first + (p->steps ? p->steps - 1 : 0));
}

/* Which items are drawn, by number; how many have bytes. */
static size_t choose(picture *p, sized *chosen, size_t most, size_t *n_all)
{
    uint64_t first = UINT64_MAX, last = 0;
    size_t n = 0;

    for (size_t i = 0; i < p->plan->n; i++) {
        const pool_item *item = &p->items[i];

        if (!item->bytes)
            continue;
        chosen[n++] = (sized){item->bytes, i};
        first = item->first < first ? item->first : first;
        last = item->last > last ? item->last : last;
    }
    *n_all = n;
    if (n) {
        p->first = first;
        p->steps = last + 1 - first;
        qsort(chosen, n, sizeof *chosen, by_size);
        n = n < most ? n : most;
        qsort(chosen, n, sizeof *chosen, by_number);
    }
    return n;
}

void pool_report_svg(const pool_item *items, const char *const *names,
                     const pool_plan *plan, size_t most, str *out)
{
    picture p = {.items = items, .names = names, .plan = plan, .out = out};
    arena *a = arena_create(0);
    sized *chosen = arena_array(a, sized, plan->n);
    str name = {0};
    size_t n_all;
    size_t n = choose(&p, chosen, most ? most : POOL_MOST_RECTANGLES, &n_all);

    str_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
               "height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n"
               "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
               "<g stroke=\"#fff\" stroke-width=\"0.5\">\n",
               WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    for (size_t k = 0; k < n; k++)
        rectangle(&p, chosen[k].item, &name);
    str_puts(out, "</g>\n");
    frame(&p, n_all - n);
    str_puts(out, "</svg>\n");
    str_free(&name);
    arena_destroy(a);
}
