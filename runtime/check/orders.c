/* Tries orders, compares, and narrows down. */
#include "runtime/check/orders.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/check/describe.h"
#include "sim/exec/order.h"

enum {
    MAX_TRIES = 400,     /* of narrowing a launch down */
    MAX_LISTED = 1 << 22 /* groups, to narrow down among them */
};

typedef struct {
    const char *name; /* as a message says it */
    backend_order how;
} attempt;

typedef struct {
    const graph *g;
    backend b;
    arena *a;
    uint8_t **before, **plain; /* buffers' contents: of the launch at hand,
                                  before it and after it, sequentially */
    uint32_t launch;
    uint64_t n_groups;
    uint32_t tries;
    vpu_error *err;
} orders;

/* --- buffers ------------------------------------------------------------- */

static void keep(orders *o, uint8_t **to)
{
    for (uint32_t i = 0; i < o->g->n_buffers; i++)
        memcpy(to[i], backend_buffer(&o->b, i), o->g->buffers[i].bytes);
}

static void put_back(orders *o, uint8_t *const *from)
{
    for (uint32_t i = 0; i < o->g->n_buffers; i++)
        memcpy(backend_buffer(&o->b, i), from[i], o->g->buffers[i].bytes);
}

/* The first buffer whose contents are not those of the plain order; n_buffers =
 * none. */
static uint32_t differs(const orders *o)
{
    uint32_t i = 0;

    while (i < o->g->n_buffers && !memcmp(backend_buffer(&o->b, i), o->plain[i],
                                          o->g->buffers[i].bytes))
        i++;
    return i;
}

static vpu_status run_in_order(orders *o, const backend_order *how,
                               vpu_error *err)
{
    return o->b.ops->order->run(o->b.self, o->launch, how, err);
}

/* --- narrowing down ------------------------------------------------------ */

/* Are these groups, in this way, enough, when all others run before them in
 * plain order? */
static bool enough(orders *o, const attempt *x, const uint64_t *list,
                   uint64_t n)
{
    uint64_t *rest = malloc((o->n_groups + 1) * sizeof *rest);
    uint8_t *in = calloc(o->n_groups + 1, 1);
    backend_order how = x->how, plain = {.n_shaves = 1};
    uint64_t n_rest = 0;
    vpu_status st = rest && in ? VPU_OK : VPU_ERR_NOMEM;

    for (uint64_t i = 0; i < n && !st; i++)
        in[list[i]] = 1;
    for (uint64_t g = 0; g < o->n_groups && !st; g++)
        if (!in[g])
            rest[n_rest++] = g;
    put_back(o, o->before);
    plain.list = rest;
    plain.n_list = n_rest;
    if (!st && n_rest)
        st = run_in_order(o, &plain, NULL);
    how.order = EXEC_SEQUENTIAL;
    how.list = list;
    how.n_list = n;
    if (!st && n)
        st = run_in_order(o, &how, NULL);
    free(rest);
    free(in);
    o->tries++;
    return !st && differs(o) < o->g->n_buffers;
}

/* The groups in the order the attempt runs them. */
static uint64_t *in_order(orders *o, const attempt *x)
{
    uint64_t *list = arena_array(o->a, uint64_t, o->n_groups + 1);

    for (uint64_t i = 0; i < o->n_groups; i++)
        list[i] = exec_order_at(x->how.order, x->how.seed, o->n_groups, i);
    return list;
}

/* Delta debugging: leaves out ever smaller parts while what is left still makes
 * the difference. list gets shorter; its length. */
static uint64_t fewest(orders *o, const attempt *x, uint64_t *list, uint64_t n)
{
    uint64_t parts = 2;
    uint64_t *without = arena_array(o->a, uint64_t, n + 1);

    while (n > 1 && o->tries < MAX_TRIES) {
        bool smaller = false;

        for (uint64_t k = 0; k < parts && !smaller && o->tries < MAX_TRIES;
             k++) {
            uint64_t from = n * k / parts, to = n * (k + 1) / parts;

            memcpy(without, list, from * sizeof *list);
            memcpy(without + from, list + to, (n - to) * sizeof *list);
            if (from == to || !enough(o, x, without, n - (to - from)))
                continue;
            n -= to - from;
            memcpy(list, without, n * sizeof *list);
            smaller = true;
        }
        if (smaller)
            parts = parts > 2 ? parts - 1 : 2;
        else if (parts >= n)
            break;
        else
            parts = parts * 2 < n ? parts * 2 : n;
    }
    return n;
}

/* --- telling ------------------------------------------------------------- */

static void put_group(const orders *o, uint64_t g, str *out)
{
    uint32_t n[3], at[3];

    layer_check_groups(&o->g->launches[o->launch], n);
    layer_check_split(g, n, at);
    str_printf(out, "(%u,%u,%u)", at[0], at[1], at[2]);
}

static void put_element(const orders *o, uint32_t buffer, uint64_t byte,
                        str *out)
{
    const graph_buffer *b = &o->g->buffers[buffer];
    str beyond = {0}; /* nothing is */

    str_puts(out, b->name);
    if (b->untyped) {
        str_printf(out, " byte %llu", (unsigned long long)byte);
        return;
    }
    layer_check_put_element(&b->desc, (int64_t)byte, out, &beyond);
}

static void put_difference(const orders *o, uint32_t buffer, const uint8_t *is,
                           str *out)
{
    const graph_buffer *b = &o->g->buffers[buffer];
    uint32_t size = b->untyped ? 1 : tensor_dtype_bytes(b->desc.dtype);
    uint64_t n = 0, first = 0;

    for (uint64_t i = 0; i + size <= b->bytes; i += size)
        if (memcmp(is + i, o->plain[buffer] + i, size) && !n++)
            first = i;
    str_printf(out, "%llu of %llu element%s differ, the first is ",
               (unsigned long long)n, (unsigned long long)(b->bytes / size),
               b->bytes / size == 1 ? "" : "s");
    put_element(o, buffer, first, out);
}

