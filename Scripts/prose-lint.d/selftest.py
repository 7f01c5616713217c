# SPDX-License-Identifier: MIT
"""Checks the linter: sentences that must and must not be found, and the extraction of prose from every language.

All samples are raw strings, which the linter skips.
"""

import access
import extract
import rules
import tables

#: Documentation comments, each with the words that the linter must find in it.
BAD = [
    (r"The pictures of a page.", [r"pictures"]),
    (r"A dear operation begins anew, and it repeats for ever.", [r"dear", r"anew", r"for ever"]),
    (r"It waits in vain, although the data is at hand and valid as ever.", [r"in vain", r"at hand", r"as ever"]),
    (r"The manager uses it in place of the download under way.", [r"in place of", r"under way"]),
    (r"Reports how far the download is.", [r"how far"]),
    (r"A look-up with back-off and time-outs takes 5 per cent.", [r"look-up", r"back-off", r"time-outs", r"per cent"]),
    (r"The view doesn't show it any more.", [r"any more"]),
    (r"Returns `nil` where the cache is off.", [r"`nil` where"]),
    (r"The size is zero where the header is invalid.", [r"zero where"]),
    (r"The manager waits where there is a download.", [r"where there is"]),
    (r"Who cancels loses the result.", [r"Who"]),
    (r"What failed most recently.", [r"What"]),
    (r"Of a slice that ran out of time.", [r"Of a"]),
    (r"The caller is told about progress. The header tells whether it is valid.", [r"is told", r"tells whether"]),
    (r"The server is asked, and the size that was asked for is returned.", [r"is asked", r"asked for"]),
    (r"The download goes on after the user has given up.", [r"goes on", r"given up"]),
    (r"The data that nobody needs and that so many views loaded.", [r"nobody", r"so many"]),
    (r"The method returns at once, and the writes continue behind.", [r"at once", r"behind"]),
    (r"The value is no number.", [r"is no number"]),
    (r"The URLs that are none.", [r"that are none"]),
    (r"The filter stands before the loader, and the file lies in the cache.", [r"stands before", r"lies in"]),
    (r"The views that can be seen fetch images ahead.", [r"can be seen", r"fetch images ahead"]),
    (r"The app's own loader skips blanks in the folder.", [r"The app's own", r"blanks", r"folder"]),
    (r"The colour is normalised.", [r"colour", r"normalised"]),
    (r"The request is cancelled.", [r"cancelled"]),
    (r"The timeout. Default: 5 seconds.", [r"Default: 5"]),
    (r"The limit. Default `nil`.", [r"Default `nil`"]),
    (r"- Throws: why it failed.", [r"- Throws: why"]),
    (r"- Parameter url: the URL to load.", [r"- Parameter url: the"]),
    (r"- Parameter folder: The folder.", [r"folder"]),
    (r"- Pictures: The images of a page.", [r"Pictures"]),
    (r"The value is nil if the cache is off.", [r"nil"]),
    (r"The cache is full; the manager evicts an entry.", [r"full; the"]),
    (r"The frame of stills. It becomes the poster of the animation.", [r"stills", r"poster"]),
    (r"The data is cut, damaged, or otherwise broken.", [r"is cut", r"damaged", r"broken"]),
    (r"The answer of the server replaces the stored copy.", [r"answer", r"stored copy"]),
    (r"The manager found none and looks into the disk cache.", [r"found none", r"looks into"]),
    (r"The validator still holds, but the entry is past its freshness.", [r"still holds", r"past its freshness"]),
    (r"Images that Vary tells apart.", [r"tells apart"]),
    (r"The oldest entry leaves first.", [r"leaves first"]),
    (r"A remembered failure that the caller hears of.", [r"remembered failure", r"hears of"]),
    (r"The result for whoever waits and for all who wait.", [r"whoever", r"all who"]),
    (r"A lost download is tried again.", [r"lost download", r"tried again"]),
    (r"The pool gives the buffer back.", [r"gives the buffer back"]),
    (r"The server has too much to do.", [r"too much to do"]),
    (r"The file beside the index.", [r"beside"]),
    (r"The bytes that have come are decoded piece by piece.", [r"have come", r"piece by piece"]),
    (r"The cache looks at the key while memory is short.", [r"looks at", r"memory is short"]),
    (r"The request is refused after the time limit.", [r"is refused", r"time limit"]),
    (r"The animation is over.", [r"is over"]),
    (r"The cache forgets the entry when its owner is gone.", [r"forgets", r"is gone"]),
    (r"The lock lets go.", [r"lets go"]),
    (r"The store has a thread of its own and starts by itself.", [r"thread of its own", r"by itself"]),
    (r"The view on the screen is a recycled cell.", [r"on the screen", r"recycled"]),
    (r"The color is shown meanwhile.", [r"shown meanwhile"]),
    (r"The data is there.", [r"is there"]),
    (r"The figures of the cache, whatever its size.", [r"figures", r"whatever"]),
    (r"The value is stored as it is.", [r"as it is"]),
    (r"The present value.", [r"The present"]),
    (r"The image is labelled.", [r"labelled"]),
    (r"The resolved request has a rendition in the studio.", [r"resolved request", r"rendition", r"studio"]),
    (r"The mailbox of the chrome receives the wishes.", [r"mailbox", r"chrome", r"wishes"]),
    # Line breaks don't hide a phrase, and the line of its first word is reported.
    (r"""The manager uses this value in
 place of the default.""", [r"in place of"]),
]

