# SPDX-License-Identifier: MIT
"""The names of a repository: its files, its declarations, its commands, and the words of its code."""

import fnmatch
import os
import re

from declarations import Declarations, without_comments

#: Directories whose files are data. Their names count, and their contents don't.
DATA = {"Fixtures", "Images", "Album", "Corpora", "Documentation", "report"}
CODE = {".swift", ".c", ".h", ".py", ".sh", ".modulemap", ".json", ".yml", ".yaml", ".in", ".conf", ".service", ".lua"}
HIDDEN = {".ci", ".github"}
SUFFIXES = r"\.(?:swift|c|h|md|py|sh|json|yml|docc|txt|svg|paths|modules)"

COMMAND = re.compile(r"(?:env )?(make|swift|webimage)(?: |$)")
PATH = re.compile(r"[\w+.*<>-]*(?:/[\w+.*<>-]*)+|\.?[\w+.-]+" + SUFFIXES)
MEMBER = re.compile(r"([A-Z]\w*(?:\.[A-Z]\w*)*)\.([a-z]\w*|[A-Z]\w*)(\((?:\w+:)*\))?")
FUNCTION = re.compile(r"(\w+)(\((?:\w+:)+\))")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Names:
    def __init__(self, root, excluded=()):
        """Reads a repository. The names of excluded files and directories count, and their contents don't."""
        self.root, self._excluded = root, set(excluded)
        #: The paths of all files and directories, relative to the root, with a slash at both ends.
        self._paths = set()
        self._declarations, texts = Declarations(), []
        self._read(root, texts)
        #: The files without their comments.
        self._text = "\n".join(texts)
        self._makefile = self._contents("Makefile")
        self._manifest = "\n".join(self._contents(f"{place}Package.swift") for place in ("", "Examples/", "Compatibility/"))

    def _contents(self, path):
        path = self.root / path
        return path.read_text() if path.is_file() else ""

    def _read(self, directory, texts):
        for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
            path = directory / entry.name
            if entry.is_symlink():
                continue
            is_directory = entry.is_dir()
            if is_directory and entry.name.startswith(".") and entry.name not in HIDDEN:
                continue
            relative = path.relative_to(self.root)
            self._paths.add(f"/{relative}/")
            if is_directory:
                self._read(path, texts)
            elif self._is_code(path, relative):
                texts.append(self._add(path))

    def _is_code(self, path, relative):
        is_excluded = any(path.is_relative_to(excluded) for excluded in self._excluded)
        return not is_excluded and not DATA.intersection(relative.parts) and (path.suffix in CODE or not path.suffix)

    def _add(self, path):
        """Adds the declarations of a file. Returns its text without comments."""
        text = path.read_text(errors="replace")
        if path.suffix in {".swift", ".c", ".h"}:
            self._declarations.add(str(path.relative_to(self.root)), text)
            return without_comments(text)
        return re.sub(r"(?m)(?:^|(?<=\s))#.*$", "", text)

    # MARK: - Lookup

    def has_word(self, word):
        """Whether the code contains an identifier outside of comments and strings, or a directory has this name."""
        return word in self._declarations.words or any(f"/{word}/" in path for path in self._paths) or self._has_text(word)

    def _has_text(self, text):
        """Whether a file contains a text outside of its comments. A CamelCase name in a string isn't a name of the code."""
        if re.fullmatch(r"[A-Z]\w*[a-z]\w*[A-Z]\w*", text):
            return False
        return re.search(r"(?<!\w)" + re.escape(text) + r"(?!\w)", self._text) is not None

    def has_path(self, path):
        """Whether the path of a file or directory ends with these components."""
        path = path.strip("/")
        if "*" in path or "<" in path:
            pattern = re.sub(r"<\w+>", "*", path)
            return any(fnmatch.fnmatchcase(existing, f"*/{pattern}/") for existing in self._paths)
        return any(existing.endswith(f"/{path}/") for existing in self._paths)

    def target_directories(self, target):
        """The names of the directories of a target, or `None` if the target doesn't exist."""
        path = self.root / "Sources" / target
        if f"/Sources/{target}/" not in self._paths:
            return None
        return {entry.name for entry in path.iterdir() if entry.is_dir()}

    def has_link(self, document, link, text):
        """Whether the target of a link exists. Links to other hosts aren't checked."""
        if re.match(r"[a-z]+:", link):
            return True
        path, _, anchor = link.partition("#")
        target = (document.parent / path) if path else document
        if not target.exists():
            return False
        if not anchor or target.suffix != ".md":
            return True
        contents = target.read_text() if path else text
        headings = re.findall(r"(?m)^#{1,6} (.+)$", contents)
        return anchor in {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}

    def is_declared_in(self, name, place):
        """Whether a type is declared in a file or directory. Other names aren't checked."""
        files = self._declarations.files(name)
        return not files or any(f"/{place.strip('/')}/" in f"/{file}/" for file in files)

    # MARK: - Spans

    def problems(self, span):
        """The problems of the names in a code span."""
        command = COMMAND.match(span)
        words = span.split()
        if command and command.group(1) == "make" and len(words) > 1:
            return self._make_problems(words[1:])
        if command and command.group(1) == "swift" and len(words) > 1:
            return self._swift_problems(words)
        if command and command.group(1) == "webimage" and len(words) > 1:
            return [] if self._has_text(f'name: "{words[1]}"') or self._has_text(f'"{words[1]}"') else [
                f"the tool has no command {words[1]}"]
        if span.startswith(".build") and self._has_text(span):
            return []
        if words and PATH.fullmatch(words[0]) and not words[0].startswith(".."):
            return self._path_problems(words)
        if span.startswith(".") and self.has_path(span):
            return []
        member = MEMBER.fullmatch(span)
        if member:
            return self._member_problems(*member.groups())
        function = FUNCTION.fullmatch(span)
        if function:
            return self._function_problems(*function.groups())
        if IDENTIFIER.fullmatch(span):
            return [] if self.has_word(span) else ["the code doesn’t contain this name"]
        if self._has_text(span):
            return []
        return [f"no file contains {word}" for word in dict.fromkeys(re.findall(r"\w+(?:-\w+)*", span))
                if not self.has_word(word)]

    def _make_problems(self, words):
        found = []
        for word in words:
            variable, equals, value = word.partition("=")
            if equals:
                if not re.search(rf"\b{variable}\b", self._makefile):
                    found.append(f"the Makefile has no variable {variable}")
                found += [f"there is no {name}" for name in re.findall(r"[A-Z]\w+[a-z]\w*", value) if not self.has_word(name)]
            elif not word.endswith('"') and not re.search(rf"(?m)^{re.escape(word)}:", self._makefile):
                found.append(f"the Makefile has no target {word}")
        return found

    def _swift_problems(self, words):
        found = []
        for option, value in zip(words, words[1:]):
            if option in ("--product", "--target") and f'"{value}"' not in self._manifest:
                found.append(f"no manifest contains the product or target {value}")
            if option == "--package-path" and not self.has_path(value):
                found.append(f"there is no directory {value}")
        return found

    def _path_problems(self, words):
        path = words[0]
        if not self.has_path(path):
            return ["there is no such file or directory"]
        text = self._contents(path)
        found = [f"{path} has no option {word}" for word in words[1:] if word.startswith("--") and word not in text]
        return found + [f"there is no file {word}" for word in words[1:] if PATH.fullmatch(word) and not self.has_path(word)]

    def _member_problems(self, owner, name, labels):
        first = owner.split(".")[-1]
        if not self._declarations.has_type(first):
            # Test suites have names such as Target.Suite, and other types belong to the system.
            return [f"the code doesn’t contain {word}" for word in owner.split(".") + [name] if not self.has_word(word)]
        if labels and self._declarations.has_type(name):
            return self._function_problems(name, labels)
        if not self._declarations.has_member(first, name + (labels or "")):
            return [f"{first} has no member {name}{labels or ''}"]
        return []

    def _function_problems(self, name, labels):
        if self._declarations.has_type(name):
            is_known = self._declarations.has_member(name, "init" + labels)
        else:
            is_known = self._declarations.has_function(name + labels) or not name[0].islower() and self.has_word(name)
        return [] if is_known else ["no declaration has this name and these labels"]
