// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "TerminalPictures.h"

/// An option of getopt_long(3).
typedef struct {
    /// The long name without dashes.
    const char *name;
    /// What the short form is and what is returned: a letter, or a number above 255 for options without short form.
    int value;
    /// Whether an argument must follow.
    bool takes_argument;
} wi_option;

/// What one step of reading a command line found.
typedef struct {
    /// The option's value; -1 at the end; '?' for what is not known or takes no argument; ':' where one is missing.
    int found;
    /// The option's argument; NULL where there is none.
    const char *argument;
    /// The word of a long option that was read last.
    int word;
    /// The option that a '?' or ':' is about, as getopt_long's optopt tells; 0 where it is not known.
    int culprit;
} wi_option_step;

/// Reads the next option. `argv` is reordered: what is no option moves behind the options. The state is the
/// process's own, so callers must take turns; `restart` begins a new command line.
wi_option_step wi_next_option(int argc, char **argv, const wi_option *options, size_t count, bool restart);

/// Where the words that are no options begin, once wi_next_option gave -1.
int wi_first_operand(void);

/// Columns and rows of the terminal behind `descriptor`; false where it is none or does not tell.
bool wi_terminal_size(int descriptor, int *columns, int *rows);
