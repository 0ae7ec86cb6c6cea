/* Packets read by the form of others before them are what they are alone. Drawn
 * traces: packets of few shapes, in runs, with other numbers and texts of the
 * same lengths, now and then another; the last one has bits turned over. Each
 * is read behind the others, and by itself, where no form is known. */
#include "base/trace/forms.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/trace/reader.h"
#include "tests/support/message.h"
#include "tests/support/random.h"

enum { SHAPES = 3, RUN = 24, PREFIX_NAMES = 40, OWN_CLOCK = 70 };

static uint64_t state;

static uint64_t draw(uint32_t below)
{
    return random_below(&state, below);
}

/* A number whose varint has that many bytes. */
static uint64_t number_of(unsigned bytes)
{
    uint64_t any = random_next(&state);

    if (bytes >= 10)
        return any | UINT64_C(1) << 63;
    any &= (UINT64_C(1) << 7 * bytes) - 1;
    return bytes > 1 ? any | UINT64_C(1) << 7 * (bytes - 1) : any;
}

/* --- shapes -------------------------------------------------------------- */

typedef enum { NAME_NONE, NAME_POOLED, NAME_TEXT, NAME_TWICE } name_kind;

typedef struct {
    uint32_t field; /* 2 .. 4, 5, 6 */
    unsigned bytes;
    uint64_t name;
    bool named_here; /* by a text of its own */
    bool twice;      /* another number behind its value */
} arg_shape;

/* Which fields a packet has, and how long they are. */
typedef struct {
    unsigned stamp, uuid; /* bytes of the varint; 0: none */
    uint64_t sequence, clock, flags, type;
    name_kind name;
    unsigned name_bytes;
    bool late_args, counts, flows, unknown, type_twice, two_events;
    size_t n_args;
    arg_shape args[14];
} shape;

static shape draw_shape(void)
{
    shape s = {.stamp = draw(12) ? 1 + (unsigned)draw(10) : 0,
               .uuid = draw(6) ? 1 + (unsigned)draw(10) : 0,
               .sequence = 1 + draw(2),
               .clock = draw(4) ? 0 : OWN_CLOCK,
               .flags = draw(3) ? 0 : 2,
               .type = draw(12) ? 1 + draw(4) : draw(7),
               .name = (name_kind)draw(draw(6) ? 3 : 4),
               .name_bytes = (unsigned)draw(9),
               .late_args = !draw(4),
               .counts = !draw(6),
               .flows = !draw(6),
               .unknown = !draw(8),
               .type_twice = !draw(16),
               .two_events = !draw(16),
               .n_args = draw(3) ? draw(4) : draw(15)};

    for (size_t i = 0; i < s.n_args; i++)
        s.args[i] = (arg_shape){.field = 2 + (uint32_t)draw(5),
                                .bytes = (unsigned)draw(11),
                                .name = draw(PREFIX_NAMES + 8),
                                .named_here = !draw(12),
                                .twice = !draw(12)};
    return s;
}

static void put_text(message *m, uint32_t field, unsigned bytes)
{
    char text[16];

    for (unsigned i = 0; i < bytes; i++)
        text[i] = (char)('a' + draw(26));
    message_bytes(m, field, text, bytes);
}

static void put_args(message *event, const shape *s)
{
    for (size_t i = 0; i < s->n_args; i++) {
        const arg_shape *a = &s->args[i];
        message m;

        m.n = 0;
        if (a->named_here)
            put_text(&m, 10, 4);
        else
            message_uint(&m, 1, a->name);
        if (a->field == 5)
            message_fixed64(&m, 5, random_next(&state));
        else if (a->field == 6)
            put_text(&m, 6, a->bytes);
        else
            message_uint(&m, a->field, number_of(a->bytes ? a->bytes : 1));
        if (a->twice)
            message_uint(&m, 3, draw(2));
        message_bytes(event, 4, m.bytes, m.n);
    }
}

