/* DetectionOutput: boxes of an SSD network, from locations, scores and priors.
 */
#include <string.h>

#include "runtime/native/boxes.h"
#include "runtime/native/native_priv.h"

enum {
    CORNER = 1,
    CENTER_SIZE,
    CORNER_SIZE,
    LOCATIONS = 0,
    SCORES,
    PRIORS,
    ARM_SCORES,
    ARM_LOCATIONS,
    ROW = 7,
    MOST = 1 << 20 /* products of three stay below 64 bits */
};

typedef struct {
    uint32_t classes, priors, images, rows;
    uint32_t top_k, keep_top_k; /* UINT32_MAX: all */
    int32_t background;
    uint32_t code, out;
    bool shares, in_target, clips_before, clips_after, decreases, normalized;
    bool arms;
    float overlap, least, objectness, width, height;
} detection;

/* --- making -------------------------------------------------------------- */

static uint32_t limit(int32_t v)
{
    return v < 0 ? UINT32_MAX : (uint32_t)v;
}

static void take_params(native_maker *m, detection *s)
{
    s->classes = (uint32_t)native_i32(m, "num_classes", 1, MOST);
    s->shares = native_i32(m, "share_location", 0, 1);
    s->background = native_i32(m, "background_id", -1, MOST);
    s->overlap = native_f32(m, "nms_threshold");
    s->top_k = limit(native_i32(m, "top_k", INT32_MIN, INT32_MAX));
    s->code = (uint32_t)native_i32(m, "code_type", CORNER, CORNER_SIZE);
    s->keep_top_k = limit(native_i32(m, "keep_top_k", INT32_MIN, INT32_MAX));
    s->least = native_f32(m, "confidence_threshold");
    s->in_target = native_i32(m, "variance_in_target", 0, 1);
    s->priors = (uint32_t)native_i32(m, "num_priors", 1, MOST);
    s->clips_before = native_i32(m, "clip_before", 0, 1);
    s->clips_after = native_i32(m, "clip_after", 0, 1);
    s->decreases = native_i32(m, "decrease_label_id", 0, 1);
    s->width = (float)native_i32(m, "image_w", 0, MOST);
    s->height = (float)native_i32(m, "image_h", 0, MOST);
    s->normalized = native_i32(m, "normalized", 0, 1);
    s->images = (uint32_t)native_i32(m, "num", 1, MOST);
    s->objectness = native_f32(m, "objectness");
    s->arms = native_i32(m, "has_arm", 0, 1);
}

void native_make_detection(native_maker *m)
{
    detection *s = arena_new(m->arena, detection);
    uint64_t priors, boxes;

    m->op->state = s;
    native_need_halves(m);
    take_params(m, s);
    s->out = s->arms ? ARM_LOCATIONS + 1 : ARM_SCORES;
    if (!m->st && m->op->n_tensors != s->out + 2)
        native_bad(m, "%u buffers, expected %u", m->op->n_tensors, s->out + 2);
    if (m->st)
        return;
    priors = (uint64_t)s->priors * s->images;
    boxes = priors * (s->shares ? 1 : s->classes);
    native_need_elements(m, LOCATIONS, boxes * 4);
    native_need_elements(m, SCORES, priors * s->classes);
    native_need_elements(m, PRIORS,
                         (uint64_t)s->priors * (s->normalized ? 4 : 5) *
                             (s->in_target ? 1 : 2));
    if (s->arms) {
        native_need_elements(m, ARM_SCORES, priors * 2);
        native_need_elements(m, ARM_LOCATIONS, priors * 4);
    }
    s->rows = (uint32_t)(native_at(m, s->out)->n / ROW);
    native_need_elements(m, s->out, (uint64_t)s->rows * ROW);
}

/* --- boxes --------------------------------------------------------------- */

typedef struct {
    const detection *s;
    const float *locations, *scores, *priors, *arm_scores, *arm_locations;
} inputs;

static float halved(float v)
{
    uint16_t h;

    native_to_half(&v, &h, 1);
    native_from_half(&h, &v, 1);
    return v;
}

/* Variances stand behind all priors, four for each [I]. */
static void variances_of(const inputs *g, uint32_t p, float *v)
{
    const detection *s = g->s;
    const float *at = g->priors +
                      (uint64_t)s->priors * (s->normalized ? 4 : 5) +
                      (uint64_t)p * 4;

    for (uint32_t i = 0; i < 4; i++)
        v[i] = s->in_target ? 1 : at[i];
}

