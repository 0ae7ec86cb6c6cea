/* Headers encoded and decoded by the tables of xlink_layouts.def, with a check
 * of every field whose value the protocol limits. */
#include "runtime/link/xlink_wire.h"

#include <string.h>

enum {
#define XLINK_FIELD(name, ...) FIELD_##name,
#include "runtime/link/xlink_layouts.def"
    N_FIELDS
};

static const struct {
    const char *name;
    size_t header;
    bool host_allocates;
    uint32_t request_last, response_last;
    config_release release;
} layouts[XLINK_N_LAYOUTS] = {
#define XLINK_LAYOUT(name, header, host, last, resp_last, release) \
    {#name, header, host, last, resp_last, CONFIG_##release},
#include "runtime/link/xlink_layouts.def"
};

static const struct {
    const char *name;
    size_t size;
    int offset[XLINK_N_LAYOUTS];
} fields[N_FIELDS] = {
#define XLINK_FIELD(name, size, a, b, c) {#name, size, {a, b, c}},
#include "runtime/link/xlink_layouts.def"
};

static const struct {
    const char *name;
    int number[XLINK_N_LAYOUTS];
    bool on_wire;
} events[XLINK_N_EVENTS] = {
#define XLINK_EVENT(name, a, b, c, wire) {#name, {a, b, c}, wire},
#include "runtime/link/xlink_layouts.def"
};

static const struct {
    const char *name;
    uint32_t mask;
    bool request, response;
} flags[] = {
#define XLINK_FLAG(name, mask, req, resp) {#name, mask, req, resp},
#include "runtime/link/xlink_layouts.def"
};

enum { N_FLAGS = sizeof flags / sizeof flags[0] };

config_release xlink_last_release(xlink_layout layout)
{
    return layouts[layout].release;
}

bool xlink_layout_parse(const char *text, xlink_layout *out)
{
    for (int i = 0; i < XLINK_N_LAYOUTS; i++)
        if (!strcmp(text, layouts[i].name)) {
            *out = (xlink_layout)i;
            return true;
        }
    return false;
}

const char *xlink_layout_name(xlink_layout layout)
{
    return layouts[layout].name;
}

const char *xlink_event_name(xlink_event event)
{
    return events[event].name;
}

size_t xlink_header_size(xlink_layout layout)
{
    return layouts[layout].header;
}

bool xlink_host_allocates(xlink_layout layout)
{
    return layouts[layout].host_allocates;
}

bool xlink_has_event(xlink_layout layout, xlink_event event)
{
    return events[event].on_wire && events[event].number[layout] >= 0;
}

static void put(uint8_t *out, xlink_layout layout, int field, uint32_t value)
{
    int at = fields[field].offset[layout];

    for (int i = 0; at >= 0 && i < 4; i++)
        out[at + i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get(const uint8_t *in, xlink_layout layout, int field)
{
    int at = fields[field].offset[layout];
    uint32_t value = 0;

    for (int i = 0; at >= 0 && i < 4; i++)
        value |= (uint32_t)in[at + i] << 8 * i;
    return value;
}

static const char *kind(const xlink_header *h)
{
    return h->response ? "response" : "request";
}

/* Both directions: what may not be sent is not taken either. */
static vpu_status check_flags(xlink_layout layout, const xlink_header *h,
                              vpu_status code, vpu_error *err)
{
    uint32_t allowed = 0;

    for (int i = 0; i < N_FLAGS; i++)
        if (h->response ? flags[i].response : flags[i].request)
            allowed |= flags[i].mask;
    if (h->flags & ~allowed)
        return err_set(
            err, code,
            "layout %s, %s %s: flags 0x%x, expected no bits but 0x%x",
            layouts[layout].name, events[h->event].name, kind(h), h->flags,
            allowed);
    if (!h->response && !(h->flags & XLINK_FLAG_ACK))
        return err_set(err, code,
                       "layout %s, %s request: flags 0x%x, expected the ack "
                       "bit 0x1 to be set",
                       layouts[layout].name, events[h->event].name, h->flags);
    if ((h->flags & XLINK_FLAG_ACK) &&
        (h->flags & (XLINK_FLAG_NACK | XLINK_FLAG_SIZE_TOO_BIG)))
        return err_set(err, code,
                       "layout %s, %s response: flags 0x%x, expected ack (0x1) "
                       "or a refusal (0x2, 0x40), not both",
                       layouts[layout].name, events[h->event].name, h->flags);
    return VPU_OK;
}

static vpu_status check_name(xlink_layout layout, const xlink_header *h,
                             vpu_status code, vpu_error *err)
{
    if (!memchr(h->name, 0, sizeof h->name))
        return err_set(err, code,
                       "layout %s, %s %s: name '%.16s...' does not end, "
                       "expected a NUL within %d bytes",
                       layouts[layout].name, events[h->event].name, kind(h),
                       h->name, XLINK_NAME_BYTES);
    /* A refusal need not repeat it. */
    if (!h->name[0] && h->event == XLINK_CREATE_STREAM &&
        (!h->response || (h->flags & XLINK_FLAG_ACK)))
        return err_set(err, code,
                       "layout %s, CREATE_STREAM %s: name is empty, expected "
                       "1 to %d bytes",
                       layouts[layout].name, kind(h), XLINK_NAME_BYTES - 1);
    return VPU_OK;
}

static vpu_status check_send(xlink_layout layout, const xlink_header *h,
                             vpu_error *err)
{
    static const vpu_status bad = VPU_ERR_INVALID;
    const char *l = layouts[layout].name;

    if ((unsigned)h->event >= XLINK_N_EVENTS ||
        !xlink_has_event(layout, h->event))
        return err_set(
            err, bad, "layout %s: event %s is not one of those it sends", l,
            (unsigned)h->event < XLINK_N_EVENTS ? events[h->event].name
                                                : "outside the table");
    if (h->event != XLINK_CREATE_STREAM && h->name[0])
        return err_set(err, bad,
                       "layout %s, %s %s: name '%.63s', expected none: only "
                       "CREATE_STREAM has one",
                       l, events[h->event].name, kind(h), h->name);
    if (fields[FIELD_dropped].offset[layout] < 0 &&
        (h->dropped || h->can_be_served))
        return err_set(err, bad,
                       "layout %s, %s %s: dropped %u, can_be_served %u, "
                       "expected 0: the layout has no such fields",
                       l, events[h->event].name, kind(h), h->dropped,
                       h->can_be_served);
    /* The host's waiting reader would not be woken [S]. */
    if (h->event == XLINK_WRITE && !h->response && h->dropped)
        return err_set(err, bad,
                       "layout %s, WRITE request: dropped %u, expected 0", l,
                       h->dropped);
    if (check_flags(layout, h, bad, err))
        return bad;
    return check_name(layout, h, bad, err);
}

vpu_status xlink_encode(xlink_layout layout, const xlink_header *h, void *out,
                        size_t n, vpu_error *err)
{
    uint8_t *o = out;
    vpu_status st;
    uint32_t type;

    if (n < layouts[layout].header)
        return err_set(err, VPU_ERR_INVALID,
                       "layout %s: room for %zu bytes of header, expected %zu",
                       layouts[layout].name, n, layouts[layout].header);
    st = check_send(layout, h, err);
    if (st)
        return st;
    type = (uint32_t)events[h->event].number[layout];
    if (h->response)
        type += layouts[layout].request_last + 1;
    memset(o, 0, layouts[layout].header);
    put(o, layout, FIELD_id, h->id);
    put(o, layout, FIELD_type, type);
    memcpy(o + fields[FIELD_name].offset[layout], h->name, strlen(h->name));
    put(o, layout, FIELD_stream, h->stream);
    put(o, layout, FIELD_size, h->size);
    put(o, layout, FIELD_dropped, h->dropped);
    put(o, layout, FIELD_can_be_served, h->can_be_served);
    put(o, layout, FIELD_flags, h->flags);
    return VPU_OK;
}

static vpu_status decode_type(xlink_layout layout, uint32_t type,
                              xlink_header *h, vpu_error *err)
{
    uint32_t last = layouts[layout].request_last, number = type;

    h->response = type > last;
    if (h->response)
        number = type - last - 1;
    if (type == last || type >= layouts[layout].response_last)
        return err_set(err, VPU_ERR_PARSE,
                       "layout %s: type %u, expected a request 0 to %u or a "
                       "response %u to %u",
                       layouts[layout].name, type, last - 1, last + 1,
                       layouts[layout].response_last - 1);
    for (int i = 0; i < XLINK_N_EVENTS; i++)
        if (events[i].number[layout] == (int)number) {
            h->event = (xlink_event)i;
            if (events[i].on_wire)
                return VPU_OK;
            break;
        }
    return err_set(err, VPU_ERR_PARSE,
                   "layout %s: type %u (%s), expected one that crosses the "
                   "wire",
                   layouts[layout].name, type, events[h->event].name);
}

vpu_status xlink_decode(xlink_layout layout, const void *bytes, size_t n,
                        xlink_header *h, vpu_error *err)
{
    const uint8_t *in = bytes;
    vpu_status st;

    memset(h, 0, sizeof *h);
    if (n != layouts[layout].header)
        return err_set(err, VPU_ERR_PARSE,
                       "layout %s: header of %zu bytes, expected %zu",
                       layouts[layout].name, n, layouts[layout].header);
    st = decode_type(layout, get(in, layout, FIELD_type), h, err);
    if (st)
        return st;
    h->id = get(in, layout, FIELD_id);
    h->stream = get(in, layout, FIELD_stream);
    h->size = get(in, layout, FIELD_size);
    h->dropped = get(in, layout, FIELD_dropped);
    h->can_be_served = get(in, layout, FIELD_can_be_served);
    h->flags = get(in, layout, FIELD_flags);
    if (h->event == XLINK_CREATE_STREAM)
        memcpy(h->name, in + fields[FIELD_name].offset[layout], sizeof h->name);
    st = check_flags(layout, h, VPU_ERR_PARSE, err);
    if (st)
        return st;
    st = check_name(layout, h, VPU_ERR_PARSE, err);
    if (st)
        return st;
    /* What follows the NUL is no part of the name. */
    size_t used = strlen(h->name);
    memset(h->name + used, 0, sizeof h->name - used);
    return VPU_OK;
}

static void name_text(const char *name, str *out)
{
    str_puts(out, " \"");
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;

        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            str_printf(out, "\\x%02x", c);
        else
            str_printf(out, "%c", c);
    }
    str_puts(out, "\"");
}

static void flags_text(uint32_t value, str *out)
{
    const char *before = " flags ";

    for (int i = 0; i < N_FLAGS; i++)
        if (value & flags[i].mask) {
            str_printf(out, "%s%s", before, flags[i].name);
            before = "|";
            value &= ~flags[i].mask;
        }
    if (value || before[0] != '|')
        str_printf(out, "%s0x%x", before, value);
}

void xlink_text(xlink_layout layout, const xlink_header *h, const void *payload,
                size_t n_payload, str *out)
{
    const uint8_t *p = payload;

    str_printf(out, "%s %s id %u", events[h->event].name, kind(h), h->id);
    if (h->name[0])
        name_text(h->name, out);
    if (h->stream == XLINK_NO_STREAM)
        str_puts(out, " stream none");
    else
        str_printf(out, " stream %u", h->stream);
    str_printf(out, " size %u", h->size);
    if (fields[FIELD_dropped].offset[layout] >= 0)
        str_printf(out, " dropped %u can_be_served %u", h->dropped,
                   h->can_be_served);
    flags_text(h->flags, out);
    if (!p)
        return;
    str_puts(out, ":");
    for (size_t i = 0; i < n_payload && i < 32; i++)
        str_printf(out, " %02x", p[i]);
    if (n_payload > 32)
        str_printf(out, " .. (%zu bytes)", n_payload);
}
