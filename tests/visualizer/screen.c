/* Starts Xvfb and the program, sends events by xdotool, and reads the screen.
 */
#include "tests/visualizer/screen.h"

#include <check.h>
#include <png.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the display --------------------------------------------------------- */

void screen_open(screen *s, const char *dir)
{
    char size[32], fd[16], number[12] = "";
    int ends[2];
    size_t n = 0;

    snprintf(s->dir, sizeof s->dir, "%s", dir);
    snprintf(size, sizeof size, "%dx%dx24", SCREEN_W, SCREEN_H);
    ck_assert(!pipe(ends));
    snprintf(fd, sizeof fd, "%d", ends[1]);
    s->xvfb = fork();
    ck_assert_int_ge(s->xvfb, 0);
    if (!s->xvfb) {
        close(ends[0]);
        ck_assert(freopen("/dev/null", "w", stderr));
        execlp("Xvfb", "Xvfb", "-displayfd", fd, "-screen", "0", size, "-fbdir",
               s->dir, "-nolisten", "tcp", "-noreset", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (n + 1 < sizeof number && read(ends[0], number + n, 1) == 1 &&
           number[n] != '\n')
        n++;
    close(ends[0]);
    number[n] = 0;
    ck_assert_msg(n, "Xvfb does not start (make deps)");
    snprintf(s->display, sizeof s->display, ":%s", number);
    ck_assert(!setenv("DISPLAY", s->display, 1));
}

void screen_close(screen *s)
{
    kill(s->xvfb, SIGTERM);
    waitpid(s->xvfb, NULL, 0);
}

void screen_do(screen *s, const char *words)
{
    char *argv[40] = {"xdotool"}, copy[512];
    int n = 1, status = -1;
    pid_t pid;

    (void)s;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *w = strtok(copy, " "); w && n < 39; w = strtok(NULL, " "))
        argv[n++] = w;
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execvp("xdotool", argv);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(!status, "xdotool %s: status %d", words, status);
}

void screen_focus(screen *s, const char *title)
{
    char words[128];

    snprintf(words, sizeof words,
             "search --sync --onlyvisible --name ^%s$ windowmove 0 0 "
             "windowfocus --sync sleep 0.3", /* SDL believes it after 0.2 s */
             title);
    screen_do(s, words);
}

/* --- what is to be seen -------------------------------------------------- */

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* Averages 32-bit pixels, blue first. */
static void shrink(const uint8_t *px, size_t stride, small_picture *out)
{
    for (int y = 0; y < SMALL_H; y++)
        for (int x = 0; x < SMALL_W; x++)
            for (int k = 0; k < 3; k++) {
                unsigned sum = 0;

                for (int i = 0; i < SCREEN_CELL * SCREEN_CELL; i++)
                    sum += px[(size_t)(y * SCREEN_CELL + i / SCREEN_CELL) *
                                  stride +
                              (size_t)(x * SCREEN_CELL + i % SCREEN_CELL) * 4 +
                              (size_t)(2 - k)];
                out->rgb[y][x][k] =
                    (uint8_t)(sum / (SCREEN_CELL * SCREEN_CELL));
            }
}

/* Xvfb keeps its screen as an XWD file: a head of big-endian words, colours,
 * lines of pixels. */
void screen_look(const screen *s, small_picture *out)
{
    enum {
        HEADER_SIZE = 0,
        WIDTH = 4,
        HEIGHT = 5,
        BITS = 11,
        LINE = 12,
        COLORS = 19
    };
    char path[96];
    uint8_t head[100], *px;
    size_t stride, skip;
    FILE *f;

    snprintf(path, sizeof path, "%s/Xvfb_screen0", s->dir);
    ck_assert((f = fopen(path, "rb")));
    ck_assert_uint_eq(fread(head, 1, sizeof head, f), sizeof head);
    ck_assert_uint_eq(big_endian(head + 4 * WIDTH), SCREEN_W);
    ck_assert_uint_eq(big_endian(head + 4 * HEIGHT), SCREEN_H);
    ck_assert_uint_eq(big_endian(head + 4 * BITS), 32);
    stride = big_endian(head + 4 * LINE);
    skip = big_endian(head + 4 * HEADER_SIZE) +
           12 * (size_t)big_endian(head + 4 * COLORS);
    ck_assert((px = malloc(stride * SCREEN_H)));
    ck_assert(!fseek(f, (long)skip, SEEK_SET));
    ck_assert_uint_eq(fread(px, stride, SCREEN_H, f), SCREEN_H);
    fclose(f);
    shrink(px, stride, out);
    free(px);
}

bool small_same(const small_picture *a, const small_picture *b)
{
    enum { FAR = 48 };
    uint64_t sum = 0, far = 0;

    for (int y = 0; y < SMALL_H; y++)
        for (int x = 0; x < SMALL_W; x++) {
            int most = 0;

            for (int k = 0; k < 3; k++) {
                int d = abs(a->rgb[y][x][k] - b->rgb[y][x][k]);

                most = d > most ? d : most;
                sum += (uint64_t)d;
            }
            far += most > FAR;
        }
    /* 0.6 % of the cells, and 1.5 of 255 on average. */
    return far * 1000 < 6ull * SMALL_W * SMALL_H &&
           sum * 2 < 3ull * 3 * SMALL_W * SMALL_H;
}

bool small_load(const char *path, small_picture *out)
{
    png_image image = {.version = PNG_IMAGE_VERSION};

    if (!png_image_begin_read_from_file(&image, path))
        return false;
    image.format = PNG_FORMAT_RGB;
    if (image.width != SMALL_W || image.height != SMALL_H) {
        png_image_free(&image);
        return false;
    }
    return png_image_finish_read(&image, NULL, out->rgb, 0, NULL);
}

void small_save(const char *path, const small_picture *p)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = SMALL_W,
                       .height = SMALL_H,
                       .format = PNG_FORMAT_RGB};

    ck_assert_msg(png_image_write_to_file(&image, path, 0, p->rgb, 0, NULL),
                  "%s: %s", path, image.message);
}
