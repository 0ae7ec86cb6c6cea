/* Fonts through SDL_ttf, a cache of their glyphs. */
#include "visualizer/font.h"

#include <SDL_ttf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/late.h"

enum { N_SLOTS = 4096, MAX_GLYPHS = 3000 };

struct cv_font_set {
    TTF_Font *fonts[CV_N_FONTS];
    font_glyph *glyphs[CV_N_FONTS]; /* N_SLOTS */
    uint32_t n[CV_N_FONTS];
    double scale;
};

static const struct {
    const char *file;
    double size;
} faces[CV_N_FONTS] = {[CV_SMALL] = {"DejaVuSans.ttf", 10},
                       [CV_NORMAL] = {"DejaVuSans.ttf", 12},
                       [CV_BOLD] = {"DejaVuSans-Bold.ttf", 12},
                       [CV_TITLE] = {"DejaVuSans-Bold.ttf", 15},
                       [CV_MONO] = {"DejaVuSansMono.ttf", 11}};

static bool find_face(const char *file, char *path, size_t n)
{
    static const char *const dirs[] = {
        "/usr/share/fonts/truetype/dejavu",
        "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/dejavu",
        "/usr/share/fonts/TTF", "/usr/local/share/fonts/dejavu"};
    const char *own = getenv("VPU_FONT_DIR");

    if (own && *own) {
        snprintf(path, n, "%s/%s", own, file);
        return file_exists(path);
    }
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        snprintf(path, n, "%s/%s", dirs[i], file);
        if (file_exists(path))
            return true;
    }
    return false;
}

vpu_status cv_fonts_open(double scale, cv_font_set **out, vpu_error *err)
{
    cv_font_set *f;
    char path[4096];
    vpu_status st = late_need("libSDL2_ttf", err);

    *out = NULL;
    if (st)
        return st;
    f = calloc(1, sizeof *f);
    if (!f || TTF_Init()) {
        free(f);
        return err_set(err, VPU_ERR_NOMEM, "fonts: %s",
                       f ? TTF_GetError() : "out of memory");
    }
    f->scale = scale;
    for (int i = 0; i < CV_N_FONTS; i++) {
        if (!find_face(faces[i].file, path, sizeof path))
            st = err_set(err, VPU_ERR_IO,
                         "%s: not found; install fonts-dejavu-core or set "
                         "VPU_FONT_DIR",
                         faces[i].file);
        else if (!(f->fonts[i] =
                       TTF_OpenFont(path, (int)lround(faces[i].size * scale))))
            st = err_set(err, VPU_ERR_IO, "%s: %s", path, TTF_GetError());
        else if (!(f->glyphs[i] = calloc(N_SLOTS, sizeof(font_glyph))))
            st = err_set(err, VPU_ERR_NOMEM, "fonts: out of memory");
        if (st) {
            cv_fonts_close(f);
            return st;
        }
        TTF_SetFontHinting(f->fonts[i], TTF_HINTING_LIGHT);
    }
    *out = f;
    return VPU_OK;
}

static void drop_glyphs(cv_font_set *f, int i)
{
    for (uint32_t k = 0; f->glyphs[i] && k < N_SLOTS; k++) {
        free(f->glyphs[i][k].alpha);
        f->glyphs[i][k] = (font_glyph){0};
    }
    f->n[i] = 0;
}

void cv_fonts_close(cv_font_set *f)
{
    if (!f)
        return;
    for (int i = 0; i < CV_N_FONTS; i++) {
        drop_glyphs(f, i);
        free(f->glyphs[i]);
        if (f->fonts[i])
            TTF_CloseFont(f->fonts[i]);
    }
    TTF_Quit();
    free(f);
}

static void render(cv_font_set *f, cv_font font, uint32_t code, font_glyph *g)
{
    int left = 0;
    SDL_Surface *s;

    if (TTF_GlyphMetrics32(f->fonts[font], code, &left, NULL, NULL, NULL,
                           &g->advance))
        g->advance = 0;
    g->left = left < 0 ? left : 0;
    s = TTF_RenderGlyph32_Blended(f->fonts[font], code,
                                  (SDL_Color){255, 255, 255, 255});
    if (!s)
        return;
    if ((g->alpha = malloc((size_t)s->w * (size_t)s->h))) {
        g->w = s->w;
        g->h = s->h;
        for (int y = 0; y < s->h; y++) {
            const uint32_t *row =
                (const uint32_t *)((const uint8_t *)s->pixels + y * s->pitch);

            for (int x = 0; x < s->w; x++)
                g->alpha[y * s->w + x] = (uint8_t)(row[x] >> 24);
        }
    }
    SDL_FreeSurface(s);
}

const font_glyph *font_get(cv_font_set *f, cv_font font, uint32_t code)
{
    uint32_t at = code * 2654435761u >> 20;

    for (;; at++) {
        font_glyph *g = &f->glyphs[font][at % N_SLOTS];

        if (g->code == code + 1)
            return g;
        if (g->code)
            continue;
        if (f->n[font] == MAX_GLYPHS) {
            drop_glyphs(f, font);
            g = &f->glyphs[font][at % N_SLOTS];
        }
        f->n[font]++;
        g->code = code + 1;
        render(f, font, code, g);
        return g;
    }
}

int font_height(const cv_font_set *f, cv_font font)
{
    return TTF_FontHeight(f->fonts[font]);
}

double font_size(cv_font font)
{
    return faces[font].size;
}

double font_scale(const cv_font_set *f)
{
    return f->scale;
}

uint32_t font_decode(const char **text)
{
    const uint8_t *p = (const uint8_t *)*text;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    int more = *p < 0x80                 ? 0
               : *p >= 0xc2 && *p < 0xe0 ? 1
               : *p >= 0xe0 && *p < 0xf0 ? 2
               : *p >= 0xf0 && *p < 0xf5 ? 3
                                         : -1;
    uint32_t code;

    ++*text;
    if (more <= 0)
        return more ? 0xfffd : *p;
    code = *p & (0x3f >> more);
    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0xfffd;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || (code >> 11) == 0x1b)
        return 0xfffd;
    *text += more;
    return code;
}
