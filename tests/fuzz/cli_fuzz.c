/* Any words as a command line, in an empty folder and in a child: options are
 * read, then what they name is not there. Words are separated by NULs or line
 * ends. */
#define main vpu_main
#include "runtime/cli/main.c"
#undef main

#include "tests/fuzz/fuzz_child.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { MAX_WORDS = 24 };

static const char *folder;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    folder = fuzz_folder();
    if (!freopen("/dev/null", "r", stdin))
        abort();
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    setenv("XDG_CACHE_HOME", "cache", 1);
    return 0;
}

/* Nothing outside the folder, no hardware of anybody's. */
static bool harmless(const char *word)
{
    static const char *const out[] = {"/", "usb", "reset", "devices",
                                      "firmware"};

    for (size_t k = 0; k < sizeof out / sizeof *out; k++)
        if (strstr(word, out[k]))
            return false;
    return true;
}

static void run(const uint8_t *data, size_t n)
{
    char *argv[MAX_WORDS + 2] = {"vpu"};
    char *text = malloc(n + 1);
    int argc = 1;

    memcpy(text, data, n);
    text[n] = 0;
    for (size_t at = 0; at < n && argc <= MAX_WORDS;
         at += strlen(text + at) + 1) {
        text[at + strcspn(text + at, "\n")] = 0;
        if (!harmless(text + at))
            return;
        argv[argc++] = text + at;
    }
    if (chdir(folder))
        abort();
    dispatch(argc, argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_child(run, data, n, 500);
    return 0;
}
