// SPDX-License-Identifier: MIT
#include "TerminalPictures.h"

#include <chafa.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static ChafaTermInfo *own_terminal(void) {
    gchar **environment = g_get_environ();
    ChafaTermInfo *info = chafa_term_db_detect(chafa_term_db_get_default(), environment);
    g_strfreev(environment);
    return info;
}

wi_terminal_abilities wi_terminal_abilities_now(void) {
    ChafaTermInfo *info = own_terminal();
    wi_terminal_abilities abilities = {
        .sixels = chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_BEGIN_SIXELS),
        .kitty = chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_BEGIN_KITTY_IMMEDIATE_IMAGE_V1),
    };
    if (chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_SET_COLOR_FGBG_DIRECT)) {
        abilities.colors = 1 << 24;
    } else if (chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_SET_COLOR_FGBG_256)) {
        abilities.colors = 256;
    } else if (chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_SET_COLOR_FGBG_16)) {
        abilities.colors = 16;
    }
    chafa_term_info_unref(info);
    return abilities;
}

static ChafaCanvasMode canvas_mode(int colors) {
    if (colors == 0) return CHAFA_CANVAS_MODE_FGBG;
    if (colors <= 16) return CHAFA_CANVAS_MODE_INDEXED_16;
    // Avoid the first 16 of the 256 colors, because users can redefine them.
    if (colors <= 256) return CHAFA_CANVAS_MODE_INDEXED_240;
    return CHAFA_CANVAS_MODE_TRUECOLOR;
}

static ChafaPixelMode pixel_mode(wi_draw_style style) {
    switch (style) {
    case WI_DRAW_SIXELS: return CHAFA_PIXEL_MODE_SIXELS;
    case WI_DRAW_KITTY: return CHAFA_PIXEL_MODE_KITTY;
    case WI_DRAW_SYMBOLS: break;
    }
    return CHAFA_PIXEL_MODE_SYMBOLS;
}

static ChafaCanvas *new_canvas(const wi_drawing *drawing) {
    ChafaCanvasConfig *config = chafa_canvas_config_new();
    ChafaSymbolMap *symbols = chafa_symbol_map_new();
    chafa_symbol_map_add_by_tags(
        symbols, CHAFA_SYMBOL_TAG_BLOCK | CHAFA_SYMBOL_TAG_BORDER | CHAFA_SYMBOL_TAG_SPACE);
    chafa_canvas_config_set_symbol_map(config, symbols);
    chafa_canvas_config_set_geometry(config, drawing->columns, drawing->rows);
    chafa_canvas_config_set_cell_geometry(config, drawing->cell_width, drawing->cell_height);
    chafa_canvas_config_set_pixel_mode(config, pixel_mode(drawing->style));
    chafa_canvas_config_set_canvas_mode(
        config, drawing->style == WI_DRAW_SYMBOLS ? canvas_mode(drawing->colors) : CHAFA_CANVAS_MODE_TRUECOLOR);
    ChafaCanvas *canvas = chafa_canvas_new(config);
    chafa_symbol_map_unref(symbols);
    chafa_canvas_config_unref(config);
    return canvas;
}

char *wi_draw_picture(const wi_drawing *drawing, const uint8_t *pixels, int width, int height, size_t *length) {
    ChafaCanvas *canvas = new_canvas(drawing);
    chafa_canvas_draw_all_pixels(canvas, CHAFA_PIXEL_RGBA8_UNASSOCIATED, pixels, width, height, width * 4);
    // Without control sequences in the terminal information, chafa writes only the characters.
    bool is_plain = drawing->style == WI_DRAW_SYMBOLS && drawing->colors == 0;
    ChafaTermInfo *info = is_plain ? chafa_term_info_new() : own_terminal();
    // Draw in the requested style, even if the terminal isn't known to support it.
    if (!is_plain) chafa_term_info_supplement(info, chafa_term_db_get_fallback_info(chafa_term_db_get_default()));
    GString *text = chafa_canvas_print(canvas, info);
    chafa_term_info_unref(info);
    chafa_canvas_unref(canvas);
    if (!text) return NULL;
    *length = text->len;
    return g_string_free(text, FALSE);
}

void wi_text_free(char *text) { g_free(text); }

bool wi_terminal_pixels(int descriptor, int *width, int *height) {
    struct winsize size = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_xpixel == 0 || size.ws_ypixel == 0) return false;
    *width = size.ws_xpixel;
    *height = size.ws_ypixel;
    return true;
}

static struct termios before;

bool wi_keys_begin(int descriptor) {
    // If a background process changed the terminal, SIGTTOU would stop it.
    if (tcgetpgrp(descriptor) != getpgrp() || tcgetattr(descriptor, &before) != 0) return false;
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    raw.c_cc[VQUIT] = _POSIX_VDISABLE;
    return tcsetattr(descriptor, TCSADRAIN, &raw) == 0;
}

void wi_keys_end(int descriptor) { tcsetattr(descriptor, TCSAFLUSH, &before); }
