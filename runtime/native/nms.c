/* StaticShapeNMS: which boxes stay, class by class. */
#include "runtime/native/boxes.h"
#include "runtime/native/native_priv.h"

enum { BOXES, SCORES, PER_CLASS, OVERLAP, LEAST, FOUND, DIMS };

typedef struct {
    bool by_center;
    uint32_t boxes, classes, images;
} nms;

void native_make_nms(native_maker *m)
{
    nms *s = arena_new(m->arena, nms);
    const native_tensor *scores = native_at(m, SCORES);

    m->op->state = s;
    native_need_type(m, BOXES, NATIVE_TYPE(BLOB_F16));
    native_need_type(m, SCORES, NATIVE_TYPE(BLOB_F16));
    native_need_type(m, FOUND, NATIVE_TYPE(BLOB_S32));
    native_need_type(m, DIMS, NATIVE_TYPE(BLOB_S32));
    for (uint32_t i = PER_CLASS; i <= LEAST; i++)
        if (native_at(m, i)->present) {
            native_need_type(m, i,
                             NATIVE_TYPE(i == PER_CLASS ? BLOB_S32 : BLOB_F16));
            native_need_elements(m, i, 1);
        }
    native_need_rank(m, SCORES, 3, 3);
    s->by_center = native_i32(m, "center_point_box", 0, 1);
    native_i32(m, "useTemp", 0, 1);
    if (m->st)
        return;
    s->boxes = scores->dims[0];
    s->classes = scores->dims[1];
    s->images = scores->dims[2];
    native_need_elements(m, BOXES, (uint64_t)s->boxes * s->images * 4);
    native_need_elements(m, FOUND, native_at(m, FOUND)->n / 3 * 3);
    native_need_elements(m, DIMS, 2);
}

/* Corners may be any two that face each other. */
static native_box box_of(const nms *s, const float *v)
{
    native_box b = {v[1], v[0], v[3], v[2]};

    if (s->by_center)
        b = (native_box){v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2,
                         v[1] + v[3] / 2};
    if (b.x0 > b.x1)
        b = (native_box){b.x1, b.y0, b.x0, b.y1};
    if (b.y0 > b.y1)
        b = (native_box){b.x0, b.y1, b.x1, b.y0};
    return b;
}

static float number(const native_job *j, uint32_t i)
{
    const float *v = native_load(j, i);

    return v ? *v : 0;
}

void native_run_nms(const native_job *j)
{
    const nms *s = j->op->state;
    uint64_t rows = native_of(j, FOUND)->n / 3;
    const float *in = native_load(j, BOXES), *scores = native_load(j, SCORES);
    const int32_t *most = native_load_int(j, PER_CLASS);
    float overlap = number(j, OVERLAP), least = number(j, LEAST);
    native_box *boxes = arena_array(j->arena, native_box, s->boxes);
    native_scored *found = arena_array(j->arena, native_scored, s->boxes);
    int32_t *out = (int32_t *)(void *)native_room(j, rows * 3);
    int32_t dims[2] = {0, 3}; /* in the IR's order: hosts read them so [B] */

    for (uint64_t k = 0;
         k < (uint64_t)s->images * s->classes && !native_stopped(j); k++) {
        uint64_t image = k / s->classes;
        uint32_t n = 0;

        for (uint32_t i = 0; i < s->boxes; i++) {
            boxes[i] = box_of(s, in + (image * s->boxes + i) * 4);
            if (scores[k * s->boxes + i] > least)
                found[n++] = (native_scored){scores[k * s->boxes + i], i};
        }
        native_sort_scored(found, n);
        n = native_suppress(j, boxes, found, n,
                            most && *most > 0 ? (uint32_t)*most : 0, overlap,
                            0);
        for (uint32_t i = 0; i < n && (uint64_t)dims[0] < rows; i++) {
            int32_t *row = out + 3 * dims[0]++;

            row[0] = (int32_t)image;
            row[1] = (int32_t)(k % s->classes);
            row[2] = (int32_t)found[i].index;
        }
    }
    native_store_int(j, FOUND, out);
    native_store_int(j, DIMS, dims);
}
