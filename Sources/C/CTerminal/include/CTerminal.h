// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "TerminalPictures.h"

/// An option for getopt_long(3).
typedef struct {
    /// The long name without dashes.
    const char *name;
    /// The short form, which is also the value to return. It's a letter, or a number above 255 for options without a
    /// short form.
    int value;
    /// A Boolean value that indicates whether the option requires an argument.
    bool takes_argument;
    /// A Boolean value that indicates whether the argument can be omitted. It then follows the long name after an equals
    /// sign, or the letter directly.
    bool argument_is_optional;
} wi_option;

/// The result of one step of parsing a command line.
typedef struct {
    /// The value of the option, or -1 at the end. '?' means an unknown option or an unexpected argument, and ':' means
    /// a missing argument.
    int found;
    /// The argument of the option, or NULL if there's none.
    const char *argument;
    /// The index of the word that was parsed last. It's meaningful for long options.
    int word;
    /// The option that caused a '?' or ':', as in optopt of getopt_long, or 0 if it's unknown.
    int culprit;
} wi_option_step;

/// Parses the next option. `argv` is reordered so that operands follow the options. The state is shared by the
/// process, so concurrent calls aren't allowed. `restart` begins a new command line.
wi_option_step wi_next_option(int argc, char **argv, const wi_option *options, size_t count, bool restart);

/// Returns the index of the first operand after wi_next_option returned -1.
int wi_first_operand(void);

/// Gets the columns and rows of the terminal at `descriptor`. Returns `false` if the descriptor isn't a terminal or
/// the size is unknown.
bool wi_terminal_size(int descriptor, int *columns, int *rows);
