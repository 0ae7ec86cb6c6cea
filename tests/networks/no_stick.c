/* Preloaded, a host finds no stick at once: the vendor's plug-in searches the
 * bus for five seconds without a pause before it gives up, with a lock that
 * other processes wait for. Its blob is in the cache folder by then. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Each look at the bus takes a second on this clock. */
static _Atomic int64_t passed_s;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    int status = (int)syscall(SYS_clock_gettime, clock, ts);

    ts->tv_sec += passed_s;
    return status;
}

int flock(int fd, int operation)
{
    (void)fd, (void)operation;
    return 0;
}

/* In place of libusb. */

int libusb_init(void **context);
void libusb_exit(void *context);
ssize_t libusb_get_device_list(void *context, void ***list);
void libusb_free_device_list(void **list, int unref);

int libusb_init(void **context)
{
    if (context)
        *context = &passed_s;
    return 0;
}

void libusb_exit(void *context)
{
    (void)context;
}

ssize_t libusb_get_device_list(void *context, void ***list)
{
    (void)context;
    *list = calloc(1, sizeof **list);
    passed_s++;
    return 0;
}

void libusb_free_device_list(void **list, int unref)
{
    (void)unref;
    free(list);
}
