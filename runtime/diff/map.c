/* Dims to axes by trying all assignments: at most 4^5. */
#include "runtime/diff/map.h"

#include <stdio.h>
#include <string.h>

/* Dims from the innermost of memory outwards. */
static void memory_order(const tensor_desc *d, uint32_t *order)
{
    uint32_t channel = d->rank > 3 ? 1 : 0, k = 0;
    bool minor = d->layout == TENSOR_CHANNEL_MINOR && d->rank >= 3;

    if (minor)
        order[k++] = channel;
    for (uint32_t i = d->rank; i-- > 0;)
        if (!minor || i != channel)
            order[k++] = i;
}

static bool fits(const diff_map *m, const int8_t *axis)
{
    uint64_t product[3] = {1, 1, 1};

    for (uint32_t i = 0; i < m->desc.rank; i++)
        if (axis[i] >= 0)
            product[axis[i]] *= m->desc.dims[i];
    for (int d = 0; d < 3; d++)
        if (product[d] != m->l->global[d])
            return false;
    return true;
}

/* Small is likely: few dims inside, axes in the order of memory. */
static int unlikely(const diff_map *m, const uint32_t *order,
                    const int8_t *axis)
{
    int cost = 0, last = 0;

    for (uint32_t k = 0; k < m->desc.rank; k++) {
        int8_t x = axis[order[k]];

        if (m->desc.dims[order[k]] == 1)
            continue;
        if (x < 0) {
            cost += 4;
            continue;
        }
        if (x < last)
            cost++;
        last = x;
    }
    return cost;
}

static void tell(diff_map *m, const uint32_t *order, int others)
{
    static const char *const names[] = {"x", "y", "z"};
    size_t n = 0, size = sizeof m->rule;
    bool inside = false;

    for (int d = 0; d < 3; d++) {
        n += (size_t)snprintf(m->rule + n, size - n, "%s%s =", d ? ", " : "",
                              names[d]);
        for (uint32_t k = m->desc.rank; k-- > 0;)
            if (m->axis[order[k]] == d)
                n += (size_t)snprintf(m->rule + n, size - n, " dim %u",
                                      order[k]);
        if (m->l->global[d] == 1)
            n += (size_t)snprintf(m->rule + n, size - n, " 0");
    }
    for (uint32_t i = 0; i < m->desc.rank; i++)
        if (m->axis[i] < 0 && m->desc.dims[i] > 1) {
            n += (size_t)snprintf(m->rule + n, size - n, "%s dim %u",
                                  inside ? "," : "; inside an item:", i);
            inside = true;
        }
    if (others)
        snprintf(m->rule + n, size - n, " (%d other ways fit as well)", others);
}

static void infer(diff_map *m)
{
    int8_t axis[TENSOR_MAX_RANK];
    uint32_t order[TENSOR_MAX_RANK], n_ways = 1;
    int best = -1, n_fit = 0;

    memory_order(&m->desc, order);
    for (uint32_t i = 0; i < m->desc.rank; i++)
        n_ways *= 4;
    for (uint32_t way = 0; way < n_ways; way++) {
        bool once = true; /* dims of 1 are inside: no two ways for them */
        int cost;

        for (uint32_t i = 0; i < m->desc.rank; i++) {
            axis[i] = (int8_t)((way >> 2 * i & 3) - 1);
            once &= m->desc.dims[i] > 1 || axis[i] < 0;
        }
        if (!once || !fits(m, axis))
            continue;
        n_fit++;
        cost = unlikely(m, order, axis);
        if (best < 0 || cost < best) {
            best = cost;
            memcpy(m->axis, axis, sizeof axis);
        }
    }
    m->known = best >= 0;
    if (m->known)
        tell(m, order, n_fit - 1);
    else
        snprintf(m->rule, sizeof m->rule,
                 "not known: no product of the tensor's dims is the global "
                 "size %ux%ux%u",
                 m->l->global[0], m->l->global[1], m->l->global[2]);
}

void diff_map_init(const graph *g, uint32_t launch, uint32_t buffer,
                   const tensor_desc *desc, const diff_provenance *told,
                   diff_map *out)
{
    memset(out, 0, sizeof *out);
    out->launch = launch;
    out->buffer = buffer;
    out->desc = *desc;
    out->told = told;
    if (launch >= g->n_launches) {
        snprintf(out->rule, sizeof out->rule, "not known: no launch");
        return;
    }
    out->l = &g->launches[launch];
    if (told) {
        out->known = true;
        snprintf(out->rule, sizeof out->rule, "as the device says");
    } else if (g->buffers[buffer].untyped) {
        snprintf(out->rule, sizeof out->rule, "not known: a buffer of bytes");
    } else {
        infer(out);
    }
}

