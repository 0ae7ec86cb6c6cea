/* Calling vendor.py. */
#include "runtime/openvino/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"

__asm__(".pushsection .rodata\n"
        "vpu_openvino_script:\n"
        ".incbin \"runtime/openvino/vendor.py\"\n"
        "vpu_openvino_script_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char vpu_openvino_script[], vpu_openvino_script_end[];

#define INSTALL                                                          \
    "; networks are compiled by the vendor's own package: in a virtual " \
    "environment of Python 3.6 to 3.9, pip install openvino==2021.4.2, " \
    "then --openvino FOLDER or VPU_OPENVINO=FOLDER (docs/networks.md)"

static bool is_folder(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

vpu_status openvino_find(const openvino_config *c, arena *a,
                         openvino_python *out, vpu_error *err)
{
    const char *place = c->package ? c->package : getenv("VPU_OPENVINO");
    const char *inside;

    *out = (openvino_python){"python3", NULL};
    if (!place || !*place)
        return VPU_OK;
    inside = file_join(a, place, "bin/python");
    if (is_folder(place) && !access(inside, X_OK))
        out->python = inside;
    else if (is_folder(place))
        out->modules = place;
    else if (!access(place, X_OK))
        out->python = place;
    else
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: no virtual environment, no folder of packages, no "
                       "Python" INSTALL,
                       place);
    if (out->modules && !is_folder(file_join(a, place, "openvino")))
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s has no bin/python and no package openvino" INSTALL,
                       place);
    return VPU_OK;
}

/* The words of the process: the script is read from a file in the folder. */
static char **words_of(const openvino_python *p, const char *script,
                       const char *const *words, uint32_t n, arena *a)
{
    char **argv = arena_array(a, char *, n + 4);
    uint32_t k = 0;

    argv[k++] = arena_strdup(a, p->python);
    argv[k++] = arena_strdup(a, "-B"); /* leaves nothing beside the script */
    argv[k++] = arena_strdup(a, script);
    for (uint32_t i = 0; i < n; i++)
        argv[k++] = arena_strdup(a, words[i]);
    return argv;
}

static pid_t start(const openvino_python *p, char *const *argv,
                   const char *said)
{
    pid_t parent = getpid(), pid = fork();

    if (pid)
        return pid;
    child_default_signals();
    child_follow(parent);
    {
        int null = open("/dev/null", O_RDWR);
        int to = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        dup2(null, 0);
        dup2(null, 1);
        dup2(to < 0 ? null : to, 2);
    }
    if (p->modules)
        setenv("PYTHONPATH", p->modules, 1);
    execvp(argv[0], argv);
    _exit(127);
}

/* Compiling a large network takes a minute or two. */
static const child_limits limits = {.seconds = 1800};

static vpu_status outcome(int status, const char *python, const char *said,
                          arena *a, vpu_error *err)
{
    char *text = NULL;
    size_t n;

    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return VPU_OK;
    if (file_read(said, 1 << 20, a, &text, &n, NULL))
        text = NULL;
    for (char *p = text; p && *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, VPU_ERR_UNSUPPORTED, "no program %s" INSTALL,
                       python);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
        return err_set(err, VPU_ERR_UNSUPPORTED, "%.600s" INSTALL,
                       text ? text : "no package openvino");
    if (WIFSIGNALED(status))
        return err_set(err, VPU_ERR_COMPILE,
                       "the vendor's package ended by signal %d",
                       WTERMSIG(status));
    return err_set(err, VPU_ERR_COMPILE, "%.1500s",
                   text && *text ? text : "the vendor's package failed");
}

vpu_status openvino_call(const openvino_python *p, const char *const *words,
                         uint32_t n_words, const char *folder, arena *a,
                         vpu_error *err)
{
    const char *script = file_join(a, folder, "vpusim_vendor.py");
    const char *said = file_join(a, folder, "said");
    char **argv = words_of(p, script, words, n_words, a);
    int status = 0;
    child_end end;
    pid_t pid;
    vpu_status st = file_write(
        script, vpu_openvino_script,
        (size_t)(vpu_openvino_script_end - vpu_openvino_script), err);

    if (st)
        return st;
    pid = start(p, argv, said);
    if (pid < 0)
        return err_set(err, VPU_ERR_IO, "no process for %s: %s", p->python,
                       strerror(errno));
    child_add(pid, false);
    end = child_wait(pid, &limits, NULL, &status);
    child_forget(pid);
    if (end == CHILD_TIME || end == CHILD_IDLE)
        return err_set(err, VPU_ERR_LIMIT, "the vendor's package %s",
                       end == CHILD_TIME
                           ? "took more than half an hour"
                           : "did nothing for some time and was stopped");
    if (end == CHILD_LOST)
        return err_set(err, VPU_ERR_IO, "waitpid: %s", strerror(errno));
    return outcome(status, p->python, said, a, err);
}
