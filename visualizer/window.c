/* SDL's window and events around a control. The picture is made in memory by
 * the same canvas that makes PNG files, and shown as one texture. */
#include "visualizer/window.h"

#include <SDL.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/late.h"
#include "visualizer/display.h"
#include "visualizer/export.h"
#include "visualizer/picture.h"
#include "visualizer/state.h"

typedef struct {
    const window_options *o;
    control k;
    viewer_state st;
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    uint32_t *px;
    int pw, ph;
    double scale; /* device pixels per logical */
    cv_font_set *fonts;
    bool dirty;
    unsigned mods; /* as the events say: SDL's own state is that of the last
                      event waiting */
    const char *export_to;
    bool follows; /* o->refresh is called */
    chooser choose;
    table tables[2];
    arena *a; /* of the list of recent traces */
    struct {
        bool on;
        bool first; /* begin_with */
        bool done;  /* set by the thread */
        pthread_t thread;
        char path[4096], text[4200];
        load_watch watch;
        vpu_status st;
        vpu_error err;
        uint64_t begun_ms;
    } other;
    char file[4096]; /* "" = none */
} win;

static vpu_status sdl_failed(vpu_error *err, const char *what)
{
    return err_set(err, VPU_ERR_UNSUPPORTED,
                   "%s: %s; without a display use --png OUT or --svg OUT", what,
                   SDL_GetError());
}

/* --- size ---------------------------------------------------------------- */

/* After a change of size or scale: the buffer, the texture, the fonts. */
static vpu_status fit_buffers(win *w, vpu_error *err)
{
    int lw, lh, pw, ph;
    double scale;

    SDL_GetWindowSize(w->window, &lw, &lh);
    if (SDL_GetRendererOutputSize(w->renderer, &pw, &ph))
        return sdl_failed(err, "window");
    scale = (double)pw / (lw > 0 ? lw : 1) * w->st.scale;
    if (pw != w->pw || ph != w->ph || !w->texture) {
        uint32_t *px = realloc(w->px, (size_t)pw * (size_t)ph * sizeof *px);

        if (!px)
            return err_set(err, VPU_ERR_NOMEM, "window: out of memory");
        w->px = px;
        w->pw = pw;
        w->ph = ph;
        if (w->texture)
            SDL_DestroyTexture(w->texture);
        w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_ARGB8888,
                                       SDL_TEXTUREACCESS_STREAMING, pw, ph);
        if (!w->texture)
            return sdl_failed(err, "window");
    }
    if (scale != w->scale || !w->fonts) {
        cv_fonts_close(w->fonts);
        w->fonts = NULL;
        w->scale = scale;
        if (cv_fonts_open(scale, &w->fonts, err))
            return err->code;
    }
    control_resize(&w->k, pw / scale, ph / scale);
    w->st.width = (uint32_t)lw;
    w->st.height = (uint32_t)lh;
    w->dirty = true;
    return VPU_OK;
}

/* Before each picture, for as long as nobody notices. */
static void count(win *w)
{
    enum { MOMENT_MS = 12 };
    uint64_t begun = SDL_GetTicks64();

    do
        w->dirty |= control_count(&w->k);
    while (control_counts(&w->k) && SDL_GetTicks64() - begun < MOMENT_MS);
}

static void draw(win *w)
{
    cv_canvas c;

    cv_raster(&c, w->fonts, &(const cv_pixels){w->px, w->pw, w->ph, w->pw},
              w->scale);
    control_paint(&w->k, &c);
    SDL_UpdateTexture(w->texture, NULL, w->px, w->pw * 4);
    SDL_RenderCopy(w->renderer, w->texture, NULL, NULL);
    SDL_RenderPresent(w->renderer);
    w->dirty = false;
}

/* --- other traces --------------------------------------------------------- */

static void show_list(win *w)
{
    arena *a = arena_create(0);
    const char *const *recent;
    size_t n;

    chooser_close(&w->choose);
    arena_destroy(w->a);
    w->a = arena_create(0);
    recent = viewer_state_recent(w->a, &n);
    chooser_open(&w->choose, w->file[0] ? file_dirname(a, w->file) : ".",
                 recent, n);
    arena_destroy(a);
    w->dirty = true;
}

