#include "base/trace/forms.h"

typedef struct {
    packet_form *f;
    const uint8_t *packet;
    uint8_t *mask; /* of each byte */
} learner;

/* Something that may differ; false: it was there before. */
static bool may_differ(learner *l, packet_place *to, const uint8_t *at,
                       const uint8_t *end, uint8_t mask)
{
    if (to->n || at == end)
        return false;
    *to = (packet_place){(uint8_t)(at - l->packet), (uint8_t)(end - at)};
    memset(l->mask + to->at, mask, to->n);
    return true;
}

/* A varint's last byte has no top bit, all before have one. */
static bool a_number(learner *l, packet_place *to, const uint8_t *at,
                     const uint8_t *end)
{
    return may_differ(l, to, at, end, 0x80);
}

static bool a_text(learner *l, packet_place *to, wire_span s)
{
    return may_differ(l, to, s.at, s.end, 0);
}

/* The next field, and where its value begins. */
static bool next(wire_span *s, wire_field *f, const uint8_t **value, bool *bad)
{
    wire_span head = *s;
    uint64_t tag;

    if (!wire_next(s, f, bad))
        return false;
    wire_varint(&head, &tag);
    *value = head.at;
    return true;
}

/* One pooled name, then one value. */
static bool learn_arg(learner *l, wire_span s)
{
    const uint8_t *value;
    bool bad = false, known = false;
    wire_field f;
    packet_arg *a;

    if (l->f->n_args == PACKET_ARGS)
        return false;
    a = &l->f->args[l->f->n_args++];
    if (!wire_take(&s, 1, &a->name) || !next(&s, &f, &value, &bad))
        return false;
    if (f.number >= 2 && f.number <= 4 && f.type == 0) {
        a->kind = TRC_ARG_UINT;
        known = a_number(l, &a->value, value, s.at);
    } else if (f.number == 5 && f.type == 1) {
        a->kind = TRC_ARG_REAL;
        known = may_differ(l, &a->value, value, s.at, 0);
    } else if (f.number == 6 && f.type == 2) {
        a->kind = TRC_ARG_TEXT;
        known = a_text(l, &a->value, f.bytes);
    }
    return known && s.at == s.end;
}

static bool learn_event(learner *l, wire_span s)
{
    const uint8_t *value;
    bool bad = false, known = true;
    wire_field f;

    while (known && next(&s, &f, &value, &bad)) {
        if (f.number == 4 && f.type == 2) {
            known = learn_arg(l, f.bytes);
        } else if (f.number == 9 && f.type == 0) {
            /* Nor may a second event have one. */
            known = !l->f->type && f.value >= 1 && f.value <= 4;
            l->f->type = (uint8_t)f.value;
        } else if (f.number == 10 && f.type == 0) {
            known = a_number(l, &l->f->name, value, s.at);
        } else if (f.number == 11 && f.type == 0) {
            known = a_number(l, &l->f->uuid, value, s.at);
        } else {
            known = f.number == 23 && f.type == 2 &&
                    a_text(l, &l->f->text, f.bytes);
        }
    }
    return known && !bad;
}

static bool learn(learner *l, wire_span s)
{
    bool bad = false, known = true, sequence = false;
    const uint8_t *value;
    wire_field f;

    while (known && next(&s, &f, &value, &bad)) {
        if (f.number == 11 && f.type == 2) {
            known = learn_event(l, f.bytes);
        } else if (f.type != 0) {
            known = false;
        } else if (f.number == 8) {
            known = a_number(l, &l->f->stamp, value, s.at);
        } else if (f.number == 10) {
            known = !sequence;
            sequence = true;
            l->f->sequence = (uint32_t)f.value;
        } else if (f.number == 13) {
            known = !(f.value & 1);
        } else if (f.number == 58) {
            known = !l->f->clock;
            l->f->clock = f.value;
        }
    }
    return known && !bad && l->f->type && l->f->stamp.n &&
           !(l->f->name.n && l->f->text.n);
}

bool packet_learn_form(packet_form *f, const uint8_t *packet, size_t n)
{
    uint8_t mask[PACKET_BYTES] = {0};
    learner l = {.f = f, .packet = packet, .mask = mask};

    *f = (packet_form){0};
    if (n > PACKET_BYTES)
        return false;
    memset(mask, 0xff, n);
    if (!learn(&l, (wire_span){packet + 2, packet + n})) {
        *f = (packet_form){0};
        return false;
    }
    memcpy(f->mask, mask, sizeof mask);
    memcpy(f->same, packet, n);
    f->n_bytes = (uint8_t)n;
    return true;
}