bool diff_map_who(const diff_map *m, uint64_t element, diff_writer *out)
{
    uint32_t at[TENSOR_MAX_RANK], order[TENSOR_MAX_RANK];

    if (!m->known)
        return false;
    if (m->told)
        return m->told->who(m->told->user, m->launch, m->buffer, element, out);
    memset(out, 0, sizeof *out);
    memory_order(&m->desc, order);
    diff_unravel(&m->desc, element, at);
    for (uint32_t k = m->desc.rank; k-- > 0;) {
        uint32_t i = order[k];

        if (m->axis[i] >= 0)
            out->global[m->axis[i]] =
                out->global[m->axis[i]] * m->desc.dims[i] + at[i];
    }
    for (int d = 0; d < 3; d++) {
        uint32_t local = m->l->local[d] ? m->l->local[d] : 1;

        out->group[d] = out->global[d] / local;
        out->local[d] = out->global[d] % local;
    }
    return true;
}

/* --- counting
 * ----------------------------------------------------------------------------
 */

static void count_group(diff_places *p, uint64_t element)
{
    diff_groups *g = &p->groups;
    diff_writer w;
    uint64_t linear;

    if (!g->n_cells || !diff_map_who(p->map, element, &w))
        return;
    linear =
        w.group[0] + (uint64_t)g->groups[0] *
                         (w.group[1] + (uint64_t)g->groups[1] * w.group[2]);
    if (linear / g->per_cell < g->n_cells)
        g->failed[linear / g->per_cell]++;
}

static void count_place(diff_places *p, uint64_t element)
{
    diff_heat *h = &p->heat;
    uint64_t x = element % h->columns, y = element / h->columns;

    if (p->desc.layout == TENSOR_CHANNEL_MINOR && p->desc.rank >= 3) {
        uint32_t at[TENSOR_MAX_RANK];

        diff_unravel(&p->desc, element, at);
        x = at[p->desc.rank - 1];
        y = 0;
        for (uint32_t i = 0; i + 1 < p->desc.rank; i++)
            y = y * p->desc.dims[i] + at[i];
    }
    h->failed[y / h->cell_h * h->width + x / h->cell_w]++;
}

static void count(void *user, uint64_t first, uint32_t n,
                  const uint8_t *different)
{
    diff_places *p = user;

    for (uint32_t i = 0; i < n; i++)
        if (different[i]) {
            count_group(p, first + i);
            count_place(p, first + i);
        }
}

static void init_groups(const diff_map *m, arena *a, diff_groups *g)
{
    uint64_t n = 1;

    if (!m->known)
        return;
    for (int d = 0; d < 3; d++) {
        g->groups[d] = m->l->local[d] ? m->l->global[d] / m->l->local[d] : 1;
        n *= g->groups[d] ? g->groups[d] : 1;
    }
    g->per_cell = (n + DIFF_MAX_CELLS - 1) / DIFF_MAX_CELLS;
    g->n_cells = (uint32_t)((n + g->per_cell - 1) / g->per_cell);
    g->failed = arena_array(a, uint64_t, g->n_cells);
}

static void init_heat(const tensor_desc *d, arena *a, diff_heat *h)
{
    const uint64_t side = 512;

    h->columns = d->rank ? d->dims[d->rank - 1] : 1;
    h->rows = tensor_elements(d) / h->columns;
    h->cell_w = (uint32_t)((h->columns + side - 1) / side);
    h->cell_h = (uint32_t)((h->rows + side - 1) / side);
    h->width = (uint32_t)((h->columns + h->cell_w - 1) / h->cell_w);
    h->height = (uint32_t)((h->rows + h->cell_h - 1) / h->cell_h);
    h->failed = arena_array(a, uint32_t, (size_t)h->width * h->height);
}

void diff_places_init(const diff_map *m, const tensor_desc *desc, arena *a,
                      diff_places *out, diff_watch *watch)
{
    memset(out, 0, sizeof *out);
    out->map = m;
    out->desc = *desc;
    init_groups(m, a, &out->groups);
    init_heat(desc, a, &out->heat);
    *watch = (diff_watch){count, out};
}
