/* Regions that a network proposes: anchors on a grid, moved, scaled and sorted
 * by their scores; Proposal and the stages of Detectron. */
#include "runtime/native/boxes.h"
#include "runtime/native/native_priv.h"

enum { MOST = 1 << 16, MAX_SHAPES = 1024 };

/* The best ones of n boxes, put out as rows. */
typedef struct {
    native_box *boxes;
    native_scored *found;
    uint32_t n;
} candidates;

static candidates room_for(const native_job *j, uint64_t n)
{
    return (candidates){arena_array(j->arena, native_box, n),
                        arena_array(j->arena, native_scored, n), 0};
}

static void add(candidates *c, native_box b, float score)
{
    c->boxes[c->n] = b;
    c->found[c->n] = (native_scored){score, c->n};
    c->n++;
}

static void keep_best(const native_job *j, candidates *c, uint32_t before,
                      uint32_t after, float overlap, float offset)
{
    native_sort_scored(c->found, c->n);
    c->n = c->n < before ? c->n : before;
    c->n = native_suppress(j, c->boxes, c->found, c->n, after, overlap, offset);
}

/* --- Proposal ------------------------------------------------------------ */

enum { SCORES, ROIS, KEPT, MOVES, IMAGE };

typedef struct {
    uint32_t stride, base, least, before, after;
    float overlap, least_score, size_scale, move_scale, offset;
    bool clips_first, clips_before, clips_after, normalizes, shifts, rounds,
        swaps;
    uint32_t n_scales, n_ratios, rows;
    float *scales, *ratios;
    native_box *anchors;
} proposal;

static float *take_vector(native_maker *m, const char *name, uint32_t *n)
{
    float *v;

    *n = native_u32(m, name, 1, MAX_SHAPES);
    v = arena_array(m->arena, float, *n + 1);
    for (uint32_t i = 0; i < *n; i++) {
        v[i] = native_f32(m, name);
        if (!m->st && v[i] <= 0)
            native_bad(m, "%s is %g, expected more than 0", name, (double)v[i]);
    }
    return v;
}

static uint32_t limit(int32_t v)
{
    return v < 0 ? UINT32_MAX : (uint32_t)v;
}

static void take_params(native_maker *m, proposal *s)
{
    s->stride = native_u32(m, "feat_stride", 1, MOST);
    s->base = native_u32(m, "base_size", 1, MOST);
    s->least = native_u32(m, "min_size", 0, MOST);
    s->before = limit(native_i32(m, "pre_topn", INT32_MIN, INT32_MAX));
    s->after = limit(native_i32(m, "post_topn", INT32_MIN, INT32_MAX));
    s->overlap = native_f32(m, "nms");
    s->least_score = native_f32(m, "pre_nms_thresh");
    s->size_scale = native_f32(m, "box_size_scale");
    s->move_scale = native_f32(m, "box_coord_scale");
    s->offset = native_f32(m, "coord_offset");
    s->clips_first = native_flag(m, "initial_clip");
    s->clips_before = native_flag(m, "clip_before");
    s->clips_after = native_flag(m, "clip_after");
    s->normalizes = native_flag(m, "normalize");
    s->shifts = native_flag(m, "shift_anchors");
    s->rounds = native_flag(m, "round_ratios");
    s->swaps = native_flag(m, "swap_xy");
    s->scales = take_vector(m, "a scale", &s->n_scales);
    s->ratios = take_vector(m, "a ratio", &s->n_ratios);
}

static native_box anchor_of(const proposal *s, float ratio, float scale)
{
    float area = (float)s->base * (float)s->base;
    float middle = 0.5f * ((float)s->base - s->offset);
    float w = sqrtf(area / ratio), h;

    w = s->rounds ? roundf(w) : w;
    h = s->rounds ? roundf(w * ratio) : w * ratio;
    w = 0.5f * (w * scale - s->offset);
    h = 0.5f * (h * scale - s->offset);
    if (s->shifts)
        middle -= (float)s->base * 0.5f;
    return (native_box){middle - w, middle - h, middle + w, middle + h};
}