static void *load_other(void *user)
{
    win *w = user;

    w->other.st =
        w->o->load(w->o->user, w->other.path, &w->other.watch, &w->other.err);
    __atomic_store_n(&w->other.done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void begin_loading(win *w, const char *path)
{
    if (w->other.on || !w->o->load)
        return;
    if (strlen(path) >= sizeof w->other.path) {
        snprintf(w->k.status, sizeof w->k.status, "a path too long to open");
        return;
    }
    snprintf(w->other.path, sizeof w->other.path, "%s", path);
    w->other.watch = (load_watch){0};
    w->other.done = false;
    w->other.begun_ms = SDL_GetTicks64();
    w->k.stop_loading = false;
    w->other.on = !pthread_create(&w->other.thread, NULL, load_other, w);
    if (!w->other.on)
        snprintf(w->k.status, sizeof w->k.status, "no thread to open it");
    w->dirty = true;
}

/* What is shown from now on. */
static void show_other(win *w)
{
    const char *title = "";
    view *v = w->o->take(w->o->user, &title);
    control old = w->k;

    for (int i = 0; i < 2; i++)
        table_clear(&w->tables[i]);
    control_init(&w->k, v, title, NULL, "");
    w->k.dark = old.dark;
    w->k.choose = old.choose;
    w->k.look = old.look;
    w->k.shows = w->other.first ? w->o->panel : w->k.shows;
    w->k.tables[0] = &w->tables[0];
    viewer_state_load_searches(&w->k);
    snprintf(w->file, sizeof w->file, "%s", w->other.path);
    w->export_to = title;
    w->follows = false;
    viewer_state_load_marks(w->file, &w->k);
    viewer_state_opened(w->file);
    chooser_close(&w->choose);
    SDL_SetWindowTitle(w->window, title);
    control_resize(&w->k, old.width, old.height);
}

/* While a trace is read: how far it is; at its end: it is shown, or the reason
 * why not. */
static void watch_loading(win *w, vpu_error *err)
{
    uint64_t events;

    if (!w->other.on)
        return;
    w->dirty = true;
    if (w->k.stop_loading)
        __atomic_store_n(&w->other.watch.stop, true, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&w->other.done, __ATOMIC_ACQUIRE)) {
        events = __atomic_load_n(&w->other.watch.events, __ATOMIC_RELAXED);
        snprintf(w->other.text, sizeof w->other.text,
                 "%.1f million events in %.0f s: %s", (double)events / 1e6,
                 (double)(SDL_GetTicks64() - w->other.begun_ms) / 1e3,
                 w->other.path);
        w->k.loading = w->other.text;
        return;
    }
    pthread_join(w->other.thread, NULL);
    w->other.on = false;
    w->k.loading = NULL;
    if (!w->other.st) {
        show_other(w);
        w->other.first = false;
        return;
    }
    if (w->other.first) {
        *err = w->other.err;
        w->k.quit = true;
        return;
    }
    snprintf(w->k.status, sizeof w->k.status, "%.250s", w->other.err.msg);
    if (control_chooses(&w->k))
        snprintf(w->choose.message, sizeof w->choose.message, "%.250s",
                 w->other.err.msg);
}

/* The user's choice, after each event. */
static void follow_choice(win *w)
{
    if (w->k.wants_choice) {
        w->k.wants_choice = false;
        show_list(w);
    }
    if (w->choose.open && w->choose.chosen) {
        const char *path = w->choose.chosen;

        w->choose.chosen = NULL;
        begin_loading(w, path);
    }
}

/* --- events -------------------------------------------------------------- */

static unsigned mods_of(SDL_Keymod m)
{
    return (m & KMOD_SHIFT ? MOD_SHIFT : 0) | (m & KMOD_CTRL ? MOD_CTRL : 0) |
           (m & KMOD_ALT ? MOD_ALT : 0);
}

static uint32_t special_key(SDL_Keycode sym)
{
    static const struct {
        SDL_Keycode sym;
        uint32_t key;
    } keys[] = {{SDLK_LEFT, KEY_LEFT},
                {SDLK_RIGHT, KEY_RIGHT},
                {SDLK_UP, KEY_UP},
                {SDLK_DOWN, KEY_DOWN},
                {SDLK_HOME, KEY_HOME},
                {SDLK_PAGEUP, KEY_PAGE_UP},
                {SDLK_PAGEDOWN, KEY_PAGE_DOWN},
                {SDLK_TAB, KEY_TAB},
                {SDLK_RETURN, KEY_ENTER},
                {SDLK_KP_ENTER, KEY_ENTER},
                {SDLK_BACKSPACE, KEY_BACKSPACE},
                {SDLK_ESCAPE, KEY_ESCAPE}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].sym == sym)
            return keys[i].key;
    return KEY_NONE;
}

