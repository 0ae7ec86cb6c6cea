/* Signal handling for kernels that leave their memory. */
#include "sim/exec/fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static _Thread_local fault_scope *armed;
static struct sigaction old_segv, old_bus, old_urg;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;

static bool was_write(void *context)
{
#if defined(__x86_64__)
    /* Bit 1 of the page fault's error code. */
    const ucontext_t *u = context;

    return u->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)context;
    return false;
#endif
}

/* Nobody sends it for other reasons than out-of-band data, and who does not
 * know it ignores it. */
enum { INTERRUPT = SIGURG };

static bool is_in_code(const fault_scope *s, void *context)
{
#if defined(__x86_64__)
    const ucontext_t *u = context;
    uint64_t at = (uint64_t)u->uc_mcontext.gregs[REG_RIP];

    return s->code && at - (uint64_t)s->code < s->code_bytes;
#else
    (void)s;
    (void)context;
    return false;
#endif
}

/* To the handler that was there before ours; false: there was none. */
static bool pass_on(const struct sigaction *old, int sig, siginfo_t *info,
                    void *context)
{
    if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(sig, info, context);
    else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
        old->sa_handler(sig);
    else
        return false;
    return true;
}

static void on_interrupt(int sig, siginfo_t *info, void *context)
{
    fault_scope *s = armed;

    if (s && atomic_load(&s->interrupted)) {
        if (!is_in_code(s, context))
            return; /* in a hook: there will be another */
        s->kind = FAULT_LIMIT;
        siglongjmp(s->env, 1);
    }
    pass_on(&old_urg, sig, info, context);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    const ucontext_t *u = context;
    fault_scope *s = armed;
    uint64_t at;
    struct sigaction *old = sig == SIGSEGV ? &old_segv : &old_bus;

    if (s && info->si_code > 0) { /* not sent by somebody */
        at = (uint64_t)((const uint8_t *)info->si_addr - s->window);
        if (at < s->reserved) {
            s->kind = FAULT_ACCESS;
            s->address = (uint32_t)at;
            s->write = was_write(context);
            /* The scope keeps no mask. We block nothing, but who calls us may:
             * ThreadSanitizer blocks all, and the next fault would kill. */
            pthread_sigmask(SIG_SETMASK, &u->uc_sigmask, NULL);
            siglongjmp(s->env, 1);
        }
    }
    /* Not a kernel's. Whoever was here before may mend it and return: our
     * handler stays, for other threads run kernels. */
    if (pass_on(old, sig, info, context))
        return;
    /* Nobody: it ends the process when it comes again. */
    sigaction(sig, old, NULL);
    if (info->si_code <= 0)
        raise(sig);
}

void fault_install(void)
{
    struct sigaction sa;

    pthread_mutex_lock(&lock);
    if (!users++) {
        memset(&sa, 0, sizeof sa);
        sa.sa_sigaction = on_signal;
        sa.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigemptyset(&sa.sa_mask);
        sigaction(SIGSEGV, &sa, &old_segv);
        sigaction(SIGBUS, &sa, &old_bus);
        sa.sa_sigaction = on_interrupt;
        sa.sa_flags |= SA_RESTART;
        sigaction(INTERRUPT, &sa, &old_urg);
    }
    pthread_mutex_unlock(&lock);
}

/* Not where somebody else has put a handler in place of ours meanwhile. */
static void put_back(int sig, void (*ours)(int, siginfo_t *, void *),
                     const struct sigaction *old)
{
    struct sigaction now;

    if (!sigaction(sig, NULL, &now) && now.sa_flags & SA_SIGINFO &&
        now.sa_sigaction == ours)
        sigaction(sig, old, NULL);
}

void fault_uninstall(void)
{
    pthread_mutex_lock(&lock);
    if (!--users) {
        put_back(SIGSEGV, on_signal, &old_segv);
        put_back(SIGBUS, on_signal, &old_bus);
        put_back(INTERRUPT, on_interrupt, &old_urg);
    }
    pthread_mutex_unlock(&lock);
}

void fault_arm(fault_scope *s)
{
    if (armed)
        atomic_store(&armed->armed, false);
    if (s) {
        s->thread = pthread_self();
        atomic_store(&s->armed, true);
    }
    armed = s;
}

void fault_interrupt(fault_scope *s)
{
    atomic_store(&s->interrupted, true);
    if (atomic_load(&s->armed))
        pthread_kill(s->thread, INTERRUPT);
}

fault_scope *fault_armed(void)
{
    return armed;
}

void fault_raise(fault_kind kind, uint32_t line)
{
    fault_scope *s = armed;

    if (!s)
        abort();
    s->kind = kind;
    s->line = line;
    siglongjmp(s->env, 1);
}