static void put_shape(message *packet, const shape *s)
{
    message event;

    event.n = 0;
    if (!s->late_args)
        put_args(&event, s);
    message_uint(&event, 9, s->type);
    if (s->type_twice)
        message_uint(&event, 9, 1 + draw(4));
    if (s->name == NAME_POOLED || s->name == NAME_TWICE)
        message_uint(&event, 10, draw(PREFIX_NAMES + 8));
    if (s->uuid)
        message_uint(&event, 11, number_of(s->uuid));
    if (s->name == NAME_TEXT || s->name == NAME_TWICE)
        put_text(&event, 23, s->name_bytes);
    if (s->counts)
        message_uint(&event, 30, number_of(3));
    if (s->flows)
        message_fixed64(&event, 47, number_of(4));
    if (s->late_args)
        put_args(&event, s);
    if (s->stamp)
        message_uint(packet, 8, number_of(s->stamp));
    message_uint(packet, 10, s->sequence);
    if (s->flags)
        message_uint(packet, 13, s->flags);
    if (s->clock)
        message_uint(packet, 58, s->clock);
    if (s->unknown)
        message_uint(packet, 3, 12345);
    message_bytes(packet, 11, event.bytes, event.n);
    if (s->two_events) {
        event.n = 0;
        message_uint(&event, 9, 3);
        message_bytes(packet, 11, event.bytes, event.n);
    }
}

/* Names of each sequence, its default track, a clock of its own. */
static void put_prefix(message *trace)
{
    for (uint64_t q = 1; q <= 2; q++) {
        message packet = {.n = 0}, pool = {.n = 0}, event = {.n = 0},
                defaults = {.n = 0}, clock = {.n = 0}, clocks = {.n = 0};

        for (uint64_t i = 1; i < PREFIX_NAMES; i++) {
            message entry = {.n = 0};
            char name[32];
            int n =
                snprintf(name, sizeof name, "name %d of %d", (int)i, (int)q);

            message_uint(&entry, 1, i);
            message_bytes(&entry, 2, name, (size_t)n);
            message_bytes(&pool, 2 + i % 2, entry.bytes, entry.n);
        }
        message_uint(&event, 11, 100 + q);
        message_bytes(&defaults, 11, event.bytes, event.n);
        message_uint(&clock, 1, OWN_CLOCK);
        message_uint(&clock, 4, 3);
        message_bytes(&clocks, 1, clock.bytes, clock.n);
        message_bytes(&packet, 6, clocks.bytes, clocks.n);
        message_uint(&packet, 10, q);
        message_bytes(&packet, 12, pool.bytes, pool.n);
        message_bytes(&packet, 59, defaults.bytes, defaults.n);
        message_packet(trace, &packet);
    }
}

/* --- readings ------------------------------------------------------------ */

static bool say_event(void *user, const trc_read_event *e)
{
    str *to = user;

    str_printf(to,
               "%d %llu %llu '%s' %u flow %d %llu value %g %d:", (int)e->kind,
               (unsigned long long)e->uuid, (unsigned long long)e->ns, e->name,
               e->name_key, (int)e->flow, (unsigned long long)e->flow_id,
               e->value, e->real);
    for (size_t i = 0; i < e->n_args; i++) {
        const trc_arg *a = &e->args[i];

        str_printf(to, " %s %u=", a->name, a->key);
        if (a->kind == TRC_ARG_TEXT)
            str_printf(to, "'%s'", a->text);
        else if (a->kind == TRC_ARG_REAL)
            str_printf(to, "%a", a->real);
        else
            str_printf(to, "%llu", (unsigned long long)a->number);
    }
    str_printf(to, "\n");
    return true;
}

/* What its events say, a line each; then how it ended. */
static vpu_status read_trace(const message *trace, str *to)
{
    const trc_read_ops ops = {.event = say_event, .user = to};
    vpu_error err;

    return trc_read_bytes("drawn", trace->bytes, trace->n, &ops, &err);
}

static vpu_status read_alone(const message *prefix, const message *packet,
                             str *to)
{
    message trace = *prefix;

    message_packet(&trace, packet);
    return read_trace(&trace, to);
}

static void turn_bits(message *packet)
{
    for (uint64_t n = 1 + draw(3); n; n--)
        packet->bytes[draw((uint32_t)packet->n)] ^= (uint8_t)(1 << draw(8));
}

