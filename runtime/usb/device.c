/* Lists sticks, chooses one, boots it where needed, and waits until it is
 * there again. */
#include "runtime/usb/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/usb/boot.h"
#include "runtime/usb/link.h"
#include "runtime/usb/scan.h"

/* What published hosts lock while they boot a stick [S]. */
#define LOCK_PATH "/tmp/mvnc.mutex"

enum {
    BACK_MS = 15000, /* for a stick to come back booted [S] */
    LOCK_MS = 30000,
    POLL_US = 50000
};

static bool may_open(libusb_device *d)
{
    char node[64];

    snprintf(node, sizeof node, "/dev/bus/usb/%03u/%03u",
             libusb_get_bus_number(d), libusb_get_device_address(d));
    return !access(node, R_OK | W_OK) || errno == ENOENT;
}

vpu_status usb_list(arena *a, usb_stick **list, uint32_t *n, vpu_error *err)
{
    usb_scan s;
    vpu_status st = usb_scan_start(&s, err);

    *list = NULL;
    *n = 0;
    if (st)
        return st;
    *list = arena_array(a, usb_stick, s.n_found);
    for (size_t i = 0; i < s.n_found; i++) {
        const usb_found *f = &s.found[i];
        bool ours = may_open(f->device);
        const char *speed = usb_speed(f->device);

        (*list)[(*n)++] = (usb_stick){
            .name = arena_strdup(a, f->name),
            .booted = f->booted,
            .speed = speed ? speed : "unknown",
            .usable = ours && !f->booted,
            .why = !ours       ? USB_PERMISSION
                   : f->booted ? "runs firmware already: another program uses "
                                 "it, or died; vpu reset frees it"
                               : NULL,
        };
    }
    usb_scan_end(&s);
    return VPU_OK;
}

/* -1: not locked, which only matters when two programs boot at once. */
static vpu_status take_lock(const usb_connect_options *o, int *fd,
                            vpu_error *err)
{
    int64_t deadline = clock_ms() + LOCK_MS;

    *fd = open(LOCK_PATH, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0) {
        log_warn(o->log, "%s: %s; another program may boot sticks meanwhile",
                 LOCK_PATH, strerror(errno));
        return VPU_OK;
    }
    while (flock(*fd, LOCK_EX | LOCK_NB)) {
        if (clock_ms() > deadline || (o->stop && *o->stop)) {
            close(*fd);
            return err_set(err, VPU_ERR_LIMIT,
                           "%s: another program has been booting a stick for "
                           "%d s",
                           LOCK_PATH, LOCK_MS / 1000);
        }
        usleep(POLL_US);
    }
    return VPU_OK;
}

static vpu_status no_such(const usb_scan *s, const char *name, vpu_error *err)
{
    char names[512] = "";
    size_t at = 0;

    if (!s->n_found)
        return err_set(err, VPU_ERR_INVALID,
                       "no stick on the USB bus: looked for 03e7:2485 and "
                       "03e7:f63b");
    for (size_t i = 0; i < s->n_found && at < sizeof names - 64; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, " %s%s",
                               s->found[i].name,
                               s->found[i].booted ? " (booted)" : "");
    if (*name)
        return err_set(err, VPU_ERR_INVALID, "no stick '%s'; there are:%s",
                       name, names);
    return err_set(err, VPU_ERR_INVALID,
                   "all sticks run firmware already, another program uses "
                   "them or has died (vpu reset frees them):%s",
                   names);
}

static vpu_status choose(const usb_scan *s, const char *name, bool take_booted,
                         const usb_found **out, vpu_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < s->n_found && !*out; i++)
        if (*name ? !strcmp(s->found[i].name, name)
                  : take_booted || !s->found[i].booted)
            *out = &s->found[i];
    if (!*out)
        return no_such(s, name, err);
    if ((*out)->booted && !take_booted)
        return err_set(err, VPU_ERR_INVALID,
                       "stick %s runs firmware already: another program uses "
                       "it, or has died; vpu reset %s frees it",
                       name, name);
    return VPU_OK;
}

/* Copied, since each look is a list of its own. */
typedef struct {
    char (*names)[48];
    size_t n;
} name_list;

static vpu_status booted_names(const usb_scan *s, name_list *out,
                               vpu_error *err)
{
    out->n = 0;
    out->names = calloc(s->n_found + 1, sizeof *out->names);
    if (!out->names)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %zu sticks",
                       s->n_found);
    for (size_t i = 0; i < s->n_found; i++)
        if (s->found[i].booted)
            memcpy(out->names[out->n++], s->found[i].name, sizeof *out->names);
    return VPU_OK;
}

static bool was_there(const name_list *before, const char *name)
{
    for (size_t i = 0; i < before->n; i++)
        if (!strcmp(before->names[i], name))
            return true;
    return false;
}

/* The stick that was `name` when it was not booted: the same place, or the same
 * ports of another bus. */