static bool on_key(win *w, const SDL_KeyboardEvent *e)
{
    uint32_t key = special_key(e->keysym.sym);
    unsigned mods = mods_of((SDL_Keymod)e->keysym.mod);

    if (!key && mods & MOD_CTRL &&
        ((e->keysym.sym >= '1' && e->keysym.sym <= '9') ||
         e->keysym.sym == 'c'))
        key = (uint32_t)e->keysym.sym; /* no text comes with ctrl */
    return key && control_key(&w->k, key, mods);
}

/* Letters come as text, so that every keyboard's layout works. The text that
 * opens the search is not part of it. */
static bool on_text(win *w, const char *text)
{
    if (control_types(&w->k))
        return control_text(&w->k, text);
    return !text[1] && control_key(&w->k, (uint32_t)(unsigned char)text[0], 0);
}

static bool on_event(win *w, const SDL_Event *e, vpu_error *err)
{
    double f = w->st.scale; /* SDL's coordinates are the window's */
    control *k = &w->k;

    switch (e->type) {
    case SDL_QUIT:
        k->quit = true;
        return false;
    case SDL_WINDOWEVENT:
        if (e->window.event == SDL_WINDOWEVENT_SIZE_CHANGED &&
            fit_buffers(w, err))
            k->quit = true;
        return true;
    case SDL_KEYUP:
        w->mods = mods_of((SDL_Keymod)e->key.keysym.mod);
        return false;
    case SDL_KEYDOWN:
        w->mods = mods_of((SDL_Keymod)e->key.keysym.mod);
        return on_key(w, &e->key);
    case SDL_TEXTINPUT:
        return on_text(w, e->text.text);
    case SDL_MOUSEMOTION:
        return control_motion(k, e->motion.x / f, e->motion.y / f);
    case SDL_MOUSEBUTTONDOWN:
        return control_press(k, e->button.x / f, e->button.y / f,
                             e->button.button, e->button.clicks, w->mods);
    case SDL_MOUSEBUTTONUP:
        return control_release(k, e->button.x / f, e->button.y / f);
    case SDL_DROPFILE:
        begin_loading(w, e->drop.file);
        SDL_free(e->drop.file);
        return true;
    case SDL_MOUSEWHEEL:
        return control_wheel(k, e->wheel.preciseX, e->wheel.preciseY, w->mods);
    }
    return false;
}

/* --- export -------------------------------------------------------------- */