void native_make_proposal(native_maker *m)
{
    proposal *s = arena_new(m->arena, proposal);
    const native_tensor *scores = native_at(m, SCORES);
    uint64_t n;

    m->op->state = s;
    native_need_halves(m);
    take_params(m, s);
    native_need_planes(m, SCORES);
    native_need_planes(m, MOVES);
    if (m->st)
        return;
    n = (uint64_t)s->n_ratios * s->n_scales;
    native_need_size(m, SCORES, NATIVE_C, 2 * n);
    native_need_size(m, SCORES, NATIVE_N, 1);
    native_need_size(m, SCORES, NATIVE_D, 1);
    native_need_size(m, MOVES, NATIVE_C, 4 * n);
    native_need_size(m, MOVES, NATIVE_W, native_size(scores, NATIVE_W));
    native_need_size(m, MOVES, NATIVE_H, native_size(scores, NATIVE_H));
    native_need_elements(m, MOVES, 2 * scores->n);
    if (native_at(m, IMAGE)->n != 4)
        native_need_elements(m, IMAGE, 3);
    s->rows = (uint32_t)(native_at(m, ROIS)->n / 5);
    native_need_elements(m, ROIS, (uint64_t)s->rows * 5);
    if (native_at(m, KEPT)->present)
        native_need_elements(m, KEPT, s->rows);
    s->anchors = arena_array(m->arena, native_box, n);
    for (uint32_t r = 0; r < s->n_ratios; r++)
        for (uint32_t c = 0; c < s->n_scales; c++)
            s->anchors[r * s->n_scales + c] =
                anchor_of(s, s->ratios[r], s->scales[c]);
}

typedef struct {
    const proposal *s;
    const float *scores, *moves;
    float width, height, least_w, least_h;
    uint32_t n_anchors, w, h;
} grid;

/* A cell's anchor, as it is proposed. */
static native_box propose(const grid *g, uint32_t anchor, uint32_t y,
                          uint32_t x)
{
    const proposal *s = g->s;
    uint64_t area = (uint64_t)g->w * g->h;
    const float *at = g->moves + 4 * anchor * area + (uint64_t)y * g->w + x;
    float dx = (float)(s->swaps ? y : x) * (float)s->stride;
    float dy = (float)(s->swaps ? x : y) * (float)s->stride;
    native_box b = s->anchors[anchor];
    float moves[4] = {at[0] / s->move_scale, at[area] / s->move_scale,
                      at[2 * area] / s->size_scale,
                      at[3 * area] / s->size_scale};

    b = (native_box){b.x0 + dx, b.y0 + dy, b.x1 + dx, b.y1 + dy};
    if (s->clips_first)
        b = native_clip(b, g->width, g->height);
    b = native_refine(b, moves, s->offset);
    return s->clips_before
               ? native_clip(b, g->width - s->offset, g->height - s->offset)
               : b;
}

static void propose_all(const grid *g, candidates *c)
{
    const proposal *s = g->s;
    uint64_t area = (uint64_t)g->w * g->h;

    for (uint32_t y = 0; y < g->h; y++)
        for (uint32_t x = 0; x < g->w; x++)
            for (uint32_t a = 0; a < g->n_anchors; a++) {
                native_box b = propose(g, a, y, x);
                float score = g->scores[(g->n_anchors + a) * area +
                                        (uint64_t)y * g->w + x];

                if (b.x1 - b.x0 + s->offset < g->least_w ||
                    b.y1 - b.y0 + s->offset < g->least_h)
                    score = 0;
                add(c, b, score);
            }
}

/* Those below the least score go [?]. */
static void drop_low(candidates *c, float least)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->found[i].score >= least)
            c->found[n++] = c->found[i];
    c->n = n;
}

