/* The packets of a survey's session. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/word.h"
#include "runtime/survey/survey_priv.h"

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t survey_now_ms(void)
{
    return (uint64_t)clock_ms();
}

static void seen(void *user, bool sent, const xlink_header *h,
                 const void *payload, uint32_t n)
{
    survey_watch *w = user;

    pthread_mutex_lock(&w->lock);
    if (w->n_packets < SURVEY_MAX_PACKETS)
        w->list[w->n_packets++] = (survey_packet){
            now_ns(), sent, *h, payload && n >= 4 ? word_get(payload) : 0};
    pthread_mutex_unlock(&w->lock);
    if (w->next)
        w->next->seen(w->next->user, sent, h, payload, n);
}

vpu_status survey_watch_start(survey_watch *w, const xlink_watch *next,
                              vpu_error *err)
{
    *w = (survey_watch){.me = {seen, w}, .next = next};
    w->list = calloc(SURVEY_MAX_PACKETS, sizeof *w->list);
    if (!w->list)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %d packets",
                       SURVEY_MAX_PACKETS);
    pthread_mutex_init(&w->lock, NULL);
    return VPU_OK;
}

void survey_watch_end(survey_watch *w)
{
    if (w->list)
        pthread_mutex_destroy(&w->lock);
    free(w->list);
    *w = (survey_watch){0};
}

void survey_watch_text(void *watch, const char *text, size_t n)
{
    survey_watch *w = watch;

    pthread_mutex_lock(&w->lock);
    if (n > SURVEY_MAX_TEXT - w->n_text)
        n = SURVEY_MAX_TEXT - w->n_text;
    memcpy(w->text + w->n_text, text, n);
    w->n_text += n;
    pthread_mutex_unlock(&w->lock);
}

static bool matches(const survey_packet *p, const survey_pattern *like)
{
    return p->sent == (like->direction == SURVEY_ASKED) &&
           p->header.response == (like->direction == SURVEY_ANSWERED) &&
           p->header.event == like->event &&
           (like->stream == SURVEY_ANY || p->header.stream == like->stream) &&
           (like->word == SURVEY_ANY || p->word == like->word);
}

size_t survey_find(survey_watch *w, size_t from, survey_pattern like,
                   survey_packet *out)
{
    size_t at = SIZE_MAX;

    if (from == SIZE_MAX)
        return from;
    pthread_mutex_lock(&w->lock);
    for (size_t i = from; i < w->n_packets && at == SIZE_MAX; i++)
        if (matches(&w->list[i], &like))
            at = i;
    if (at != SIZE_MAX)
        *out = w->list[at];
    pthread_mutex_unlock(&w->lock);
    return at;
}

size_t survey_packets(survey_watch *w)
{
    size_t n;

    pthread_mutex_lock(&w->lock);
    n = w->n_packets;
    pthread_mutex_unlock(&w->lock);
    return n;
}

double survey_ms(const survey_packet *from, const survey_packet *to)
{
    return ((double)to->ns - (double)from->ns) * 1e-6;
}