#: Documentation comments without findings.
GOOD = [
    r"The image of a page. Returns `nil` if the cache is off.",
    r"A `GtkPicture` shows it. GtkPicture draws the texture, and gtk_picture_new creates one.",
    r"The method `pictures(of:)` and the member `.cancelled` keep their spelling, and so does .cancelled.",
    r"The file Sources/WebImage/PixelPatterns.swift, and also [the guide](Documentation/Colour.md).",
    r"See <https://example.org/picture> and https://example.org/colour.",
    r"RFC 9111 says that “a cache that is asked for the stored copy at once” sends a request.",
    r"> A picture that is quoted from elsewhere.",
    r"""The example:
```swift
let picture = nil // The picture; nobody
```
returns an image.""",
    r"- Parameter url: The URL to load.",
    r"- Parameter cancelled: The error of a canceled wait.",
    r"""- Parameters:
  - folder: The directory.
  - pictures: The images.""",
    r"- Throws: An ``ImageError`` if the image can’t be decoded.",
    r"The default is `nil`. By default, the manager waits.",
    r"The place where the file is located. There is a limit, and there are exceptions.",
    r"Connection refused. The manager distinguishes JPEG/PNG images.",
    r"A poster frame, a still image, and a promise. The file is broken down into chunks.",
    r"The field is 3 `x` wide (RFC 9110 8.3; RFC 9111 4.2).",
]

#: Files, with the findings as `line: words`.
FILES = [
    ("swift", False, r'''
// SPDX-License-Identifier: MIT
let picture = 1  // The picture.
/// A doc comment
/// with nil.
let url = "https://example.org/picture", key = "picture"
throw Failure("The \(name ?? "picture of nobody") was refused \(count(of: "a, b"))")
let text = """
    Two folders,
    one \(folder) line
    """
let raw = #"A "picture" # and \(folder) and \#(folder)"#
let url = "https://example.org/colour and a colour"  // prose-lint: allow
/* A block
 * with a folder; and more. */
''', [r"3: picture", r"5: nil", r"7: picture", r"7: nobody", r"7: was refused", r"9: folders", r"12: picture",
      r"12: folder", r"15: folder", r"15: folder; and"]),
    ("swift", True, r'''
@Suite("Folders of a cache") struct FolderTests {
    @Test("the picture is decoded.")
    func picture() { #expect(text == "a picture in a folder") }
    @Test(.enabled(if: isThere), arguments: ["a picture"]) func other() {}
    @Test(
        "A truncated file throws `truncated`", arguments: ["a picture"])
    func third() {}
}
class ViewTests: XCTestCase { func testWhatLiesAheadIsFetchedAnewInGtkPicture() {} }
''', [r"2: Folders", r"3: picture", r"3: the", r"3: decoded.", r"10: What", r"10: anew"]),
    ("c", False, r'''
#include "picture.h"
#define JOIN(a, b) a##b
static const char quote = '"', *text = "no picture";
/** Returns nil; nobody asks. */
static const char *other = "picture"; // A broken file.
''', [r"4: picture", r"5: nil", r"5: nil; nobody", r"5: nobody", r"6: broken"]),
    ("markdown", False, r'''# Folders and pictures
What failed, in `picture` form.

| Picture | who loads it |
|---|---|
| `x` | at once |

```swift
let picture = folder
```
<!-- A comment about a
picture -->
1. A colour <!-- prose-lint: allow -->
2. A [picture](folder/picture.md "A folder") of https://example.org/picture.
''', [r"1: Folders", r"1: pictures", r"2: What", r"4: Picture", r"4: who", r"6: at once", r"14: picture"]),
    ("python", False, r'''#!/usr/bin/env python3
"""Reads a picture.

What follows is asked for.
"""
x = "a folder", 'folder', f"{picture} of a folder", r"a folder"  # The folder.
# Prints the
# answer.
''', [r"2: picture", r"4: What", r"4: asked for", r"6: folder", r"6: folder", r"6: folder", r"8: answer"]),
    ("hash", False, r'''#!/bin/bash
# Makes a folder.
echo "# no folder" ${name#folder} $#  # A folder anew
''', [r"2: folder", r"3: folder", r"3: anew"]),
]