static native_box prior_of(const inputs *g, uint32_t p)
{
    const detection *s = g->s;
    const float *at = g->priors + (uint64_t)p * (s->normalized ? 4 : 5);

    if (s->normalized)
        return (native_box){at[0], at[1], at[2], at[3]};
    return (native_box){at[1] / s->width, at[2] / s->height, at[3] / s->width,
                        at[4] / s->height};
}

static native_box decode(const detection *s, native_box p, const float *l,
                         const float *v)
{
    float w = p.x1 - p.x0, h = p.y1 - p.y0;
    float moves[4] = {v[0] * l[0], v[1] * l[1], v[2] * l[2], v[3] * l[3]};

    switch (s->code) {
    case CENTER_SIZE:
        return native_refine(p, moves, 0);
    case CORNER:
        w = h = 1;
        break;
    }
    return (native_box){p.x0 + moves[0] * w, p.y0 + moves[1] * h,
                        p.x1 + moves[2] * w, p.y1 + moves[3] * h};
}

/* Box of prior p for class c of image n; of halves, as the device keeps them.
 */
static native_box box_of(const inputs *g, uint32_t n, uint32_t p, uint32_t c)
{
    const detection *s = g->s;
    uint64_t at = (uint64_t)n * s->priors + p, place = at;
    native_box b = prior_of(g, p);
    float v[4];

    variances_of(g, p, v);
    if (s->arms)
        b = decode(s, b, g->arm_locations + at * 4, v);
    if (!s->shares)
        place = place * s->classes + c;
    b = decode(s, b, g->locations + place * 4, v);
    if (s->clips_before)
        b = native_clip(b, 1, 1);
    return (native_box){halved(b.x0), halved(b.y0), halved(b.x1), halved(b.y1)};
}

static float score_of(const inputs *g, uint32_t n, uint32_t p, uint32_t c)
{
    const detection *s = g->s;
    uint64_t at = (uint64_t)n * s->priors + p;

    if (s->arms && g->arm_scores[at * 2 + 1] < s->objectness)
        return (int64_t)c == s->background ? 1 : 0;
    return g->scores[at * s->classes + c];
}

/* --- detections ---------------------------------------------------------- */

/* Those of a class: indices of boxes, the best ones first. */
typedef struct {
    native_scored *found;
    const native_box *boxes;
    uint32_t n;
} class_found;

static void find_class(const native_job *j, const inputs *g, uint32_t n,
                       uint32_t c, class_found *out)
{
    const detection *s = g->s;

    out->found = arena_array(j->arena, native_scored, s->priors);
    out->n = 0;
    for (uint32_t p = 0; p < s->priors; p++) {
        float score = score_of(g, n, p, c);

        if (score > s->least)
            out->found[out->n++] = (native_scored){score, p};
    }
    native_sort_scored(out->found, out->n);
    out->n = out->n < s->top_k ? out->n : s->top_k;
    out->n = native_suppress(j, out->boxes, out->found, out->n, UINT32_MAX,
                             s->overlap, 0);
}

static native_box *decode_all(const native_job *j, const inputs *g, uint32_t n,
                              uint32_t c)
{
    native_box *boxes = arena_array(j->arena, native_box, g->s->priors);

    for (uint32_t p = 0; p < g->s->priors; p++)
        boxes[p] = box_of(g, n, p, c);
    return boxes;
}

/* The best class of each prior but 0, the background; its score. */
static native_scored best_of(const inputs *g, uint32_t n, uint32_t p)
{
    native_scored best = {-1, 0};

    for (uint32_t c = 1; c < g->s->classes; c++) {
        float score = score_of(g, n, p, c);

        if ((int64_t)c != g->s->background && score > best.score)
            best = (native_scored){score, c};
    }
    return best;
}

/* Where labels are decreased a prior is of its best class alone, and top_k
 * counts for all classes together: as MXNet has it, where such networks are
 * from. [?] So does the vendor's CPU plug-in; of the device nothing is known.
 */
