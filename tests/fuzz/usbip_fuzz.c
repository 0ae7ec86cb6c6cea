/* Any bytes from whoever imports the virtual stick: it answers, or lets go. The
 * first byte says whether it is booted. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/stick/usbip_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    enum { ROOM = 8 << 20 };
    usbip_faults faults = USBIP_NO_FAULTS;
    gadget g = {.serial = "1234"};
    usbip_session *s;
    int pair[2], room = ROOM;

    if (!n || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 0;
    g.booted = data[0] & 1;
    g.super = data[0] & 2;
    /* All of it fits, and so do most answers; what does not ends the session
     * like any peer that does not read. */
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    if (send(pair[0], data + 1, n - 1, MSG_DONTWAIT) < 0 ||
        shutdown(pair[0], SHUT_WR))
        abort();
    s = usbip_session_new(pair[1], &g, &faults);
    if (s)
        usbip_session_run(s, NULL, NULL, NULL);
    usbip_session_free(s);
    close(pair[0]);
    return 0;
}