START_TEST(behind_others_as_alone)
{
    shape shapes[SHAPES];
    message prefix = {.n = 0}, trace;
    str together = {0}, apart = {0};
    vpu_status st = VPU_OK;

    state = (uint64_t)_i;
    for (int i = 0; i < SHAPES; i++)
        shapes[i] = draw_shape();
    put_prefix(&prefix);
    trace = prefix;
    for (int i = 0; i <= RUN; i++) {
        message packet;

        packet.n = 0;
        put_shape(&packet, &shapes[draw(4) ? 0 : draw(SHAPES)]);
        if (i == RUN)
            turn_bits(&packet);
        message_packet(&trace, &packet);
        st = read_alone(&prefix, &packet, &apart);
        ck_assert(i == RUN || !st);
    }
    /* Forms are looked for where there is room for the longest. */
    for (int i = 0; i < PACKET_BYTES; i++) {
        message packet = {.n = 0};

        message_uint(&packet, 10, 1);
        message_packet(&trace, &packet);
    }
    ck_assert_int_eq(read_trace(&trace, &together), st);
    ck_assert(!strcmp(str_text(&together), str_text(&apart)));
    str_free(&together);
    str_free(&apart);
}
END_TEST

/* --- which packets have one ---------------------------------------------- */

static const shape plain = {
    .stamp = 5, .uuid = 1, .sequence = 1, .type = 1, .name = NAME_POOLED};

static bool has_form(const shape *s, packet_form *f, message *trace)
{
    message packet = {.n = 0};

    put_shape(&packet, s);
    *trace = (message){.n = 0};
    message_packet(trace, &packet);
    return packet_learn_form(f, trace->bytes, trace->n);
}

START_TEST(others_of_a_form_fit)
{
    message trace = {.n = 0};
    shape other = plain, with_args = plain;
    packet_form f, none;

    with_args.n_args = 3;
    with_args.args[0] = (arg_shape){.field = 3, .bytes = 2, .name = 1};
    with_args.args[1] = (arg_shape){.field = 6, .bytes = 3, .name = 3};
    with_args.args[2] = (arg_shape){.field = 5, .name = 5};
    ck_assert(has_form(&with_args, &f, &trace));
    ck_assert(packet_has_form(&f, trace.bytes));
    ck_assert(has_form(&with_args, &none, &trace));
    ck_assert(packet_has_form(&f, trace.bytes));
    with_args.args[0].name = 7;
    ck_assert(has_form(&with_args, &none, &trace));
    ck_assert(!packet_has_form(&f, trace.bytes));

    ck_assert(has_form(&plain, &f, &trace));
    other.stamp = 4;
    ck_assert(has_form(&other, &none, &trace));
    ck_assert(!packet_has_form(&f, trace.bytes));
    other = plain;
    other.type = 2;
    ck_assert(has_form(&other, &none, &trace));
    ck_assert(!packet_has_form(&f, trace.bytes));
    other = plain;
    other.counts = true;
    ck_assert(!has_form(&other, &none, &trace));
    ck_assert(!packet_has_form(&none, trace.bytes));
    other = plain;
    other.flags = 1;
    ck_assert(!has_form(&other, &none, &trace));
}
END_TEST

/* --- a sequence's state -------------------------------------------------- */

static void put_named(message *trace, uint64_t stamp)
{
    message packet = {.n = 0}, event = {.n = 0};

    message_uint(&event, 9, 1);
    message_uint(&event, 10, 5);
    message_uint(&event, 11, 7);
    message_uint(&packet, 8, stamp);
    message_uint(&packet, 10, 1);
    message_bytes(&packet, 11, event.bytes, event.n);
    message_packet(trace, &packet);
}

/* The names of a sequence begin anew: those of a known form, too. */
START_TEST(names_that_change)
{
    enum { EACH = 40 }; /* most lie before the longest form's room */
    message trace = {.n = 0};
    const char *at;
    str said = {0};

    message_event_name(&trace, 5, "early", 1);
    for (uint64_t i = 0; i < EACH; i++)
        put_named(&trace, 10 + i);
    message_event_name(&trace, 5, "late", 1);
    for (uint64_t i = 0; i < EACH; i++)
        put_named(&trace, 60 + i);
    ck_assert(!read_trace(&trace, &said));
    at = str_text(&said);
    for (int i = 0; i < 2 * EACH; i++, at++) {
        const char *name = strchr(at, '\'') + 1;

        ck_assert(
            !strncmp(name, i < EACH ? "early'" : "late'", i < EACH ? 6 : 5));
        at = strchr(at, '\n');
    }
    str_free(&said);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("forms");
    TCase *c = tcase_create("forms");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_loop_test(c, behind_others_as_alone, 0, 400);
    tcase_add_test(c, others_of_a_form_fit);
    tcase_add_test(c, names_that_change);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
