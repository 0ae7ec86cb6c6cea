/* A display without a screen (Xvfb), a program on it, real key and mouse events
 * (xdotool), and what is to be seen, compared with reference pictures.
 *
 * Pictures are averaged over 4 x 4 pixels before they are compared, so that
 * fonts may be drawn a little differently elsewhere. Everything asserts what
 * must work. */
#ifndef VPU_TESTS_VISUALIZER_SCREEN_H
#define VPU_TESTS_VISUALIZER_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SCREEN_W = 1000, SCREEN_H = 640, SCREEN_CELL = 4 };
enum { SMALL_W = SCREEN_W / SCREEN_CELL, SMALL_H = SCREEN_H / SCREEN_CELL };

typedef struct {
    uint8_t rgb[SMALL_H][SMALL_W][3];
} small_picture;

typedef struct {
    pid_t xvfb;
    char dir[64]; /* of its frame buffer; the caller's */
    char display[16];
} screen;

void screen_open(screen *s, const char *dir);
void screen_close(screen *s);
/* xdotool with these words, of which there is no quoting. */
void screen_do(screen *s, const char *words);
/* Waits for a window of that title, gives it the keys. */
void screen_focus(screen *s, const char *title);
void screen_look(const screen *s, small_picture *out);

/* Whether they show the same: few cells far apart, little on the whole. */
bool small_same(const small_picture *a, const small_picture *b);
bool small_load(const char *path, small_picture *out);
void small_save(const char *path, const small_picture *p);

#endif
