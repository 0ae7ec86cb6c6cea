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

#define IDLE 0xffe9edf1
const theme theme_light = {.page = 0xffffffff,
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
                           .area_light = 0xffc3d8ea};
#undef IDLE
#define IDLE 0xff2c333c
const theme theme_dark = {.page = 0xff16191d,
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
                          .area_light = 0xff2d4a63};

cv_color theme_on(cv_color b)
{
    uint32_t light =
        (b >> 16 & 255) * 299 + (b >> 8 & 255) * 587 + (b & 255) * 114;

    return light > 140000 ? 0xff101418 : 0xffffffff;
}
