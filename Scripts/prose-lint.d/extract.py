# SPDX-License-Identifier: MIT
"""Extracts the prose of a file: comments, documentation comments, Markdown, string literals, and test names."""

import bisect
import io
import re
import tokenize

import rules

ALLOW = "prose-lint: allow"


class Paragraph:
    """Consecutive lines of prose of one kind. Rules match the joined text, so a line break hides no match."""

    def __init__(self, kind):
        self.kind, self.text = kind, ""
        #: Pairs of an offset in the text and the line of the file that begins there.
        self.lines = []

    def append(self, number, text):
        text = clean(text)
        if self.text and text:
            self.text += " "
        self.lines.append((len(self.text), number))
        self.text += text

    def line(self, offset):
        return max((start, number) for start, number in self.lines if start <= offset)[1]


def path(text):
    """A code span for a path, but the text itself for words with a slash between them."""
    is_path = text[0] in "~/." or text.endswith("/") or "." in text.strip(".") or "_" in text
    return "`x`" if is_path else text


CODE = [
    # A link keeps its text, and loses its target.
    (re.compile(r"!?\[([^\]]*)\]\((?:[^()\s]|\([^()]*\))*(?: \"[^\"]*\")?\)"), r"\1"),
    (re.compile(r"<[a-z]+:[^>\s]*>|\b[a-z]+://[^\s`)>\"”]*"), "`x`"),
    (re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>"), " "),
    # Code spans. Literals stay, because rules mention them.
    (re.compile(r"(`+)\s*(nil|true|false)\s*\1(?!`)"), r"`\2`"),
    (re.compile(r"(?<!`)(`+)(?!`)(?!(?:nil|true|false)`).*?(?<!`)\1(?!`)"), "`x`"),
    # Paths, file names, members, identifiers, and options.
    (re.compile(r"(?<![\w`/~.@+-])[~.\w@+-]*/[\w.@+/-]*"), lambda match: path(match.group())),
    (re.compile(r"\b[\w-]+\.(?:c|h|json|md|modulemap|png|py|sh|swift|txt|ya?ml)\b"), "`x`"),
    (re.compile(r"(?<![\w.…`)])\.[a-z]\w+"), "`x`"),
    (re.compile(r"\b\w*(?:[a-z0-9][A-Z]|\w_\w|_\w)\w*(?:\([\w:]*\))?"), "`x`"),
    (re.compile(r"\b[A-Za-z]\w*(?:\.[a-zA-Z]\w+)*\((?:[\w]*:)*\)"), "`x`"),
    (re.compile(r"(?<!\w)--[a-z][\w-]*(?:=\S+)?"), "`x`"),
]
RFC = re.compile(r"\bRFC ?\d{3,}")
QUOTE = re.compile(r"“[^”]*”|\"[^\"]*\"")


def clean(text):
    """Replaces everything that isn't prose with a code span."""
    for pattern, replacement in CODE:
        text = pattern.sub(replacement, text)
    return re.sub(r"\s+", " ", text).strip()


def without_quotations(text):
    """Replaces the quotations of a paragraph that names an RFC, with the same length so that offsets stay valid."""
    if not RFC.search(text):
        return text
    return QUOTE.sub(lambda match: "“" + "x" * (len(match.group()) - 2) + "”", text)


ITEM = re.compile(r"(?:[-*+]|\d+[.)]) ")
#: The item of a parameter in a documentation comment. Its name is an identifier.
PARAMETER = re.compile(r"- (?:Parameter )?([a-z_]\w*):")


class Prose:
    """The paragraphs of a file."""

    def __init__(self):
        self.paragraphs = []
        self._open = None

    def block(self, kind, lines):
        """Adds the lines of a comment or of an article, which are pairs of a number and Markdown text."""
        self._open, fence = None, None
        for number, raw in lines:
            text = raw.strip()
            mark = re.match(r"(`{3,}|~{3,})", text)
            if fence:
                if mark and mark.group().startswith(fence) and not text.strip("`~"):
                    fence = None
                continue
            if mark:
                fence, self._open = mark.group(), None
                continue
            self._line(kind, number, text)
        self._open = None

    def _line(self, kind, number, text):
        # An empty line ends a paragraph, and quotations, rulers, and license lines aren't prose of the project.
        if not text or text.startswith(">") or re.fullmatch(r"[|:\s=*_-]+", text) or "SPDX-License-Identifier" in text:
            self._open = None
            return
        heading = re.match(r"#{1,6} |MARK: ?-? ?", text) if kind != rules.STRING else None
        if heading:
            self._open = None
            self.add(rules.HEADING, number, text[heading.end():])
            return
        if self._open is None or ITEM.match(text) or text.startswith("|"):
            self._open = Paragraph(kind)
            self.paragraphs.append(self._open)
        self._open.append(number, text)
        if text.startswith("|"):
            self._open = None

    def add(self, kind, number, text):
        paragraph = Paragraph(kind)
        paragraph.append(number, text)
        self.paragraphs.append(paragraph)


# MARK: - Swift and C

CODE_TOKEN = re.compile(
    r"""(?P<line>//[^\n]*) | (?P<block>/\*) | (?P<string>\#*"{3}|\#*") | (?P<char>'(?:\\.|[^'\\\n])')
      | (?P<open>\() | (?P<close>\)) | (?P<gap>[ \t\r\n+]+) | (?P<word>[@\w]+) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
TEST_FUNCTION = re.compile(r"\bfunc (test[A-Z]\w*)\(\)")


class CodeReader:
    """Reads the comments and string literals of Swift or C."""

    def __init__(self, text, is_swift, is_test):
        self.text, self.is_swift, self.is_test = text, is_swift, is_test
        self.prose = Prose()
        #: Consecutive comment lines, and consecutive literals that `+` or white space connects.
        self.comments, self.literals = [], []
        #: The two tokens before the current one, to recognize `@Test("`.
        self.before = ("", "")
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def read(self):
        self._scan(0, len(self.text), None)
        self._end_comments()
        self._end_literals()
        if self.is_test and self.is_swift:
            for match in TEST_FUNCTION.finditer(self.text):
                self.prose.add(rules.NAME, self._number(match.start()), words(match.group(1)))
        return self.prose.paragraphs

    def _number(self, position):
        return bisect.bisect_right(self.line_starts, position)

    def _scan(self, position, end, close):
        """Reads code until `end`, or until the parenthesis that closes an interpolation."""
        depth = 0
        while position < end:
            match = CODE_TOKEN.match(self.text, position)
            kind, token, start = match.lastgroup, match.group(), position
            position = match.end()
            if kind == "gap":
                continue
            if kind == "line":
                self._comment(start, token)
                continue
            if kind == "block":
                position = self._block(start)
                continue
            if kind == "string":
                position = self._string(start, token)
            else:
                self._end_literals()
                depth += (kind == "open") - (kind == "close")
                if close and depth < 0:
                    return position
            self._end_comments()
            self.before = (self.before[1], token)
        return position

    def _comment(self, start, token):
        number = self._number(start)
        line_start = self.text.rfind("\n", 0, start) + 1
        kind = rules.DOC if re.match(r"///(?!/)|//!", token) else rules.COMMENT
        is_alone = not self.text[line_start:start].strip()
        if self.comments:
            last_kind, last_number, was_alone = self.comments[-1][:3]
            if last_kind != kind or last_number != number - 1 or not (is_alone and was_alone):
                self._end_comments()
        self.comments.append((kind, number, is_alone, token.lstrip("/!")))

    def _end_comments(self):
        if self.comments:
            self.prose.block(self.comments[0][0], [(number, text) for _, number, _, text in self.comments])
            self.comments = []

    def _block(self, start):
        self._end_comments()
        end = self.text.find("*/", start + 2)
        end = len(self.text) if end < 0 else end + 2
        body = self.text[start:end]
        kind = rules.DOC if re.match(r"/\*[*!](?!/)", body) else rules.COMMENT
        first = self._number(start)
        lines = re.sub(r"^/\*+!?|\*+/$", "", body).split("\n")
        self.prose.block(kind, [(first + index, re.sub(r"^\s*\*+ ?", "", line)) for index, line in enumerate(lines)])
        return end

    def _string(self, start, token):
        """Reads a literal and the code of its interpolations. Returns the position after it."""
        hashes = token.count("#") if self.is_swift else 0
        if not self.is_swift:
            # C has neither raw nor multiline literals: `#` is an operator there, and `""` an empty literal.
            token = token.lstrip("#")[:1]
            start = self.text.index('"', start)
        quote = token.strip("#") + "#" * hashes
        escape = "\\" + "#" * hashes
        position, text = start + len(token), ""
        name = self._is_test_name()
        while position < len(self.text) and not self.text.startswith(quote, position):
            if self.is_swift and self.text.startswith(escape + "(", position):
                open_literals, self.literals = self.literals, []
                position = self._scan(position + len(escape) + 1, len(self.text), True)
                self._end_literals()
                self.literals = open_literals
                text += "`x`"
            elif self.text.startswith(escape, position):
                position += len(escape)
                line_break = self.text[position] in "nrt\n"
                text += " " if line_break else self.text[position]
                position += 1
            elif len(quote) - hashes == 1 and self.text[position] == "\n":
                break
            else:
                text += self.text[position]
                position += 1
        position += len(quote)
        if name:
            self.prose.add(rules.TEST, self._number(start), text)
        elif not self.is_test:
            self.literals.append((self._number(start), text))
        return position

    def _is_test_name(self):
        return self.is_test and self.before in (("@Test", "("), ("@Suite", "("))

    def _end_literals(self):
        literals, self.literals = self.literals, []
        lines = [(number + index, line) for number, text in literals for index, line in enumerate(text.split("\n"))]
        if any(" " in line.strip() for _, line in lines):
            self.prose.block(rules.STRING, lines)


def words(name):
    """The words of the name of an XCTest function, as a sentence."""
    name = re.sub(r"Gtk[A-Z][a-z]+|Web[A-Z][a-z]+", "Widget", name[4:])
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)).capitalize()


# MARK: - Python, shell scripts, and files with the same comments

def python(text, is_test):
    prose, comments = Prose(), []

    def end_comments():
        prose.block(rules.COMMENT, comments)
        comments.clear()

    is_first = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        number = token.start[0]
        if name == "COMMENT":
            if number == 1 and token.string.startswith("#!"):
                continue
            is_alone = not token.line[: token.start[1]].strip()
            if comments and (comments[-1][0] != number - 1 or not is_alone):
                end_comments()
            comments.append((number, token.string.lstrip("#:!")))
            if not is_alone:
                end_comments()
        elif name in ("STRING", "FSTRING_MIDDLE"):
            body = token.string
            prefix, content = re.match(r"(\w*)([\"']*)", body).groups() if name == "STRING" else ("", "")
            if "r" in prefix.lower() or "b" in prefix.lower():
                continue
            if name == "STRING":
                width = 3 if body[len(prefix):len(prefix) + 3] in ('"""', "'''") else 1
                body = body[len(prefix) + width:-width]
                is_docstring = width == 3
                if "f" in prefix.lower():
                    body = re.sub(r"\{[^{}]*\}", "`x`", body)
            else:
                is_docstring = False
            if is_docstring or (" " in body.strip() and not is_test):
                kind = rules.COMMENT if is_docstring else rules.STRING
                lines = body.split("\n")
                prose.block(kind, [(number + index, line.replace("\\n", " ")) for index, line in enumerate(lines)])
    end_comments()
    return prose.paragraphs


def hash_comments(text):
    """Comments that begin with `#`, as in shell scripts, makefiles, and YAML."""
    prose, lines, last = Prose(), [], None
    for number, line in enumerate(text.split("\n"), 1):
        comment = hash_comment(line)
        is_alone = line.lstrip().startswith("#")
        if comment is None or (number == 1 and line.startswith("#!")):
            continue
        if lines and (last != number - 1 or not is_alone):
            prose.block(rules.COMMENT, lines)
            lines = []
        lines.append((number, comment.lstrip("#")))
        last = number if is_alone else None
    prose.block(rules.COMMENT, lines)
    return prose.paragraphs


def hash_comment(line):
    """The comment of a line, or `None`. A `#` inside quotes or inside a word begins no comment."""
    quote = None
    for index, character in enumerate(line):
        if quote:
            quote = None if character == quote and line[index - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character == "#" and (index == 0 or line[index - 1].isspace()):
            return line[index:]
    return None


def markdown(text):
    prose = Prose()
    # Comments can span lines, so their line breaks stay.
    text = re.sub(r"<!--.*?-->", lambda match: "\n" * match.group().count("\n"), text, flags=re.DOTALL)
    prose.block(rules.MARKDOWN, list(enumerate(text.split("\n"), 1)))
    return prose.paragraphs


# MARK: - Files

def language(name, first_line):
    """The language of a file, or `None` if the linter doesn't read it."""
    suffix = name.rpartition(".")[2] if "." in name.lstrip(".") else ""
    known = {
        "swift": "swift", "c": "c", "h": "c", "modulemap": "c", "md": "markdown", "py": "python", "sh": "hash",
        "yml": "hash", "yaml": "hash", "paths": "hash", "modules": "hash",
    }
    if suffix in known:
        return known[suffix]
    if name == "Makefile":
        return "hash"
    if not suffix and first_line.startswith("#!"):
        return "python" if "python" in first_line else "hash"
    return None


def paragraphs(language, text, is_test=False):
    """The prose of a file, without the lines that are marked."""
    if language == "markdown":
        return markdown(text)
    if language == "python":
        return python(text, is_test)
    if language == "hash":
        return hash_comments(text)
    return CodeReader(text, language == "swift", is_test).read()


def findings(language, text, is_test=False):
    """Triples of a line, the text that was found, and the rule, in the order of the lines."""
    allowed = {number for number, line in enumerate(text.split("\n"), 1) if ALLOW in line}
    found = []
    for paragraph in paragraphs(language, text, is_test):
        prose, taken = without_quotations(paragraph.text), []
        parameter = PARAMETER.match(prose) if paragraph.kind == rules.DOC else None
        for rule in rules.RULES:
            if paragraph.kind not in rule.kinds:
                continue
            for match in rule.pattern.finditer(prose):
                start, end = match.span()
                number = paragraph.line(start)
                # One expression is one finding, although several rules match it.
                if number in allowed or any(start < last and first < end for first, last in taken):
                    continue
                # The name of a parameter is code.
                if parameter and parameter.start(1) <= start and end <= parameter.end(1):
                    continue
                taken.append((start, end))
                found.append((number, excerpt(prose, start, end), rule))
    return sorted(found, key=lambda finding: finding[0])


def excerpt(text, start, end):
    """The words of a match, or the words around a semicolon."""
    words = text[start:end].strip(" .:;|")
    if words:
        return words
    return re.search(r"\S*$", text[:start]).group() + text[start:end] + re.match(r" ?\S*", text[end:]).group()