static const usb_found *come_back(const usb_scan *s, const name_list *before,
                                  const char *name)
{
    const usb_found *same = usb_scan_find(s, name), *other = NULL;

    if (same)
        return same->booted ? same : NULL;
    for (size_t i = 0; i < s->n_found; i++)
        if (s->found[i].booted && !was_there(before, s->found[i].name) &&
            !strcmp(usb_ports(s->found[i].name), usb_ports(name)))
            other = &s->found[i];
    return other;
}

static vpu_status open_link(usb_scan *s, const usb_found *f, transport **out,
                            vpu_error *err)
{
    libusb_device_handle *h;
    char name[48];
    vpu_status st = usb_open(f, &h, err);

    memcpy(name, f->name, sizeof name);
    return st ? st : usb_link_new(usb_scan_take(s), h, name, out, err);
}

static vpu_status wait_back(const char *name, const name_list *before,
                            const usb_connect_options *o, transport **out,
                            vpu_error *err)
{
    unsigned ms = o->timeout_ms ? o->timeout_ms : BACK_MS;
    int64_t deadline = clock_ms() + ms;

    for (;;) {
        const usb_found *f;
        usb_scan s;
        vpu_status st = usb_scan_start(&s, err);

        if (st)
            return st;
        f = come_back(&s, before, name);
        if (f) {
            st = open_link(&s, f, out, err);
            usb_scan_end(&s);
            return st;
        }
        usb_scan_end(&s);
        if (clock_ms() > deadline || (o->stop && *o->stop))
            return err_set(err, VPU_ERR_LIMIT,
                           "stick %s took the firmware, but did not come back "
                           "as 03e7:f63b within %u ms; plug it in again",
                           name, ms);
        usleep(POLL_US);
    }
}

static vpu_status boot(const usb_scan *s, const usb_found *f,
                       const usb_connect_options *o, transport **out,
                       vpu_error *err)
{
    int64_t start, sent;
    name_list before;
    vpu_status st;

    if (!o->firmware)
        return err_set(err, VPU_ERR_INVALID,
                       "stick %s needs its firmware: --firmware FILE, "
                       "usb-ma2x8x.mvcmd of an OpenVINO package (docs/usb.md)",
                       f->name);
    st = booted_names(s, &before, err);
    if (st)
        return st;
    log_note(o->log, "stick %s: sending %s", f->name, o->firmware);
    start = clock_ms();
    st = usb_send_firmware(f, o, err);
    sent = clock_ms();
    if (!st)
        st = wait_back(f->name, &before, o, out, err);
    if (!st && o->record) {
        o->record->booted = true;
        o->record->upload_ms = (double)(sent - start);
        o->record->back_ms = (double)(clock_ms() - sent);
    }
    if (!st)
        log_note(o->log, "stick %s: booted", usb_link_name(*out));
    free(before.names);
    return st;
}

vpu_status usb_connect(const char *name, const usb_connect_options *o,
                       transport **out, vpu_error *err)
{
    const usb_found *f;
    usb_scan s;
    vpu_status st;
    int lock;

    st = take_lock(o, &lock, err);
    if (st)
        return st;
    st = usb_scan_start(&s, err);
    if (!st)
        st = choose(&s, name ? name : "", o->take_booted, &f, err);
    if (!st)
        st = f->booted ? open_link(&s, f, out, err) : boot(&s, f, o, out, err);
    usb_scan_end(&s);
    if (lock >= 0)
        close(lock);
    return st;
}

/* Until a stick in that state, booted or not, is at these ports, or is not.
 * *met says whether; false: the time was up. */
static vpu_status wait_for(const char *name, bool booted, bool wanted,
                           unsigned timeout_ms, bool *met, vpu_error *err)
{
    int64_t deadline = clock_ms() + timeout_ms;

    for (;;) {
        bool there = false;
        usb_scan s;
        vpu_status st = usb_scan_start(&s, err);

        if (st)
            return st;
        for (size_t i = 0; i < s.n_found; i++)
            there |= s.found[i].booted == booted &&
                     !strcmp(usb_ports(s.found[i].name), usb_ports(name));
        usb_scan_end(&s);
        *met = there == wanted;
        if (*met || clock_ms() > deadline)
            return VPU_OK;
        usleep(POLL_US);
    }
}

vpu_status usb_wait_gone(const char *name, unsigned timeout_ms, vpu_error *err)
{
    bool met;
    vpu_status st = wait_for(name, true, false, timeout_ms, &met, err);

    return st || met ? st
                     : err_set(err, VPU_ERR_LIMIT,
                               "stick %s is still booted after %u ms", name,
                               timeout_ms);
}

vpu_status usb_wait_unbooted(const char *name, unsigned timeout_ms,
                             vpu_error *err)
{
    bool met;
    vpu_status st = wait_for(name, false, true, timeout_ms, &met, err);

    return st || met ? st
                     : err_set(err, VPU_ERR_LIMIT,
                               "stick %s is not back, unbooted, after %u ms",
                               name, timeout_ms);
}