#: A Swift file, with the lines of the documentation comments that only public declarations may have.
ACCESS = (r'''
/// A Boolean value that indicates whether the file exists.
public let exists = true
/// A Boolean value that indicates whether the file exists.
@MainActor
public private(set) var mayExist = true
/// A Boolean value that indicates whether the file exists.
private let wasFound = true
public struct File {
    /// Reads the file.
    ///
    /// - Returns: A Boolean value that
    ///   indicates whether the file exists.
    @discardableResult
    func read() -> Bool { true }
    /// A Boolean value that indicates whether the file exists.
    package var isOpen: Bool
    /// Returns a Boolean value that indicates whether the file exists.
    public func find() -> Bool { true }
    /// A Boolean value that indicates whether the file exists.  prose-lint: allow
    var isAllowed: Bool
}
public protocol Readable:
    AnyObject
{
    /// A Boolean value that indicates whether the file can be read.
    var isReadable: Bool { get }
}
public extension File {
    /// A Boolean value that indicates whether the file is empty.
    var isEmpty: Bool { true }
    /// A Boolean value that indicates whether the file is empty.
    private var isFull: Bool { true }
}
public enum Result {
    /// A Boolean value that indicates whether the file exists.
    case exists(Bool)
    /// A Boolean value that indicates whether the file exists.
    var isFound: Bool { true }
    #if GTK
        enum Kind {
            /// A Boolean value that indicates whether the file exists.
            case open(Bool)
        }
    #endif
}
''', [7, 12, 16, 32, 38, 42])

#: A Markdown file, with the lines that directly follow a table.
TABLES = (r'''
| A | B |
|---|---|
| 1 | 2 |
The text is a row.

| A |
|---|
| 1 |

The text is a paragraph.

| A |
|---|
- The item is a row.

```
| A |
The text is code.
```
| A |
|---|
```
| A |
The text is code.
```
The text is a paragraph.
''', [5, 15, 23])

LANGUAGES = {
    "a.swift": "swift", "a.h": "c", "a.md": "markdown", "a.py": "python", "Makefile": "hash", "a.png": None,
    "LICENSE": None,
}


def run():
    """Prints what is wrong. Returns the exit status."""
    wrong, used = [], set()

    def found(language, text, is_test=False):
        result = extract.findings(language, text, is_test)
        used.update(id(rule) for _, _, rule in result)
        return [(number, words) for number, words, _ in result]

    def comment(text):
        return "".join(f"/// {line}\n" for line in text.split("\n"))

    for text, expected in BAD:
        words = [words for _, words in found("swift", comment(text))]
        if sorted(words) != sorted(expected):
            wrong.append(f"“{text}” has the findings {words}, but {expected} were expected.")
    for text in GOOD:
        words = found("swift", comment(text))
        if words:
            wrong.append(f"“{text}” has the findings {words}, but none were expected.")
    for language, is_test, text, expected in FILES:
        lines = [f"{number}: {words}" for number, words in found(language, text, is_test)]
        if sorted(lines) != sorted(expected):
            wrong.append(f"The {language} sample has the findings {lines}, but {expected} were expected.")
    for name, expected in LANGUAGES.items():
        if extract.language(name, "MIT License") != expected:
            wrong.append(f"The language of {name} is {extract.language(name, '')}, but {expected} was expected.")
    lines = [number for number, _, _ in access.findings(ACCESS[0])]
    if lines != ACCESS[1]:
        wrong.append(f"The sample of access has the findings {lines}, but {ACCESS[1]} were expected.")
    lines = [number for number, _, _ in tables.findings(TABLES[0])]
    if lines != TABLES[1]:
        wrong.append(f"The sample of tables has the findings {lines}, but {TABLES[1]} were expected.")
    wrong += [f"No sample matches {rule.pattern.pattern}" for rule in rules.RULES if id(rule) not in used]
    for line in wrong:
        print(f"prose-lint: {line}")
    if not wrong:
        print(f"prose-lint: {len(rules.RULES)} rules, {len(BAD) + len(GOOD) + len(FILES) + 2} samples")
    return 1 if wrong else 0
