/* The thread that pings the stick, and the one that reads its text. */
#include "runtime/link/mvnc_priv.h"

#include "base/clock.h"
#include "base/word.h"

enum { READ_MS = 100 };

static bool ending(mvnc *m)
{
    bool e;

    pthread_mutex_lock(&m->lock);
    e = m->ending;
    pthread_mutex_unlock(&m->lock);
    return e;
}

/* False: the session ends. Else the caller is to ping. */
static bool pause_for(mvnc *m, unsigned ms)
{
    struct timespec t = clock_deadline(ms);
    bool go_on;

    pthread_mutex_lock(&m->lock);
    m->ping_out = false;
    pthread_cond_broadcast(&m->changed);
    while (!m->ending && !pthread_cond_timedwait(&m->changed, &m->lock, &t))
        ;
    go_on = m->ping_out = !m->ending;
    pthread_mutex_unlock(&m->lock);
    return go_on;
}

/* The ack of the write is the answer [S]; the first goes out at once. One write
 * may take dead_ms, so a stick that is silent for that long is given up. */
static void *ping(void *arg)
{
    mvnc *m = arg;
    uint8_t bytes[MVNC_DEVICE_BYTES];

    word_set(bytes, MVNC_WATCHDOG_PING);
    word_set(bytes + 4, 0);
    do {
        vpu_error err, why;
        vpu_status st = xlink_write(m->xlink, m->device, bytes, sizeof bytes,
                                    m->config.dead_ms, &err);

        if (st == VPU_OK || ending(m))
            continue;
        err_set(&why, VPU_ERR_IO,
                "the stick does not answer the watchdog's pings: no ack within "
                "%u ms (%.200s)",
                m->config.dead_ms, err.msg);
        if (st != VPU_ERR_IO) /* else the link says why itself */
            xlink_fail(m->xlink, &why);
        break;
    } while (pause_for(m, m->config.ping_ms));
    pthread_mutex_lock(&m->lock);
    m->ping_out = false;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static void *read_text(void *arg)
{
    mvnc *m = arg;

    while (!ending(m)) {
        xlink_packet p;
        vpu_status st = xlink_read(m->xlink, m->console, &p, READ_MS, NULL);

        if (st == VPU_ERR_LIMIT)
            continue;
        if (st)
            break;
        m->config.print(m->config.print_user, p.data, p.bytes);
        if (xlink_release(m->xlink, m->console, m->config.timeout_ms, NULL))
            break;
    }
    return NULL;
}

vpu_status mvnc_start_threads(mvnc *m, vpu_error *err)
{
    m->ping_out = true;
    m->pinging = !pthread_create(&m->pinger, NULL, ping, m);
    return m->pinging ? VPU_OK
                      : err_set(err, VPU_ERR_NOMEM, "no thread for pings");
}

vpu_status mvnc_start_reading(mvnc *m, vpu_error *err)
{
    m->reading = !pthread_create(&m->reader, NULL, read_text, m);
    return m->reading ? VPU_OK
                      : err_set(err, VPU_ERR_NOMEM, "no thread for text");
}

bool mvnc_end_pings(mvnc *m, unsigned timeout_ms)
{
    struct timespec t = clock_deadline(timeout_ms);
    bool quiet;

    pthread_mutex_lock(&m->lock);
    m->ending = true;
    pthread_cond_broadcast(&m->changed);
    while (m->pinging && m->ping_out &&
           !pthread_cond_timedwait(&m->changed, &m->lock, &t))
        ;
    quiet = !m->pinging || !m->ping_out;
    pthread_mutex_unlock(&m->lock);
    return quiet;
}

void mvnc_join_threads(mvnc *m)
{
    if (m->pinging)
        pthread_join(m->pinger, NULL);
    if (m->reading)
        pthread_join(m->reader, NULL);
    m->pinging = m->reading = false;
}