/* The first number whose files do not exist yet. */
static void export_all(win *w)
{
    char path[3][4096];
    picture_options o = {.png = path[0],
                         .svg = path[1],
                         .width = (uint32_t)w->k.width,
                         .height = (uint32_t)w->k.height,
                         .scale = w->scale < 0.5 ? 0.5 : w->scale,
                         .cmp = w->k.cmp,
                         .mode = w->k.mode,
                         .panel = w->k.shows,
                         .slices = w->k.look,
                         .colors = w->k.dark ? &theme_dark : &theme_light};
    vpu_error err = {0};
    int n = 0;

    do {
        static const char *const ends[] = {"png", "svg", "csv"};

        n++;
        for (int i = 0; i < 3; i++)
            snprintf(path[i], sizeof path[i], "%.4000s-%d.%s", w->export_to, n,
                     ends[i]);
    } while (n < 10000 && (file_exists(path[0]) || file_exists(path[1]) ||
                           file_exists(path[2])));
    if (picture_write(&o, w->k.views[0], w->k.titles[0], w->k.views[1],
                      w->k.titles[1], &err) ||
        (w->k.cmp ? compare_csv(w->k.cmp, path[2], &err)
                  : export_csv(w->k.views[w->k.focus], path[2], &err)))
        snprintf(w->k.status, sizeof w->k.status, "%.250s", err.msg);
    else
        snprintf(w->k.status, sizeof w->k.status,
                 "written: %.200s, .svg and .csv", path[0]);
}

static void copy_text(win *w)
{
    str text = {0};

    export_text(w->k.views[w->k.focus], &text);
    if (SDL_SetClipboardText(str_text(&text)))
        snprintf(w->k.status, sizeof w->k.status, "not copied: %.200s",
                 SDL_GetError());
    else
        snprintf(w->k.status, sizeof w->k.status, "copied as text");
    str_free(&text);
}

/* --- life ---------------------------------------------------------------- */

/* A size remembered from a larger display would put the edges where no mouse
 * comes. */
static void fit_display(win *w)
{
    SDL_Rect room;

    if (SDL_GetDisplayUsableBounds(0, &room) || room.w < 400 || room.h < 240)
        return;
    if (w->st.width > (uint32_t)room.w)
        w->st.width = (uint32_t)room.w;
    if (w->st.height > (uint32_t)room.h)
        w->st.height = (uint32_t)room.h;
}

enum { WIDTH = 1440, HEIGHT = 900 }; /* of a window that was never resized */

static vpu_status open_window(win *w, vpu_error *err)
{
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    if (SDL_Init(SDL_INIT_VIDEO))
        return sdl_failed(err, "no window");
    /* SDL falls back to drivers that show nothing and never end. */
    if (!getenv("SDL_VIDEODRIVER") &&
        (!strcmp(SDL_GetCurrentVideoDriver(), "offscreen") ||
         !strcmp(SDL_GetCurrentVideoDriver(), "dummy") ||
         !strcmp(SDL_GetCurrentVideoDriver(), "evdev"))) {
        SDL_SetError("no display");
        return sdl_failed(err, "no window");
    }
    if (w->st.scale == 0)
        w->st.scale = display_scale();
    if (!w->st.width) {
        w->st.width = (uint32_t)(WIDTH * w->st.scale);
        w->st.height = (uint32_t)(HEIGHT * w->st.scale);
    }
    fit_display(w);
    w->window = SDL_CreateWindow(
        w->o->titles[0], SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED,
        (int)w->st.width, (int)w->st.height,
        SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI | SDL_WINDOW_HIDDEN);
    if (!w->window)
        return sdl_failed(err, "no window");
    w->renderer = SDL_CreateRenderer(w->window, -1, 0);
    if (!w->renderer)
        w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_SOFTWARE);
    if (!w->renderer)
        return sdl_failed(err, "no window");
    /* A renderer may need another kind of window than the one that is there,
     * and makes it anew: nobody sees that. */
    SDL_ShowWindow(w->window);
    SDL_SetWindowMinimumSize(w->window, 400, 240);
    SDL_StartTextInput();
    return fit_buffers(w, err);
}

/* False: none came, but what is shown may have changed. */
static bool wait_event(win *w, SDL_Event *e)
{
    enum { REFRESH_MS = 100 };

    if (control_counts(&w->k))
        return SDL_PollEvent(e);
    if (!w->follows && !w->other.on) {
        w->k.quit = !SDL_WaitEvent(e);
        return !w->k.quit;
    }
    if (SDL_WaitEventTimeout(e, REFRESH_MS))
        return true;
    if (w->follows && w->o->refresh(w->o->user)) {
        control_refresh(&w->k);
        w->dirty = true;
    }
    return false;
}

