// SPDX-License-Identifier: MIT
#include "CTerminal.h"

#include <getopt.h>
#include <sys/ioctl.h>

enum { MAX_OPTIONS = 96 };

wi_option_step wi_next_option(int argc, char **argv, const wi_option *options, size_t count, bool restart) {
    struct option long_options[MAX_OPTIONS + 1] = {0};
    char short_options[3 * MAX_OPTIONS + 2] = ":";
    size_t end = 1;
    for (size_t i = 0; i < count && i < MAX_OPTIONS; i++) {
        long_options[i].name = options[i].name;
        long_options[i].has_arg = !options[i].takes_argument         ? no_argument
                                  : options[i].argument_is_optional ? optional_argument
                                                                    : required_argument;
        long_options[i].val = options[i].value;
        if (options[i].value > 255) continue;
        short_options[end++] = (char)options[i].value;
        if (options[i].takes_argument) short_options[end++] = ':';
        if (options[i].takes_argument && options[i].argument_is_optional) short_options[end++] = ':';
    }
    if (restart) optind = 0;
    opterr = 0;
    optopt = 0;
    optarg = NULL;
    int found = getopt_long(argc, argv, short_options, long_options, NULL);
    return (wi_option_step){.found = found, .argument = optarg, .word = optind - 1, .culprit = optopt};
}

int wi_first_operand(void) { return optind; }

bool wi_terminal_size(int descriptor, int *columns, int *rows) {
    struct winsize size = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return false;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return true;
}
