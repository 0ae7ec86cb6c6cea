/* Asks a stick the questions of survey.def, in a few sessions, each of which
 * boots and resets it. Where a session fails, its questions get the reason as
 * their result, and earlier answers stay. */
#ifndef VPU_RUNTIME_SURVEY_SURVEY_H
#define VPU_RUNTIME_SURVEY_SURVEY_H

#include "runtime/link/xlink.h"
#include "runtime/usb/device.h"

typedef enum {
#define SURVEY(session, id, mark, question, assumed) SURVEY_##id,
#include "runtime/survey/survey.def"
    SURVEY_N
} survey_id;

typedef enum {
    SURVEY_NO_ANSWER,      /* why says */
    SURVEY_NOT_APPLICABLE, /* why says */
    SURVEY_NOTED,          /* nothing was assumed, or nothing that decides */
    SURVEY_AGREES,
    SURVEY_DIFFERS
} survey_verdict;

typedef struct {
    const char *id, *session, *mark, *question, *assumed; /* static */
    survey_verdict verdict;
    char *seen; /* NULL: nothing */
    char *why;  /* NULL: nothing to say */
} survey_entry;

typedef struct {
    survey_entry entries[SURVEY_N];
    char stick[96]; /* its place, or address */
    char firmware[64];
} survey;

typedef struct {
    const char *device; /* place "1-1.4", "" = first; or a socket's address */
    bool is_virtual;    /* the latter */
    xlink_layout layout;
    const char *firmware; /* to boot with; or NULL */
    bool take_booted;
    unsigned timeout_s;  /* for everything; what has begun is ended */
    unsigned watchdog_s; /* to wait for the watchdog; 0 = do not ask */
    const log_sink *log;
    const atomic_bool *stop;  /* or NULL */
    const xlink_watch *watch; /* of every packet, too; or NULL */
} survey_config;

/* Everything in a. An error means that no session could be opened, or that
 * *stop was set; *out is set all the same.
 *
 * Errors of usb_connect, transport_connect, mvnc_open; VPU_ERR_IO: stop */
vpu_status survey_run(const survey_config *c, arena *a, survey *out,
                      vpu_error *err);

const char *survey_verdict_name(survey_verdict v); /* "agrees" */
uint32_t survey_count(const survey *s, survey_verdict v);

#endif
