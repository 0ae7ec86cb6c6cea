/* Starting gdb, and knowing that it is there. */
#include "runtime/cli/gdb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "runtime/cli/ending.h"

__asm__(".pushsection .rodata\n"
        "vpu_gdb_frames:\n"
        ".ascii \"python \"\n"
        ".incbin \"runtime/cli/gdb_frames.py\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char vpu_gdb_frames[];

bool gdb_attached(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long tracer = 0;

    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "TracerPid:", 10))
            tracer = strtol(line + 10, NULL, 10);
    if (f)
        fclose(f);
    return tracer != 0;
}

/* What a session needs: breakpoints in code that is not there yet; no
 * questions to servers about the libraries' sources; and C's rules, as gdb 13's
 * for OpenCL take 0 && 1 for true, also in conditions. A gdb without Python
 * says so and shows the simulator's frames, too. */
static const char *const settings[] = {
    "gdb",    "-q",
    "-iex",   "set breakpoint pending on",
    "-iex",   "set debuginfod enabled off",
    "-iex",   "set language c",
    "-iex",   vpu_gdb_frames,
    "--args",
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

vpu_status gdb_become(int argc, char **argv, vpu_error *err)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    arena *a = arena_create(0);
    char **words = arena_array(a, char *, (size_t)argc + N_SETTINGS + 2);
    size_t k = 0;
    int why;

    if (n < 0) {
        arena_destroy(a);
        return err_set(err, VPU_ERR_IO, "/proc/self/exe: %s", strerror(errno));
    }
    self[n] = 0;
    for (; k < N_SETTINGS; k++)
        words[k] = (char *)settings[k];
    words[k++] = self;
    for (int i = 0; i < argc; i++)
        words[k++] = argv[i];
    fflush(NULL);
    ending_forget();
    execvp(words[0], words);
    why = errno;
    arena_destroy(a);
    return why == ENOENT
               ? err_set(err, VPU_ERR_IO,
                         "--gdb: gdb is not installed; expected it on the "
                         "PATH (Debian, Ubuntu: apt-get install gdb)")
               : err_set(err, VPU_ERR_IO, "gdb: %s", strerror(why));
}

bool gdb_parse_break_at(const char *text, sim_debug *out)
{
    arena *a = arena_create(0);
    char *rest = arena_strdup(a, text), *word;
    bool ok = !strncmp(rest, "gid=", 4);
    unsigned long long v;
    int n = 0;

    memset(out->at, 0, sizeof out->at);
    for (rest += ok ? 4 : 0; ok && (word = strsep(&rest, ",")); n++) {
        ok = n < 3 && str_to_u64(word, &v) && v <= UINT32_MAX;
        if (ok)
            out->at[n] = (uint32_t)v;
    }
    out->stop = ok;
    arena_destroy(a);
    return ok;
}