static void loop(win *w, vpu_error *err)
{
    SDL_Event e;

    while (!w->k.quit) {
        watch_loading(w, err);
        if (w->k.quit) /* the first trace cannot be read */
            break;
        count(w);
        if (w->dirty)
            draw(w);
        if (!wait_event(w, &e))
            continue;
        do /* all that wait, then one picture */
            w->dirty |= on_event(w, &e, err);
        while (!w->k.quit && SDL_PollEvent(&e));
        follow_choice(w);
        if (w->k.copy) {
            w->k.copy = false;
            copy_text(w);
        }
        if (w->k.export) {
            w->k.export = false;
            export_all(w);
        }
        if (w->k.searched) {
            w->k.searched = false;
            viewer_state_searched(w->k.searches[0]);
        }
        if (w->k.bookmarks_changed) {
            w->k.bookmarks_changed = false;
            if (w->file[0])
                viewer_state_save_marks(w->file, &w->k);
        }
    }
}

/* What the command line says is for this window alone; what the user changed in
 * it is for the next one, too. */
static viewer_state to_remember(const win *w, const viewer_state *before,
                                const viewer_state *opened)
{
    viewer_state s = w->st;

    if (s.width == opened->width && s.height == opened->height) {
        s.width = before->width;
        s.height = before->height;
    }
    if (s.scale == opened->scale)
        s.scale = before->scale;
    if (s.dark == opened->dark)
        s.dark = before->dark;
    return s;
}

vpu_status window_run(const window_options *o, vpu_error *err)
{
    viewer_state before, opened;
    vpu_status st = late_need("libSDL2-", err);
    win *w;

    if (st)
        return st;
    w = calloc(1, sizeof *w);
    if (!w)
        return err_set(err, VPU_ERR_NOMEM, "window: out of memory");
    w->o = o;
    viewer_state_load(&w->st);
    before = w->st;
    if (o->width) {
        w->st.width = o->width;
        w->st.height = o->height;
    }
    if (o->scale > 0)
        w->st.scale = o->scale;
    if (o->dark >= 0)
        w->st.dark = o->dark;
    err->code = VPU_OK;
    control_init(&w->k, o->views[0], o->titles[0], o->views[1], o->titles[1]);
    w->k.dark = w->st.dark;
    w->k.cmp = o->cmp;
    w->k.mode = o->mode;
    w->k.shows = o->panel;
    w->k.choose = o->load ? &w->choose : NULL;
    w->k.look = o->slices;
    for (int i = 0; i < 2; i++)
        w->k.tables[i] = &w->tables[i];
    viewer_state_load_searches(&w->k);
    w->export_to = o->export_to;
    w->follows = o->refresh != NULL;
    if (o->file) {
        snprintf(w->file, sizeof w->file, "%s", o->file);
        viewer_state_load_marks(o->file, &w->k);
    }
    st = open_window(w, err);
    if (!st) {
        w->other.first = o->begin_with != NULL;
        if (o->file)
            viewer_state_opened(o->file);
        else if (o->begin_with)
            begin_loading(w, o->begin_with);
        else
            show_list(w);
        opened = w->st;
        loop(w, err);
        st = err->code;
        w->st.dark = w->k.dark;
        w->st = to_remember(w, &before, &opened);
        viewer_state_save(&w->st);
    }
    if (w->other.on) {
        __atomic_store_n(&w->other.watch.stop, true, __ATOMIC_RELAXED);
        pthread_join(w->other.thread, NULL);
    }
    for (int i = 0; i < 2; i++)
        table_clear(&w->tables[i]);
    chooser_close(&w->choose);
    arena_destroy(w->a);
    cv_fonts_close(w->fonts);
    display_ignore_errors();
    free(w->px);
    if (w->texture)
        SDL_DestroyTexture(w->texture);
    if (w->renderer)
        SDL_DestroyRenderer(w->renderer);
    if (w->window)
        SDL_DestroyWindow(w->window);
    SDL_Quit();
    free(w);
    return st;
}
