# SPDX-License-Identifier: MIT
"""Finds text that directly follows a table of a Markdown file. Without an empty line, it's a row of the table."""

import re

import rules

SEPARATION = rules.Rule(r"", "write an empty line after the table, because this line is a row of it", {rules.MARKDOWN})


def findings(text):
    """The lines after tables that are neither rows nor empty, as tuples of a line, its first words, and the rule."""
    found, fence, is_table = [], None, False
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        mark = re.match(r"(`{3,}|~{3,})", line)
        if fence:
            if mark and mark.group().startswith(fence) and not line.strip("`~"):
                fence = None
            continue
        is_row = line.startswith("|")
        if is_table and line and not is_row:
            found.append((number, " ".join(line.split()[:4]), SEPARATION))
        if mark:
            fence = mark.group()
        is_table = is_row
    return found
