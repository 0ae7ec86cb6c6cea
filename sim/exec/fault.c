/* Signal handling for kernels that leave their memory. */
#include "sim/exec/fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static _Thread_local fault_scope *armed;
static struct sigaction old_segv, old_bus;
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

static void on_signal(int sig, siginfo_t *info, void *context)
{
    fault_scope *s = armed;
    uint64_t at;
    struct sigaction *old = sig == SIGSEGV ? &old_segv : &old_bus;

    if (s && info->si_code > 0) { /* not sent by somebody */
        at = (uint64_t)((const uint8_t *)info->si_addr - s->window);
        if (at < s->reserved) {
            s->kind = FAULT_ACCESS;
            s->address = (uint32_t)at;
            s->write = was_write(context);
            siglongjmp(s->env, 1);
        }
    }
    /* Not a kernel's: give it to whoever was here before, by returning to the
     * faulting instruction with their handler in place. */
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
    }
    pthread_mutex_unlock(&lock);
}

void fault_uninstall(void)
{
    pthread_mutex_lock(&lock);
    if (!--users) {
        sigaction(SIGSEGV, &old_segv, NULL);
        sigaction(SIGBUS, &old_bus, NULL);
    }
    pthread_mutex_unlock(&lock);
}

void fault_arm(fault_scope *s)
{
    armed = s;
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