static void describe(orders *o, const attempt *x, layer_check_shown *out)
{
    const graph_launch *l = &o->g->launches[o->launch];
    uint32_t buffer = differs(o);
    uint64_t *list, n = o->n_groups;
    bool whole = o->n_groups <= MAX_LISTED;
    str text = {0};

    str_printf(&text, "the result %s is another than in sequence: ", x->name);
    put_difference(o, buffer, backend_buffer(&o->b, buffer), &text);
    if (whole) {
        list = in_order(o, x);
        o->tries = 0;
        if (enough(o, x, list, n))
            n = fewest(o, x, list, n);
        else
            whole = false;
    }
    if (whole && n <= 8) {
        str_printf(&text, "; enough for it: work-group%s ", n == 1 ? "" : "s");
        for (uint64_t i = 0; i < n; i++) {
            str_puts(&text, i ? ", " : "");
            put_group(o, list[i], &text);
        }
        str_puts(&text, n == 1 ? " behind all others"
                               : " behind all others, in this order");
    } else if (whole) {
        str_printf(&text, "; %llu work-groups are needed for it",
                   (unsigned long long)n);
    }
    *out = (layer_check_shown){.kind = CHECK_ORDER,
                               .stage = l->name,
                               .kernel = l->entry,
                               .file = l->file,
                               .line = l->line,
                               .text = arena_strdup(o->a, str_text(&text)),
                               .who = "",
                               .buffer = o->g->buffers[buffer].name,
                               .count = 1};
    str_free(&text);
}

/* --- the whole ----------------------------------------------------------- */

static attempt *list_attempts(const layer_check_orders_config *cfg, arena *a,
                              uint32_t *n)
{
    attempt *list = arena_array(a, attempt, 4 + 2 * cfg->n_random);
    uint32_t k = 0;

    list[k++] =
        (attempt){"in reverse order", {.order = EXEC_REVERSE, .n_shaves = 1}};
    for (uint32_t i = 0; i < cfg->n_random; i++)
        list[k++] = (attempt){
            arena_printf(a, "in random order %llu",
                         (unsigned long long)(cfg->seed + i)),
            {.order = EXEC_RANDOM, .seed = cfg->seed + i, .n_shaves = 1}};
    list[k++] = (attempt){"with transfers made as late as the waits for them",
                          {.late = true, .n_shaves = 1}};
    list[k++] = (attempt){"with the SHAVEs' groups in turn",
                          {.turns = EXEC_IN_TURN, .late = true}};
    for (uint32_t i = 0; i < cfg->n_random; i++)
        list[k++] = (attempt){
            arena_printf(a, "with the SHAVEs' groups in random turns %llu",
                         (unsigned long long)(cfg->seed + i)),
            {.turns = EXEC_IN_RANDOM_TURN,
             .seed = cfg->seed + i,
             .late = true}};
    *n = k;
    return list;
}

static vpu_status try_launch(orders *o, const attempt *list, uint32_t n,
                             layer_check_shown *out, bool *found)
{
    const backend_order plain = {.n_shaves = 1};
    uint32_t groups[3];
    vpu_status st;

    o->n_groups = layer_check_groups(&o->g->launches[o->launch], groups);
    keep(o, o->before);
    st = run_in_order(o, &plain, o->err);
    if (st)
        return st;
    keep(o, o->plain);
    for (uint32_t i = 0; i < n && !*found && !st; i++) {
        put_back(o, o->before);
        st = run_in_order(o, &list[i].how, o->err);
        if (!st && differs(o) < o->g->n_buffers) {
            describe(o, &list[i], out);
            *found = true;
        }
    }
    put_back(o, o->plain);
    return st;
}

vpu_status layer_check_orders(const layer_check_config *cfg,
                              const layer_check_orders_config *how,
                              const graph *g, arena *a,
                              layer_check_orders_result *out, vpu_error *err)
{
    const backend_check check = {.enabled = cfg->enabled, .orders = true};
    backend_config run = cfg->run;
    orders o = {.g = g, .a = arena_create(0), .err = err};
    attempt *list = list_attempts(how, o.a, &out->n_orders);
    vpu_status st;

    out->n = 0;
    out->findings = arena_array(a, layer_check_shown, g->n_launches + 1);
    run.check = &check;
    run.trace = NULL;
    run.print = NULL;
    o.before = arena_array(o.a, uint8_t *, g->n_buffers + 1);
    o.plain = arena_array(o.a, uint8_t *, g->n_buffers + 1);
    for (uint32_t i = 0; i < g->n_buffers; i++) {
        o.before[i] = arena_push(o.a, g->buffers[i].bytes, 1, 64);
        o.plain[i] = arena_push(o.a, g->buffers[i].bytes, 1, 64);
    }
    st = backend_open(backend_offering(BACKEND_ORDER | BACKEND_INSPECT), &run,
                      g, &o.b, err);
    if (!st)
        st = cfg->fill ? cfg->fill(cfg->fill_user, &o.b, err) : VPU_OK;
    for (o.launch = 0; o.launch < g->n_launches && !st; o.launch++) {
        layer_check_shown *x = &out->findings[out->n];
        bool found = false;

        st = try_launch(&o, list, out->n_orders, x, &found);
        if (found) {
            x->text = arena_strdup(a, x->text);
            out->n++;
        }
    }
    backend_close(&o.b);
    arena_destroy(o.a);
    return st;
}