static void find_best(const native_job *j, const inputs *g, uint32_t n,
                      class_found *of_class)
{
    const detection *s = g->s;
    native_scored *all = arena_array(j->arena, native_scored, s->priors);
    uint32_t *classes = arena_array(j->arena, uint32_t, s->priors), count = 0;

    for (uint32_t p = 0; p < s->priors; p++) {
        native_scored best = best_of(g, n, p);

        classes[p] = best.index;
        if (best.index && best.score >= s->least)
            all[count++] = (native_scored){best.score, p};
    }
    native_sort_scored(all, count);
    count = count < s->top_k ? count : s->top_k;
    for (uint32_t i = 0; i < count; i++)
        of_class[classes[all[i].index]].n++;
    for (uint32_t c = 0; c < s->classes; c++) {
        of_class[c].found =
            arena_array(j->arena, native_scored, of_class[c].n + 1);
        of_class[c].n = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        class_found *to = &of_class[classes[all[i].index]];

        to->found[to->n++] = all[i];
    }
    for (uint32_t c = 0; c < s->classes; c++)
        of_class[c].n =
            native_suppress(j, of_class[c].boxes, of_class[c].found,
                            of_class[c].n, UINT32_MAX, s->overlap, 0);
}

/* The keep_top_k best of all classes stay. */
static void keep_best(const native_job *j, const detection *s,
                      class_found *of_class)
{
    uint32_t total = 0, k = 0;
    native_scored *all;

    for (uint32_t c = 0; c < s->classes; c++)
        total += of_class[c].n;
    if (total <= s->keep_top_k)
        return;
    all = arena_array(j->arena, native_scored, total);
    for (uint32_t c = 0; c < s->classes; c++)
        for (uint32_t i = 0; i < of_class[c].n; i++)
            all[k++] = (native_scored){of_class[c].found[i].score, c};
    native_sort_scored(all, total);
    for (uint32_t c = 0; c < s->classes; c++)
        of_class[c].n = 0;
    /* Of a class the best are first, so that their number is enough. */
    for (uint32_t i = 0; i < s->keep_top_k; i++)
        of_class[all[i].index].n++;
}

static void put_row(const detection *s, float *out, uint32_t n, uint32_t c,
                    float score, native_box b)
{
    float row[ROW] = {(float)n, (float)(s->decreases ? (int64_t)c - 1 : c),
                      score};

    if (s->clips_after)
        b = native_clip(b, 1, 1);
    row[3] = b.x0;
    row[4] = b.y0;
    row[5] = b.x1;
    row[6] = b.y1;
    memcpy(out, row, sizeof row);
}

static uint32_t find_image(const native_job *j, const inputs *g, uint32_t n,
                           float *out, uint32_t row)
{
    const detection *s = g->s;
    class_found *of_class = arena_array(j->arena, class_found, s->classes);
    const native_box *shared = s->shares ? decode_all(j, g, n, 0) : NULL;

    for (uint32_t c = 0; c < s->classes; c++) {
        if ((int64_t)c == s->background)
            continue;
        of_class[c].boxes = shared ? shared : decode_all(j, g, n, c);
        if (!s->decreases)
            find_class(j, g, n, c, &of_class[c]);
    }
    if (s->decreases)
        find_best(j, g, n, of_class);
    keep_best(j, s, of_class);
    for (uint32_t c = 0; c < s->classes; c++)
        for (uint32_t i = 0; i < of_class[c].n && row < s->rows; i++) {
            const native_scored *f = &of_class[c].found[i];

            put_row(s, out + (uint64_t)row++ * ROW, n, c, f->score,
                    of_class[c].boxes[f->index]);
        }
    return row;
}

void native_run_detection(const native_job *j)
{
    const detection *s = j->op->state;
    inputs g = {.s = s,
                .locations = native_load(j, LOCATIONS),
                .scores = native_load(j, SCORES),
                .priors = native_load(j, PRIORS)};
    float *out = native_room(j, native_of(j, s->out)->n);
    uint32_t rows = 0;

    if (s->arms) {
        g.arm_scores = native_load(j, ARM_SCORES);
        g.arm_locations = native_load(j, ARM_LOCATIONS);
    }
    for (uint32_t n = 0; n < s->images; n++) {
        arena_mark mark = arena_save(j->arena);

        rows = find_image(j, &g, n, out, rows);
        arena_restore(j->arena, mark);
    }
    if (rows < s->rows)
        out[(uint64_t)rows * ROW] = -1;
    native_store(j, s->out, out);
}
