/* Signals, standard streams and the last word; see ending.h. */
#include "runtime/cli/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/temp.h"
#include "runtime/cli/cli.h"

volatile sig_atomic_t cli_serving;
atomic_bool cli_stop;
atomic_int cli_sessions;

/* --- signals ------------------------------------------------------------- */

/* Those that end a program unless it does something about it, from outside. */
static const int ends[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGALRM,   SIGTERM,
                           SIGUSR1, SIGUSR2, SIGXCPU,  SIGVTALRM, SIGPROF,
                           SIGIO,   SIGPWR,  SIGSTKFLT};
/* Those that come with an error of write, which is enough. */
static const int writes[] = {SIGPIPE, SIGXFSZ};
enum {
    N_ENDS = sizeof ends / sizeof *ends,
    N_WRITES = sizeof writes / sizeof *writes
};

static volatile sig_atomic_t held; /* the signal a session took */

static pid_t owner; /* not a child that has yet to become another program */

void ending_clean_up(void)
{
    if (getpid() != owner)
        return;
    child_end_all(); /* they write into our folders */
    temp_remove_all();
}

void ending_begin_anew(void)
{
    child_disown();
    temp_disown();
    owner = getpid();
}

enum { MAX_DOING = 200 };
static char doing[2][MAX_DOING]; /* one is read while the other is written */
static volatile sig_atomic_t doing_now = -1;

void ending_doing(const char *text)
{
    int next = doing_now == 0;

    snprintf(doing[next], MAX_DOING, "\rvpu: interrupted: %s\n", text);
    doing_now = next;
}

/* Async-signal-safe. */
static void tell_doing(void)
{
    const char *text = doing_now < 0 ? "" : doing[doing_now];
    size_t skip = *text && !isatty(2); /* a terminal may show progress there */

    if (getpid() == owner && *text &&
        write(2, text + skip, strlen(text + skip)) < 0)
        return; /* nobody is there to be told */
}

void ending_die_of(int sig)
{
    tell_doing();
    ending_clean_up();
    signal(sig, SIG_DFL);
    raise(sig);
}

static _Atomic(vpu_context *) contexts[2];

void ending_interrupts(vpu_context *c)
{
    atomic_store(&contexts[atomic_load(&contexts[0]) != NULL], c);
}

void ending_forgets(const vpu_context *c)
{
    for (int i = 0; i < 2; i++)
        if (atomic_load(&contexts[i]) == c)
            atomic_store(&contexts[i], NULL);
}

/* Async-signal-safe. */
static bool sessions_are_open(void)
{
    bool any = atomic_load(&cli_sessions) || cli_serving;

    for (int i = 0; i < 2; i++)
        any |= vpu_context_interrupt(atomic_load(&contexts[i])) > 0;
    return any;
}

/* While a stick is open the first one only ends its session, which leaves it
 * clean; ending_status ends the program then. */
static void on_signal(int sig)
{
    if (sessions_are_open() && !atomic_exchange(&cli_stop, true)) {
        held = sig;
        return;
    }
    ending_die_of(sig);
}

void ending_handle(int sig, void (*handler)(int))
{
    struct sigaction sa;

    if (sigaction(sig, NULL, &sa) || sa.sa_handler == SIG_IGN)
        return; /* nohup */
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = handler;
    sa.sa_flags = SA_RESTART;
    sigfillset(&sa.sa_mask);
    sigaction(sig, &sa, NULL);
}

void ending_forget(void)
{
    for (int i = 0; i < N_WRITES; i++)
        signal(writes[i], SIG_DFL);
}

/* For reading where we write and the other way round: errors, not silence. */
static void open_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR) < 0)
            _exit(CLI_ERROR);
}

void ending_watch(void)
{
    owner = getpid();
    open_streams();
    atexit(ending_clean_up); /* out of memory, far below */
    for (int i = 0; i < N_ENDS; i++)
        ending_handle(ends[i], on_signal);
    for (int i = 0; i < N_WRITES; i++)
        ending_handle(writes[i], SIG_IGN);
}

/* --- standard output ----------------------------------------------------- */

static void complain(int why)
{
    cli_progress_done();
    fprintf(stderr, "vpu: standard output: %s\n",
            why ? strerror(why) : "not all of it could be written");
}

void ending_print(const void *text, size_t n)
{
    errno = 0;
    if (!ferror(stdout) && fwrite(text, 1, n, stdout) == n)
        return;
    complain(errno);
    ending_clean_up();
    _exit(CLI_ERROR);
}

/* What is still in the buffer may fail only now; on some file systems only the
 * last close tells. */
static bool close_output(int *why)
{
    bool bad = ferror(stdout);

    errno = 0;
    if (fclose(stdout))
        bad = true;
    *why = errno;
    return !bad;
}

int ending_status(int status)
{
    int why;

    if (!close_output(&why)) {
        complain(why);
        if (status < CLI_ERROR)
            status = CLI_ERROR;
    }
    if (held && !cli_serving)
        ending_die_of(held);
    return status;
}
