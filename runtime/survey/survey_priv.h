/* What the survey's sessions (survey.c) and its questions share. */
#ifndef VPU_RUNTIME_SURVEY_SURVEY_PRIV_H
#define VPU_RUNTIME_SURVEY_SURVEY_PRIV_H

#include <pthread.h>

#include "runtime/link/mvnc_priv.h"
#include "runtime/survey/survey.h"

enum { SURVEY_MAX_PACKETS = 4096, SURVEY_MAX_TEXT = 1000 };
#define SURVEY_ANY UINT32_MAX

/* A packet that crossed the link. */
typedef struct {
    uint64_t ns;
    bool sent;
    xlink_header header;
    uint32_t word; /* the first of a payload; 0 when there is none */
} survey_packet;

/* The packets of a session, from its threads; the first ones, if there are too
 * many. */
typedef struct {
    xlink_watch me;
    const xlink_watch *next; /* or NULL */
    pthread_mutex_t lock;
    survey_packet *list;
    size_t n_packets;
    char text[SURVEY_MAX_TEXT + 1]; /* of the console */
    size_t n_text;
} survey_watch;

vpu_status survey_watch_start(survey_watch *w, const xlink_watch *next,
                              vpu_error *err);
void survey_watch_end(survey_watch *w);
void survey_watch_text(void *watch, const char *text, size_t n);
typedef enum {
    SURVEY_ASKED,    /* a request from here */
    SURVEY_ANSWERED, /* the stick's answer to one */
    SURVEY_RECEIVED  /* a request of the stick's own */
} survey_direction;

/* What a packet is looked for by; a stream or word of SURVEY_ANY is any. */
typedef struct {
    survey_direction direction;
    xlink_event event;
    uint32_t stream, word;
} survey_pattern;

static inline survey_pattern survey_on(survey_direction direction,
                                       xlink_event event, uint32_t stream)
{
    return (survey_pattern){direction, event, stream, SURVEY_ANY};
}

static inline survey_pattern survey_any(survey_direction direction,
                                        xlink_event event)
{
    return survey_on(direction, event, SURVEY_ANY);
}

/* The first packet at or behind `from` like that: its number, or SIZE_MAX. */
size_t survey_find(survey_watch *w, size_t from, survey_pattern like,
                   survey_packet *out);
size_t survey_packets(survey_watch *w);
double survey_ms(const survey_packet *from, const survey_packet *to);

typedef struct {
    const survey_config *config;
    survey *survey;
    arena *arena;
    transport *transport;
    mvnc *mvnc; /* of the session */
    survey_watch watch;
    usb_boot_record boot;
    char place[64]; /* of the booted stick */
    uint64_t deadline_ms;
} survey_state;

uint64_t survey_now_ms(void);
/* An answer; the first one stays. fmt: what was seen. */
void survey_see(survey_state *v, survey_id id, survey_verdict verdict,
                const char *fmt, ...) VPU_PRINTF(4, 5);
static inline survey_verdict survey_whether(bool as_assumed)
{
    return as_assumed ? SURVEY_AGREES : SURVEY_DIFFERS;
}
/* No answer, or none to be had; the first reason stays. */
void survey_miss(survey_state *v, survey_id id, survey_verdict verdict,
                 const char *fmt, ...) VPU_PRINTF(4, 5);
/* As survey_miss, of an error; the error again when the session cannot go on.
 */
vpu_status survey_failed(survey_state *v, survey_id id, vpu_status st,
                         const vpu_error *err);

/* usb.c: descriptors of the stick at a place, or the first unbooted. */
void survey_unbooted(survey_state *v);
void survey_booted(survey_state *v);

/* device.c: commands of the stick itself, streams. */
vpu_status survey_link(survey_state *v, vpu_error *err);
vpu_status survey_device(survey_state *v, vpu_error *err);
void survey_streams(survey_state *v); /* what packets of the session say */
vpu_status survey_odd(survey_state *v, vpu_error *err);
vpu_status survey_watchdog(survey_state *v, vpu_error *err);

/* graph.c: networks and blobs. */
vpu_status survey_graph(survey_state *v, vpu_error *err);
vpu_status survey_verify(survey_state *v, vpu_error *err);
vpu_status survey_allocate(survey_state *v, vpu_error *err);

#endif
