// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The capabilities of the terminal that the environment describes.
typedef struct {
    bool sixels;
    bool kitty;
    /// The number of colors: 0 for none, or 16, 256, or 16,777,216.
    int colors;
} wi_terminal_abilities;

/// Returns the capabilities that libchafa detects from the environment of the process (TERM, COLORTERM, TERM_PROGRAM,
/// and so on).
wi_terminal_abilities wi_terminal_abilities_now(void);

/// The way to draw an image in a terminal.
typedef enum { WI_DRAW_SYMBOLS, WI_DRAW_SIXELS, WI_DRAW_KITTY } wi_draw_style;

typedef struct {
    wi_draw_style style;
    /// The number of colors, as in wi_terminal_abilities. 0 draws in the two default colors of the terminal, without
    /// control sequences.
    int colors;
    /// The size of the image in character cells.
    int columns, rows;
    /// The size of one cell in pixels.
    int cell_width, cell_height;
} wi_drawing;

/// Draws straight RGBA pixels, whose rows have no padding. Returns text that the caller must release with
/// wi_text_free, or NULL if memory can't be allocated. Line feeds separate the rows, without one after the last row.
char *wi_draw_picture(const wi_drawing *drawing, const uint8_t *pixels, int width, int height, size_t *length);

void wi_text_free(char *text);

/// Gets the size of the text area of the terminal at `descriptor`, in pixels. Returns `false` if the size is unknown.
bool wi_terminal_pixels(int descriptor, int *width, int *height);

/// Makes the terminal at `descriptor` deliver each key immediately and without echo. Except for Ctrl-C, keys that
/// would suspend or terminate the process are delivered like letters. Returns `false` if the descriptor isn't a
/// terminal, or if another process group is in its foreground. A process can use this mode for only one terminal at a
/// time.
bool wi_keys_begin(int descriptor);

/// Restores the settings from before wi_keys_begin.
void wi_keys_end(int descriptor);
