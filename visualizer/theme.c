/* The table of colours, and the colour of text on another one. */
#include "visualizer/theme.h"

#define CLASSES                                                                \
    .class_color = {[TL_ISSUE] = 0xff009e73,     [TL_L2] = 0xffcc79a7,         \
                    [TL_DDR] = 0xffd55e00,       [TL_STORE] = 0xff8c564b,      \
                    [TL_DMA_SETUP] = 0xfff0e442, [TL_DMA_WAIT] = 0xffe69f00,   \
                    [TL_DISPATCH] = 0xff5f6368,  [TL_IDLE] = IDLE,             \
                    [TL_IN] = 0xff0072b2,        [TL_OUT] = 0xff56b4e9,        \
                    [TL_OTHER] = 0xff7fa8c9,     [TL_OTHER + 1] = 0xff8fbf9f,  \
                    [TL_OTHER + 2] = 0xffc9a66b, [TL_OTHER + 3] = 0xffb295c7,  \
                    [TL_OTHER + 4] = 0xffc98f8f, [TL_OTHER + 5] = 0xff9aa0a6}, \
    .class_pattern = {[TL_L2] = CV_DOTS,                                       \
                      [TL_DDR] = CV_SLASH,                                     \
                      [TL_STORE] = CV_DASHES,                                  \
                      [TL_DMA_WAIT] = CV_BACKSLASH,                            \
                      [TL_OUT] = CV_SLASH}

/* Colours of shares: steps even in lightness and hue of OKLCH, from L 0.975 at
 * 105 degrees to 0.27 at 305, and from 0.22 at 290 to 0.94 at 100, with the
 * most colour up to 0.16 that sRGB has there. */
#define IDLE 0xffe9edf1
const theme theme_light = {
    .page = 0xffffffff,
    .panel = 0xfff5f7f9,
    .row = 0xfffafbfc,
    .row_alternate = 0xfff4f6f8,
    .line = 0xffe1e5ea,
    .strong_line = 0xffb4bcc6,
    .text = 0xff1b2330,
    .dim = 0xff66707d,
    .accent = 0xff0b5cad,
    .select = 0xff000000,
    .warn = 0xffb3261e,
    .shade = 0x28305f9f,
    CLASSES,
    .phase = {0xffb9cde2, 0xff5f7f9f, 0xffd9c3e0},
    .area = 0xff5b8db8,
    .area_light = 0xffc3d8ea,
    .code = {0xff1b2330, 0xff0b5cad, 0xff00695c, 0xff8a4b00, 0xff8a4b00,
             0xff66707d, 0xff7c3a8c},
    .heat = {0xfff7f7f0, 0xffe6eccf, 0xffcbe4b3, 0xffa6dda1, 0xff72d698,
             0xff01ce9c, 0xff08bba5, 0xff02aaa7, 0xff0299a5, 0xff0388a2,
             0xff02779e, 0xff01669d, 0xff0152a2, 0xff233c9d, 0xff33268c,
             0xff390d79, 0xff37005b}};
#undef IDLE
#define IDLE 0xff2c333c
const theme theme_dark = {
    .page = 0xff16191d,
    .panel = 0xff1d2126,
    .row = 0xff1a1e23,
    .row_alternate = 0xff1e2328,
    .line = 0xff2d343c,
    .strong_line = 0xff525c68,
    .text = 0xffe6e9ed,
    .dim = 0xff98a2ae,
    .accent = 0xff6cb2f5,
    .select = 0xffffffff,
    .warn = 0xffff8a80,
    .shade = 0x3080b0f0,
    CLASSES,
    .phase = {0xff3f5a78, 0xff7fa0c4, 0xff6a5078},
    .area = 0xff4f86b4,
    .area_light = 0xff2d4a63,
    .code = {0xffe6e9ed, 0xff6cb2f5, 0xff5fd0b0, 0xffe5a95a, 0xffe5a95a,
             0xff98a2ae, 0xffd3a0e0},
    .heat = {0xff1b1532, 0xff1e2047, 0xff1c2d5b, 0xff0d3c6f, 0xff024c76,
             0xff015c7c, 0xff026c82, 0xff047c88, 0xff068c8c, 0xff029d8e,
             0xff06ae8b, 0xff14c07e, 0xff60cc73, 0xff8fd668, 0xffb9df60,
             0xffe0e65b, 0xffffed85}};

cv_color theme_heat(const theme *t, double share)
{
    double at = (share > 0 ? share < 1 ? share : 1 : 0) * (THEME_HEAT - 1);
    int i = at < THEME_HEAT - 2 ? (int)at : THEME_HEAT - 2;
    cv_color c = 0xff000000;

    for (int shift = 0; shift < 24; shift += 8) {
        double a = t->heat[i] >> shift & 255, b = t->heat[i + 1] >> shift & 255;

        c |= (uint32_t)(a + (b - a) * (at - i) + 0.5) << shift;
    }
    return c;
}

cv_color theme_on(cv_color b)
{
    uint32_t light =
        (b >> 16 & 255) * 299 + (b >> 8 & 255) * 587 + (b & 255) * 114;

    return light > 140000 ? 0xff101418 : 0xffffffff;
}
