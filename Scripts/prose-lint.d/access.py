# SPDX-License-Identifier: MIT
"""Finds documentation comments of Swift declarations that use the form of public documentation but aren't public.

Apple's documentation begins the comment of a Boolean property with "A Boolean value that indicates whether". In the code
of the project, these words only repeat the type. The reader relies on the indentation that swift-format enforces.
"""

import re

import extract
import rules

TYPE = re.compile(r"\s*(?:[\w@]+(?:\([^)]*\))? )*?(struct|class|enum|actor|protocol|extension)\s+(?!func\b|var\b)\w")
MEMBER = re.compile(r"\b(?:func|var|let|init|case|subscript|typealias|associatedtype)\b")
PUBLIC = re.compile(r"\b(?:public|open)\b(?!\()")
MODIFIER = re.compile(r"\b(?:public|open|package|internal|fileprivate|private)\b(?!\()")


def indentation(line):
    return len(line) - len(line.lstrip())


def enclosing(lines, index):
    """The index of the line that declares the type around a line, or `None` at the top level."""
    width = indentation(lines[index])
    for number in range(index - 1, -1, -1):
        line = lines[number]
        if line.strip() and indentation(line) < width and TYPE.match(line):
            return number
    return None


def head(line):
    """The part of a declaration before its name, which contains the modifiers."""
    match = TYPE.match(line)
    if match:
        return line[:match.start(1)]
    match = MEMBER.search(line)
    return line[:match.start()] if match else line


def is_public(lines, index):
    """Whether the declaration in a line is public, also through its protocol, its enumeration, or its extension."""
    modifiers = head(lines[index])
    if MODIFIER.search(modifiers):
        return bool(PUBLIC.search(modifiers))
    outer = enclosing(lines, index)
    if outer is None:
        return False
    kind = TYPE.match(lines[outer]).group(1)
    inherits = kind in ("extension", "protocol") or kind == "enum" and re.match(r"\s*(?:indirect )?case\b", lines[index])
    return bool(inherits and PUBLIC.search(head(lines[outer])))


def declaration(lines, index):
    """The index of the line with the declaration after a documentation comment."""
    while index < len(lines):
        line = lines[index].strip()
        is_attribute = line.startswith("@") and not (MEMBER.search(line) or TYPE.match(line))
        if line and not line.startswith(("//", "#if")) and not is_attribute:
            return index
        index += 1
    return None


def findings(text):
    """Triples of a line, the words, and the rule, like those of `extract.findings`."""
    lines, found, index = text.split("\n"), [], 0
    while index < len(lines):
        first = index
        while index < len(lines) and re.match(r"\s*///(?!/)", lines[index]):
            index += 1
        if index == first:
            index += 1
            continue
        target = declaration(lines, index)
        if target is None or is_public(lines, target):
            continue
        comment = extract.Paragraph(rules.DOC)
        for number in range(first, index):
            comment.append(number + 1, lines[number].lstrip(" /"))
        for match in rules.BOOLEAN.pattern.finditer(comment.text):
            number = comment.line(match.start())
            if extract.ALLOW not in lines[number - 1]:
                found.append((number, match.group(), rules.BOOLEAN))
    return found
