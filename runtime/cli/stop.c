/* The one place that knows kinds and exit statuses; see stop.h. */
#include "runtime/cli/stop.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cli/ending.h"

enum { BAD_INPUT = 2, OWN_BUG = 70 };

static const struct {
    vpu_status code;
    int status;
    const char *kind;
} kinds[] = {
    {VPU_OK, 0, NULL},
    {VPU_ERR_FAULT, 3, "kernel bug"},
    {VPU_ERR_UNDEFINED, 4, "undefined behaviour on the device"},
    {VPU_ERR_UNSUPPORTED, 5, "unsupported feature"},
    {VPU_ERR_UNTESTED, 6, "untested part of the model"},
    {VPU_ERR_LIMIT, 7, "limit"},
    {VPU_ERR_INTERNAL, OWN_BUG, "our own bug"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

int stop_status(vpu_status code)
{
    for (int k = 0; k < N_KINDS; k++)
        if (kinds[k].code == code)
            return kinds[k].status;
    return BAD_INPUT;
}

const char *stop_kind(vpu_status code)
{
    for (int k = 0; k < N_KINDS; k++)
        if (kinds[k].code == code)
            return kinds[k].kind;
    return NULL;
}

/* Only what a signal handler may do. */
static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void on_crash(int sig)
{
    put("vpu: our own bug: ended by ");
    put(sig == SIGSEGV   ? "SIGSEGV"
        : sig == SIGBUS  ? "SIGBUS"
        : sig == SIGFPE  ? "SIGFPE"
        : sig == SIGILL  ? "SIGILL"
        : sig == SIGABRT ? "SIGABRT"
                         : "a signal");
    put("; please report the command line and the files it reads\n");
    ending_clean_up();
    _exit(OWN_BUG);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_CRASHES = sizeof crashes / sizeof *crashes };
#endif

void stop_watch_crashes(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    static char stack[64 << 10]; /* a stack overflow has none left */
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction sa;

    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_crash;
    sa.sa_flags = SA_ONSTACK | (int)SA_RESETHAND;
    sigemptyset(&sa.sa_mask);
    sigaltstack(&alternative, NULL);
    for (int k = 0; k < N_CRASHES; k++)
        sigaction(crashes[k], &sa, NULL);
#else
    (void)on_crash;
#endif
}

void stop_leave_crashes(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    for (int k = 0; k < N_CRASHES; k++)
        signal(crashes[k], SIG_DFL);
#endif
}
