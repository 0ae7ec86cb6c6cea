/* Any bytes as a trace to copy, all of it and a part: the writer asserts what
 * its callers must keep to. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/trace/copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    trc_config cfg = {.level = TRC_FULL, .bare = true};
    int fd = memfd_create("trace", 0);
    char path[64];

    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int part = 0; part < 2; part++) {
        trc_stretch s = {.all = !part,
                         .from = {n & 255, TRC_TIME_NS},
                         .to = {(n & 255) + 1000, TRC_TIME_NS}};
        trc_copied done;
        trc_writer *w;
        vpu_error err;

        if (trc_writer_create(&cfg, &w, &err))
            break;
        if (trc_copy(path, &s, w, &done, &err))
            trc_writer_abandon(w);
        else
            trc_writer_commit(w, &err);
    }
    close(fd);
    return 0;
}
