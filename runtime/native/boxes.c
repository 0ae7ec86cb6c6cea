#include "runtime/native/boxes.h"

#include <stdlib.h>

#include "runtime/native/native_priv.h"

static int better(const void *p, const void *q)
{
    const native_scored *a = p, *b = q;
    bool none_a = a->score != a->score, none_b = b->score != b->score;

    if (none_a != none_b)
        return none_a - none_b;
    if (!none_a && a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

void native_sort_scored(native_scored *v, uint32_t n)
{
    qsort(v, n, sizeof *v, better);
}

static float area(const native_box *b, float offset)
{
    float w = b->x1 - b->x0 + offset, h = b->y1 - b->y0 + offset;

    return w > 0 && h > 0 ? w * h : 0;
}

static float overlap(const native_box *a, const native_box *b, float offset)
{
    native_box both = {
        a->x0 > b->x0 ? a->x0 : b->x0, a->y0 > b->y0 ? a->y0 : b->y0,
        a->x1 < b->x1 ? a->x1 : b->x1, a->y1 < b->y1 ? a->y1 : b->y1};
    float shared = area(&both, offset);

    return shared > 0 ? shared / (area(a, offset) + area(b, offset) - shared)
                      : 0;
}

uint32_t native_suppress(const native_job *j, const native_box *boxes,
                         native_scored *v, uint32_t n, uint32_t most,
                         float threshold, float offset)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n && kept < most && !native_stopped(j); i++) {
        bool stays = true;

        for (uint32_t k = 0; k < kept && stays; k++)
            stays = !(overlap(&boxes[v[i].index], &boxes[v[k].index], offset) >
                      threshold);
        if (stays)
            v[kept++] = v[i];
    }
    return kept;
}

native_box native_clip(native_box b, float width, float height)
{
    return (native_box){
        native_clamp(b.x0, 0, width), native_clamp(b.y0, 0, height),
        native_clamp(b.x1, 0, width), native_clamp(b.y1, 0, height)};
}

native_box native_refine(native_box b, const float *d, float offset)
{
    float w = b.x1 - b.x0 + offset, h = b.y1 - b.y0 + offset;
    float x = d[0] * w + (b.x0 + 0.5f * w), y = d[1] * h + (b.y0 + 0.5f * h);

    w *= native_exp(d[2]);
    h *= native_exp(d[3]);
    return (native_box){x - 0.5f * w, y - 0.5f * h, x + 0.5f * w, y + 0.5f * h};
}
