/* Sleeps in front of each write and behind each read. Only the stick's end of a
 * link is wrapped, so a byte is late once. */
#include "runtime/stick/link.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    transport base;
    transport *inner;
    uint64_t rate, each; /* bytes per us; us */
} slow;

static const struct {
    const char *name;
    uint32_t rate, each;
} table[] = {
#define STICK_LINK(name, rate, each, about) {#name, rate, each},
#include "runtime/stick/link.def"
};

bool stick_link_parse(const char *text, stick_link *out)
{
    for (int i = 0; i < STICK_N_LINKS; i++)
        if (!strcmp(text, table[i].name)) {
            *out = (stick_link)i;
            return true;
        }
    return false;
}

static void take_time(const slow *s, size_t n)
{
    uint64_t us = s->each + n / s->rate;
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    nanosleep(&t, NULL);
}

static vpu_status slow_read(transport *t, void *buf, size_t n, size_t *got,
                            unsigned timeout_ms, vpu_error *err)
{
    slow *s = (slow *)t;
    vpu_status st = transport_read(s->inner, buf, n, got, timeout_ms, err);

    if (*got)
        take_time(s, *got);
    return st;
}

static vpu_status slow_write(transport *t, const void *buf, size_t n,
                             size_t *put, unsigned timeout_ms, vpu_error *err)
{
    slow *s = (slow *)t;

    take_time(s, n);
    return transport_write(s->inner, buf, n, put, timeout_ms, err);
}

static void slow_reset(transport *t)
{
    transport_reset(((slow *)t)->inner);
}

static void slow_close(transport *t)
{
    free(t);
}

static const transport_ops slow_ops = {slow_read, slow_write, slow_reset,
                                       slow_close};

vpu_status stick_link_wrap(transport *inner, stick_link link, transport **out,
                           vpu_error *err)
{
    slow *s = malloc(sizeof *s);

    if (!s)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a link");
    /* Without a rate nothing waits: callers do not wrap then, but may. */
    *s = (slow){{&slow_ops},
                inner,
                table[link].rate ? table[link].rate : UINT64_MAX,
                table[link].each};
    *out = &s->base;
    return VPU_OK;
}
