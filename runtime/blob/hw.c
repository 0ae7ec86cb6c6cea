/* Hardware operations, word by word. */
#include "runtime/blob/hw.h"

#include <string.h>

typedef struct {
    const uint32_t *words;
    uint32_t at, n;
    vpu_error *err;
    vpu_status st;
} words;

/* The next word; most: the largest value it may have. */
static uint32_t take(words *w, const char *field, uint32_t most)
{
    uint32_t v;

    if (w->st)
        return 0;
    if (w->at >= w->n) {
        w->st = err_set(w->err, VPU_ERR_PARSE,
                        "%s expected at word %u of params, which end there",
                        field, w->at);
        return 0;
    }
    v = w->words[w->at++];
    if (v > most)
        w->st = err_set(w->err, VPU_ERR_PARSE,
                        "%s is %u in word %u of params, expected at most %u",
                        field, v, w->at - 1, most);
    return w->st ? 0 : v;
}

static uint32_t any(words *w, const char *field)
{
    return take(w, field, UINT32_MAX);
}

static bool flag(words *w, const char *field)
{
    return take(w, field, 1) != 0;
}

static void take_places(words *w, hw_op *o)
{
    o->input = (int32_t)any(w, "index of the input");
    o->output = (int32_t)any(w, "index of the output");
    o->weights = (int32_t)any(w, "index of the coefficients");
    o->biases = (int32_t)any(w, "index of the biases");
    o->scales = (int32_t)any(w, "index of the scales");
}

static void take_fc(words *w, hw_op *o)
{
    o->fc.input_at = any(w, "fcInputOffset");
    o->fc.n_inputs = any(w, "fcInputNum");
    o->fc.output_at = any(w, "fcOutputOffset");
    o->fc.n_outputs = any(w, "fcOutputNum");
    o->fc.accumulate = take(w, "fcAccum", 1);
}

static void take_post(words *w, hw_op *o)
{
    uint32_t bits;

    o->relu = flag(w, "withReLU");
    if (o->relu) {
        o->t0 = (int32_t)any(w, "t0");
        o->a0 = (int32_t)any(w, "a0");
        o->a1 = (int32_t)any(w, "a1");
    }
    o->clamp = flag(w, "withClamp");
    if (o->clamp) {
        bits = any(w, "clampMax");
        memcpy(&o->clamp_max, &bits, sizeof bits);
    }
    o->reuse_data = any(w, "reuseData");
    o->reuse_weights = any(w, "reuseCoeff");
}

static void take_op(words *w, hw_op *o)
{
    *o = (hw_op){.kind = take(w, "opType", HW_POOL)};
    if (!w->st && !hw_kind_name(o->kind))
        w->st = err_set(w->err, VPU_ERR_PARSE,
                        "opType is %u in word %u of params, expected 0, 1, 2 "
                        "or 4",
                        o->kind, w->at - 1);
    if (o->kind == HW_POOL)
        o->pool_type = take(w, "poolType", HW_POOL_AVERAGE);
    o->mode = take(w, "opMode", HW_MODES - 1);
    o->pads = flag(w, "withPad");
    if (o->pads)
        o->pad_mode = take(w, "padMode", 15);
    take_places(w, o);
    if (o->kind == HW_FC) {
        take_fc(w, o);
    } else {
        o->channel = any(w, "outChanOffset");
        o->n_channels = any(w, "outNumChans");
        o->kernel_w = any(w, "kernelW");
        o->kernel_h = any(w, "kernelH");
        o->stride = any(w, "stride");
    }
    if (o->kind == HW_CONV_POOL) {
        o->pool_w = any(w, "poolW");
        o->pool_h = any(w, "poolH");
    }
    take_post(w, o);
}

/* The shortest operation, FC without ReLU and clamp, has 16 words. */
enum { LEAST_WORDS = 16 };

static words begin(const blob_stage *s, uint32_t *n, vpu_error *err)
{
    words w = {s->params, 0, s->n_params, err, VPU_OK};

    *n = take(&w, "number of operations", s->n_params / LEAST_WORDS);
    return w;
}

vpu_status hw_stage_read(const blob_stage *s, arena *a, const hw_op **out,
                         uint32_t *n, vpu_error *err)
{
    words w = begin(s, n, err);
    hw_op *list = arena_array(a, hw_op, *n + 1);

    for (uint32_t i = 0; i < *n && !w.st; i++)
        take_op(&w, &list[i]);
    if (!flag(&w, "injected") && !w.st && w.at != w.n)
        w.st = err_set(err, VPU_ERR_PARSE,
                       "%u words of params, expected %u for %u operations", w.n,
                       w.at, *n);
    *out = list;
    return w.st;
}

bool hw_stage_injects(const blob_stage *s, uint32_t *word)
{
    vpu_error err;
    uint32_t n;
    words w = begin(s, &n, &err);
    bool injects;
    hw_op op;

    for (uint32_t i = 0; i < n && !w.st; i++)
        take_op(&w, &op);
    injects = flag(&w, "injected");
    *word = w.at;
    return injects && !w.st;
}

const char *hw_kind_name(uint32_t kind)
{
    static const char *const names[] = {"CONV", "CONV_POOL", "FC", NULL,
                                        "POOL"};

    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

const char *hw_mode_name(uint32_t mode)
{
    static const char *const names[HW_MODES] = {"1x256", "2x128", "4x64",
                                                "8x32", "16x16"};

    return mode < HW_MODES ? names[mode] : NULL;
}