void native_run_proposal(const native_job *j)
{
    const proposal *s = j->op->state;
    const native_tensor *t = native_of(j, SCORES);
    const float *image = native_load(j, IMAGE);
    float *out = native_room(j, native_of(j, ROIS)->n);
    float *kept = native_room(j, s->rows);
    grid g = {s,
              native_load_planes(j, SCORES),
              native_load_planes(j, MOVES),
              image[1],
              image[0],
              (float)s->least * image[native_of(j, IMAGE)->n - 1],
              (float)s->least * image[2],
              s->n_ratios * s->n_scales,
              native_size(t, NATIVE_W),
              native_size(t, NATIVE_H)};
    candidates c = room_for(j, t->n / 2);

    propose_all(&g, &c);
    drop_low(&c, s->least_score);
    keep_best(j, &c, s->before, s->after < s->rows ? s->after : s->rows,
              s->overlap, s->offset);
    for (uint32_t i = 0; i < c.n; i++) {
        native_box b = c.boxes[c.found[i].index];
        float by_x = s->normalizes ? g.width : 1;
        float by_y = s->normalizes ? g.height : 1;

        if (s->clips_after)
            b = native_clip(b, g.width, g.height);
        out[5 * i + 1] = b.x0 / by_x;
        out[5 * i + 2] = b.y0 / by_y;
        out[5 * i + 3] = b.x1 / by_x;
        out[5 * i + 4] = b.y1 / by_y;
        kept[i] = c.found[i].score;
    }
    if (c.n < s->rows)
        out[5 * c.n] = -1;
    native_store(j, ROIS, out);
    if (native_of(j, KEPT)->present)
        native_store(j, KEPT, kept);
}

/* --- Detectron: rows of boxes -------------------------------------------- */

static native_box row_of(const float *v)
{
    return (native_box){v[0], v[1], v[2], v[3]};
}

static void put_box(float *out, native_box b)
{
    out[0] = b.x0;
    out[1] = b.y0;
    out[2] = b.x1;
    out[3] = b.y1;
}

/* Moves of a box whose corners count as elements, so that the last is one less;
 * sizes grow by a bound. */
static native_box refine(native_box b, const float *at, uint64_t step,
                         const float *by, float most)
{
    float d[4] = {at[0] / by[0], at[step] / by[1], at[2 * step] / by[2],
                  at[3 * step] / by[3]};

    d[2] = d[2] < most ? d[2] : most;
    d[3] = d[3] < most ? d[3] : most;
    b = native_refine(b, d, 1);
    b.x1 -= 1;
    b.y1 -= 1;
    return b;
}

/* --- ExpGenerateProposals ------------------------------------------------ */

typedef struct {
    float least, overlap;
    uint32_t before, after, rows;
} generate;

void native_make_exp_proposals(native_maker *m)
{
    generate *s = arena_new(m->arena, generate);
    native_shape scores;
    uint64_t n;

    m->op->state = s;
    native_need_halves(m);
    s->least = native_f32(m, "min_size");
    s->overlap = native_f32(m, "nms");
    s->before = limit(native_i32(m, "pre", INT32_MIN, INT32_MAX));
    s->after = limit(native_i32(m, "post", INT32_MIN, INT32_MAX));
    native_need_planes(m, 2);
    native_need_planes(m, 3);
    if (m->st)
        return;
    scores = native_shape_of(native_at(m, 3));
    n = native_at(m, 3)->n;
    native_need_elements(m, 0, 3);
    native_need_elements(m, 1, 4 * n);
    native_need_elements(m, 2, 4 * n);
    native_need_size(m, 2, NATIVE_W, scores.w);
    native_need_size(m, 2, NATIVE_H, scores.h);
    native_need_size(m, 3, NATIVE_N, 1);
    native_need_size(m, 2, NATIVE_N, 1);
    native_need_size(m, 3, NATIVE_D, 1);
    s->rows = (uint32_t)(native_at(m, 4)->n / 4);
    native_need_elements(m, 4, (uint64_t)s->rows * 4);
    native_need_elements(m, 5, s->rows);
}

void native_run_exp_proposals(const native_job *j)
{
    static const float one[] = {1, 1, 1, 1};
    const generate *s = j->op->state;
    native_shape of = native_shape_of(native_of(j, 3));
    uint64_t area = (uint64_t)of.w * of.h;
    const float *image = native_load(j, 0), *anchors = native_load(j, 1);
    const float *moves = native_load_planes(j, 2);
    const float *scores = native_load_planes(j, 3);
    float *rois = native_room(j, (uint64_t)s->rows * 4);
    float *kept = native_room(j, s->rows);
    const float most = (float)log(1000.0 / 16);
    candidates c = room_for(j, native_of(j, 3)->n);

    for (uint64_t k = 0; k < area * of.c; k++) {
        uint64_t a = k % of.c, at = k / of.c;
        native_box b = row_of(anchors + k * 4);
        float score = scores[a * area + at];

        b = refine(b, moves + 4 * a * area + at, area, one, most);
        b = native_clip(b, image[1] - 1, image[0] - 1);
        if (b.x1 - b.x0 + 1 < s->least || b.y1 - b.y0 + 1 < s->least)
            score = 0;
        add(&c, b, score);
    }
    keep_best(j, &c, s->before, s->after < s->rows ? s->after : s->rows,
              s->overlap, 1);
    for (uint32_t i = 0; i < c.n; i++) {
        put_box(rois + 4 * i, c.boxes[c.found[i].index]);
        kept[i] = c.found[i].score;
    }
    native_store(j, 4, rois);
    native_store(j, 5, kept);
}

