# SPDX-License-Identifier: MIT
"""Reads the declarations of Swift and C files, without a compiler."""

import collections
import re

TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\#*\"{3}.*?\"{3}\#*|\#+"[^\n]*?"\#+|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)
TOKEN = re.compile(
    r"""(?P<open>\{)|(?P<close>\})
      | \b(?P<keyword>class|struct|enum|actor|protocol|extension)\s+(?P<type>[A-Z][\w.]*)(?P<clause>[^{}]*)(?=\{)
      | \b(?:func\s+`?(?P<function>\w+)`?|(?P<init>init)[?!]?)\s*(?=[(<])
      | \b(?:var|let)\s+(?P<variable>`?\w+`?(?:\s*,\s*`?\w+`?)*)
      | \bcase\s+(?=(?P<case>[^\n]+))
      | \btypealias\s+(?P<alias>\w+)(?:<[^=]*>)?\s*=\s*(?=(?P<aliased>[^\n]+))
      | \bassociatedtype\s+(?P<associated>\w+)""",
    re.VERBOSE,
)


def without_comments(text):
    return TEXT.sub(lambda match: " " if match.group().startswith("/") else match.group(), text)


def without_text(text):
    """Removes comments and strings, but keeps the lines."""
    return TEXT.sub(lambda match: '""' + "\n" * match.group().count("\n"), text)


def balanced(text, start):
    """The end of the parenthesis that opens at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += text[index] in "([{"
        depth -= text[index] in ")]}"
        if depth == 0:
            return index
    return len(text)


def is_part(labels, declared):
    """Whether a call with these labels can call a declaration, because the other parameters can have default values."""
    rest = iter(declared)
    return all(label in rest for label in labels)


def labels(parameters, is_case=False):
    """The labels of a parameter list, such as `_:size:`. Associated values of cases have a label only before a colon."""
    found, depth, begins = "", 0, True
    for index, character in enumerate(parameters):
        depth += character in "([{<"
        # The arrow of a function type closes nothing.
        depth -= character in ")]}" or character == ">" and parameters[index - 1] != "-"
        if depth == 0 and character == ",":
            begins = True
        elif begins and not character.isspace():
            name = re.match(r"(?:@\w+(?:\([^)]*\))?\s+)*`?(\w+)`?", parameters[index:])
            if is_case and name and not re.match(r"`?\w+`?\s*:", parameters[index:]):
                found += "_:"
            else:
                found += f"{name.group(1)}:" if name else ""
            begins = False
    return found


class Declarations:
    def __init__(self):
        #: All identifiers outside of comments and strings.
        self.words = set()
        #: The files that declare each type.
        self._types = collections.defaultdict(set)
        self._members = collections.defaultdict(set)
        self._supertypes = collections.defaultdict(set)
        self._functions = set()

    def has_type(self, name):
        """Whether the files declare a type. A type that they only extend belongs to another project."""
        return name in self._types

    def files(self, name):
        """The files that declare a type."""
        return self._types.get(name, set())

    def has_function(self, signature):
        return self._contains(self._functions, signature)

    @staticmethod
    def _contains(declared, signature):
        """Whether a declaration has a name, and all labels of the signature in their order."""
        name, parenthesis, rest = signature.partition("(")
        if not parenthesis or signature in declared:
            return signature in declared
        called = rest[:-1].split(":")[:-1]
        return any(is_part(called, other[len(name) + 1:-1].split(":")[:-1])
                   for other in declared if other.startswith(name + "("))

    def has_member(self, owner, signature):
        """Whether a type, an extension of it, or a supertype declares a member. Without labels, any overload counts."""
        waiting, seen = [owner], set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if self._contains(self._members.get(name, ()), signature):
                return True
            waiting += self._supertypes.get(name, ())
        return False

    def add(self, path, text):
        text = without_text(text)
        self.words.update(re.findall(r"[A-Za-z_]\w*", text))
        if path.endswith(".swift"):
            self._add_swift(path, text)

    def _add_swift(self, path, text):
        scopes, pending = [], None
        for match in TOKEN.finditer(text):
            owner = scopes[-1] if scopes else None
            if match["open"]:
                scopes.append(pending)
                pending = None
            elif match["close"]:
                if scopes:
                    scopes.pop()
            elif match["type"]:
                pending = match["type"].split(".")[-1]
                self._declare(owner, pending)
                if match["keyword"] != "extension":
                    self._types[pending].add(path)
                clause = re.sub(r"\bwhere\b.*", "", match["clause"], flags=re.DOTALL)
                self._supertypes[pending].update(re.findall(r"\b[A-Z]\w*", clause))
            elif match["function"] or match["init"]:
                self._add_function(owner, match["function"] or "init", text, match.end())
            elif match["variable"]:
                for name in re.findall(r"\w+", match["variable"]):
                    self._declare(owner, name)
            elif match["case"] and owner:
                self._add_cases(owner, match["case"])
            elif match["alias"]:
                self._types[match["alias"]].add(path)
                self._supertypes[match["alias"]].update(re.findall(r"\b[A-Z]\w*", match["aliased"]))
                self._declare(owner, match["alias"])
            elif match["associated"]:
                self._declare(owner, match["associated"])

    def _add_cases(self, owner, text):
        position = 0
        while name := re.compile(r"\s*`?(\w+)`?\s*").match(text, position):
            position = name.end()
            self._declare(owner, name.group(1))
            if text[position:position + 1] == "(":
                end = balanced(text, position)
                self._declare(owner, f"{name.group(1)}({labels(text[position + 1:end], is_case=True)})")
                position = end + 1
            comma = text.find(",", position)
            if comma < 0:
                break
            position = comma + 1

    def _add_function(self, owner, name, text, position):
        if text[position] == "<":
            depth = 0
            while position < len(text):
                depth += text[position] == "<"
                depth -= text[position] == ">" and text[position - 1] != "-"
                position += 1
                if depth == 0:
                    break
            while position < len(text) and text[position].isspace():
                position += 1
        if position >= len(text) or text[position] != "(":
            return
        signature = f"{name}({labels(text[position + 1:balanced(text, position)])})"
        self._functions.update({name, signature})
        self._declare(owner, name)
        self._declare(owner, signature)

    def _declare(self, owner, name):
        if owner:
            self._members[owner].add(name)
