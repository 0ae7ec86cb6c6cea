/* Looks for a free port of the wanted speed in vhci_hcd's status file and
 * gives it one end of a pair of sockets. */
#include "runtime/stick/vhci.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/stick/usbip_wire.h"

#define VHCI "/sys/devices/platform/vhci_hcd.0/"

enum { FREE = 4, MAX_PORTS = 64, DEVID = 0x10002 };

/* Free ports of that speed, the wanted one first. */
static int free_ports(bool super, int wanted, int ports[MAX_PORTS])
{
    FILE *f = fopen(VHCI "status", "re");
    char line[256], hub[8];
    int n = 0, port, status;

    if (!f)
        return -1;
    while (n < MAX_PORTS && fgets(line, sizeof line, f))
        if (sscanf(line, "%7s %d %d", hub, &port, &status) == 3 &&
            status == FREE && !strcmp(hub, super ? "ss" : "hs")) {
            ports[n++] = port;
            if (port == wanted) {
                ports[n - 1] = ports[0];
                ports[0] = port;
            }
        }
    fclose(f);
    return n;
}

static bool write_attach(int port, int fd, bool super)
{
    char text[64];
    int attach = open(VHCI "attach", O_WRONLY | O_CLOEXEC);
    int n = snprintf(text, sizeof text, "%d %d %d %d", port, fd, DEVID,
                     super ? USBIP_SPEED_SUPER : USBIP_SPEED_HIGH);
    bool ok;
    int saved;

    if (attach < 0)
        return false;
    ok = write(attach, text, (size_t)n) == n;
    saved = errno;
    close(attach);
    errno = saved;
    return ok;
}

static vpu_status unavailable(vpu_error *err)
{
    if (errno == EACCES || errno == EPERM)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       VHCI "attach: %s; plugging in needs root",
                       strerror(errno));
    return err_set(err, VPU_ERR_UNSUPPORTED,
                   VHCI "attach: %s; this kernel has no vhci-hcd loaded "
                        "(modprobe vhci-hcd, as root)",
                   strerror(errno));
}

vpu_status vhci_attach(bool super, int *port, int *fd, vpu_error *err)
{
    int ports[MAX_PORTS], pair[2];
    int n = free_ports(super, *port, ports);

    if (n < 0)
        return unavailable(err);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return err_set(err, VPU_ERR_IO, "socket: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        if (write_attach(ports[i], pair[1], super)) {
            close(pair[1]); /* the kernel has its own hold of it */
            *port = ports[i];
            *fd = pair[0];
            return VPU_OK;
        }
        if (errno != EBUSY) { /* else somebody was faster: the next one */
            unavailable(err);
            close(pair[0]);
            close(pair[1]);
            return VPU_ERR_UNSUPPORTED;
        }
    }
    close(pair[0]);
    close(pair[1]);
    return err_set(err, VPU_ERR_LIMIT, VHCI "status: all %s ports are taken",
                   super ? "SuperSpeed" : "high-speed");
}