/* --- ExpDetectionOutput -------------------------------------------------- */

typedef struct {
    float by[4], most, overlap, least;
    uint32_t most_rows, classes, of_class, rows, rois;
    bool agnostic;
} output;

void native_make_exp_detection(native_maker *m)
{
    output *s = arena_new(m->arena, output);
    uint64_t pairs;

    m->op->state = s;
    for (uint32_t i = 0; i < 7; i++)
        native_need_type(m, i, NATIVE_TYPE(i == 5 ? BLOB_S32 : BLOB_F16));
    for (uint32_t i = 0; i < 4; i++)
        s->by[i] = native_f32(m, "a weight");
    s->most = native_f32(m, "max_delta");
    s->overlap = native_f32(m, "nms");
    s->least = native_f32(m, "score");
    s->most_rows = limit(native_i32(m, "max_det", INT32_MIN, INT32_MAX));
    s->classes = (uint32_t)native_i32(m, "classes", 1, MOST);
    s->of_class = limit(native_i32(m, "post_nms", INT32_MIN, INT32_MAX));
    s->agnostic = native_i32(m, "agnostic", 0, 1);
    if (s->agnostic)
        native_refuse(m, "boxes that all classes share");
    if (m->st)
        return;
    s->rois = (uint32_t)(native_at(m, 0)->n / 4);
    pairs = (uint64_t)s->rois * s->classes;
    native_need_elements(m, 0, (uint64_t)s->rois * 4);
    native_need_elements(m, 1, pairs * 4);
    native_need_elements(m, 2, pairs);
    native_need_elements(m, 3, 3);
    s->rows = (uint32_t)(native_at(m, 4)->n / 4);
    native_need_elements(m, 4, (uint64_t)s->rows * 4);
    native_need_elements(m, 5, s->rows);
    native_need_elements(m, 6, s->rows);
}

typedef struct {
    const float *rois, *moves, *scores, *image;
} heads;

/* Candidates of a class, behind those of others; class 0 is the background. */
static uint32_t find_class(const native_job *j, const output *s,
                           const heads *in, uint32_t c, candidates *of)
{
    native_scored *first = of->found;

    for (uint32_t r = 0; r < s->rois; r++) {
        uint64_t k = (uint64_t)r * s->classes + c;
        native_box b = row_of(in->rois + 4 * (uint64_t)r);

        if (!(b.x1 > b.x0 && b.y1 > b.y0) || !(in->scores[k] > s->least))
            continue;
        b = refine(b, in->moves + 4 * k, 1, s->by, s->most);
        b = native_clip(b, in->image[1] - 1, in->image[0] - 1);
        of->boxes[k] = b;
        first[of->n++] = (native_scored){in->scores[k], (uint32_t)k};
    }
    native_sort_scored(first, of->n);
    return native_suppress(j, of->boxes, first, of->n, s->of_class, s->overlap,
                           1);
}

void native_run_exp_detection(const native_job *j)
{
    const output *s = j->op->state;
    heads in = {native_load(j, 0), native_load(j, 1), native_load(j, 2),
                native_load(j, 3)};
    candidates all = room_for(j, (uint64_t)s->rois * s->classes);
    float *boxes = native_room(j, (uint64_t)s->rows * 4);
    float *scores = native_room(j, s->rows);
    int32_t *classes = (int32_t *)(void *)native_room(j, s->rows);
    uint32_t n = 0;

    for (uint32_t c = 1; c < s->classes; c++) {
        candidates of = {all.boxes, all.found + n, 0};

        n += find_class(j, s, &in, c, &of);
    }
    native_sort_scored(all.found, n);
    n = n < s->most_rows ? n : s->most_rows;
    n = n < s->rows ? n : s->rows;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = all.found[i].index;

        put_box(boxes + 4 * i, all.boxes[k]);
        classes[i] = (int32_t)(k % s->classes);
        scores[i] = all.found[i].score;
    }
    native_store(j, 4, boxes);
    native_store_int(j, 5, classes);
    native_store(j, 6, scores);
}

