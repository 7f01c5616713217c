// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What the terminal that the environment describes can show.
typedef struct {
    bool sixels;
    bool kitty;
    /// 0 for none, else 16, 256 or 16,777,216.
    int colors;
} wi_terminal_abilities;

/// Asks libchafa about the process's own environment (TERM, COLORTERM, TERM_PROGRAM and the like).
wi_terminal_abilities wi_terminal_abilities_now(void);

/// How a picture becomes text.
typedef enum { WI_DRAW_SYMBOLS, WI_DRAW_SIXELS, WI_DRAW_KITTY } wi_draw_style;

typedef struct {
    wi_draw_style style;
    /// As in wi_terminal_abilities; 0 draws in the terminal's own two colours without any control sequence.
    int colors;
    /// Character cells that the picture takes.
    int columns, rows;
    /// Pixels of one cell.
    int cell_width, cell_height;
} wi_drawing;

/// Draws straight RGBA, rows without padding. Gives text that wi_text_free frees, rows parted by line feeds, none behind
/// the last; NULL where memory is at its end.
char *wi_draw_picture(const wi_drawing *drawing, const uint8_t *pixels, int width, int height, size_t *length);

void wi_text_free(char *text);

/// Pixels of the whole text area of the terminal behind `descriptor`; false where it does not tell.
bool wi_terminal_pixels(int descriptor, int *width, int *height);

/// Has the terminal behind `descriptor` give each key at once and without echo; keys that would stop or kill the process
/// other than Ctrl-C are given like letters. False where it is no terminal, or somebody else's at the moment. One at a
/// time in a process.
bool wi_keys_begin(int descriptor);

/// Puts back what wi_keys_begin found.
void wi_keys_end(int descriptor);
