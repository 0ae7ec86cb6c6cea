/* Functions of libX11, which SDL has loaded itself where there is X11. */
#include "visualizer/display.h"

#include <SDL.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "base/str.h"

enum { PLAIN = 96 }; /* dots an inch of a scale of 1 */

typedef struct {
    void *(*open)(const char *name);
    char *(*resources)(void *display);
    int (*close)(void *display);
} x11_calls;

/* Of the library that SDL has loaded itself; functions and objects have
 * pointers of one size where there is X11. */
static bool find_calls(void *x11, x11_calls *c)
{
    void *f[3] = {dlsym(x11, "XOpenDisplay"),
                  dlsym(x11, "XResourceManagerString"),
                  dlsym(x11, "XCloseDisplay")};

    memcpy(c, f, sizeof *c);
    return f[0] && f[1] && f[2];
}

double display_dots(const char *resources)
{
    const char *at = resources ? strstr(resources, "Xft.dpi:") : NULL;
    char text[32] = "";
    double dots;

    if (!at || (at != resources && at[-1] != '\n'))
        return 0;
    at += strlen("Xft.dpi:");
    at += strspn(at, " \t");
    memcpy(text, at,
           strcspn(at, " \t\n") < sizeof text - 1 ? strcspn(at, " \t\n") : 0);
    return str_to_f64(text, &dots) && dots >= 24 && dots <= 1000 ? dots : 0;
}

/* What desktops tell all their programs. */
static double told_dots(void)
{
    void *x11 = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD), *display;
    double dots = 0;
    x11_calls calls;

    if (!x11)
        return 0;
    if (find_calls(x11, &calls) && (display = calls.open(NULL))) {
        dots = display_dots(calls.resources(display));
        calls.close(display);
    }
    dlclose(x11);
    return dots;
}

double display_scale(void)
{
    const char *driver = SDL_GetCurrentVideoDriver();
    double dots = driver && !strcmp(driver, "x11") ? told_dots() : 0;
    float size = 0;

    /* By its size, which is often told wrong, only what is clearly dense. */
    if (dots == 0 && !SDL_GetDisplayDPI(0, &size, NULL, NULL) && size >= 144)
        dots = size;
    return display_scale_of(dots);
}

double display_scale_of(double dots)
{
    return fmin(fmax(round(dots / PLAIN * 4) / 4, 1), 4);
}

static int ignore(void *display, void *error)
{
    (void)display;
    (void)error;
    return 0;
}

void display_ignore_errors(void)
{
    void *x11 = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD), *f;
    void *(*set)(int (*handler)(void *display, void *error));

    if (!x11)
        return;
    f = dlsym(x11, "XSetErrorHandler");
    memcpy(&set, &f, sizeof set);
    if (f)
        set(ignore);
    dlclose(x11); /* SDL still has it */
}