/* --- ExpTopKROIs --------------------------------------------------------- */

void native_make_exp_topk(native_maker *m)
{
    uint32_t *most = arena_new(m->arena, uint32_t);

    m->op->state = most;
    native_need_halves(m);
    *most = limit(native_i32(m, "max_rois", INT32_MIN, INT32_MAX));
    if (m->st)
        return;
    native_need_elements(m, 0, 4 * native_at(m, 1)->n);
    native_need_elements(m, 2, native_at(m, 2)->n / 4 * 4);
}

void native_run_exp_topk(const native_job *j)
{
    uint32_t most = *(const uint32_t *)j->op->state;
    uint32_t n = (uint32_t)native_of(j, 1)->n;
    uint64_t rows = native_of(j, 2)->n / 4;
    const float *rois = native_load(j, 0), *scores = native_load(j, 1);
    native_scored *found = arena_array(j->arena, native_scored, n);
    float *out = native_room(j, native_of(j, 2)->n);

    for (uint32_t i = 0; i < n; i++)
        found[i] = (native_scored){scores[i], i};
    native_sort_scored(found, n);
    for (uint32_t i = 0; i < n && i < most && i < rows; i++)
        put_box(out + 4 * (uint64_t)i,
                row_of(rois + 4 * (uint64_t)found[i].index));
    native_store(j, 2, out);
}

/* --- ExpPriorGridGenerator ----------------------------------------------- */

typedef struct {
    uint32_t w, h, priors;
    float step_x, step_y; /* 0: by the image's size */
} prior_grid;

void native_make_exp_grid(native_maker *m)
{
    prior_grid *s = arena_new(m->arena, prior_grid);
    const native_tensor *map = native_at(m, 1);

    m->op->state = s;
    native_need_halves(m);
    native_i32(m, "flatten", 0, 1); /* seen in the output's dims */
    s->w = (uint32_t)native_i32(m, "the grid's width", 0, MOST);
    s->h = (uint32_t)native_i32(m, "the grid's height", 0, MOST);
    s->step_x = native_f32(m, "the stride across");
    s->step_y = native_f32(m, "the stride down");
    native_need_planes(m, 1);
    native_need_planes(m, 2);
    if (m->st)
        return;
    s->w = s->w ? s->w : native_size(map, NATIVE_W);
    s->h = s->h ? s->h : native_size(map, NATIVE_H);
    s->priors = (uint32_t)(native_at(m, 0)->n / 4);
    native_need_elements(m, 0, (uint64_t)s->priors * 4);
    native_need_elements(m, 3, (uint64_t)s->w * s->h * s->priors * 4);
}

void native_run_exp_grid(const native_job *j)
{
    const prior_grid *s = j->op->state;
    const native_tensor *image = native_of(j, 2);
    const float *priors = native_load(j, 0);
    float *out = native_room(j, native_of(j, 3)->n);
    float step_x = s->step_x != 0
                       ? s->step_x
                       : (float)native_size(image, NATIVE_W) / (float)s->w;
    float step_y = s->step_y != 0
                       ? s->step_y
                       : (float)native_size(image, NATIVE_H) / (float)s->h;

    for (uint64_t k = 0; k < native_of(j, 3)->n / 4; k++) {
        uint64_t cell = k / s->priors;
        float x = ((float)(cell % s->w) + 0.5f) * step_x;
        float y = ((float)(cell / s->w) + 0.5f) * step_y;
        native_box b = row_of(priors + 4 * (k % s->priors));

        put_box(out + 4 * k,
                (native_box){b.x0 + x, b.y0 + y, b.x1 + x, b.y1 + y});
    }
    native_store(j, 3, out);
}
