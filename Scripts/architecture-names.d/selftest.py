# SPDX-License-Identifier: MIT
"""Checks the script with a small repository."""

import pathlib
import tempfile

from names import Names

FILES = {
    "Makefile": "FILTER ?=\ncheck: build\n\t@true\nbuild:\n",
    "Package.swift": '.executable(name: "tool", targets: ["tool"]), .target(name: "Library")',
    "Scripts/run": "#!/bin/bash\n# Accepts --hidden.\ncase $1 in --check) cp LIST256SUMS .build/site ;; esac\n",
    "Sources/C/CShim/shim.c": "/* old_name */ int wi_add(int left, int right) { return left + right; }\n",
    "Sources/Library/Plan/Plan.swift": '''
// OldPlan was here.
public struct Plan<Value>: Base {
    enum Step { case first, second(Int, unit: [String: Int]), `third`(at: Int) }
    func run(_ count: Int) {}
    var size = "HiddenName", name: String { if case .other = x { "a{b" } else { "" } }
    init(size: Int, _ name: @escaping (Int, Int) -> Void = { _, _ in }) {}
    func update<Key: Hashable>(_ key: [Key: (Int, Int)], at index: Int) -> URL { URL(string: "content-name") }
}
public protocol Base {}
extension Base { func inherited() {} }
extension URL { var own: Int { 1 } }
''',
    "Sources/Library/Other/Other.swift": "typealias Alias = Plan<Int>\n",
    "Sources/tool/main.swift": 'let commands = [Command(name: "show")]\n',
    "Documentation/Guide.md": "# The first part\n",
}

#: Lines of a document, each with the beginning of its problem, or `None` if it has none.
LINES = [
    ("`make check FILTER=Library` and `make build`", None),
    ("`make test`", "make test: the Makefile"),
    ("`make check OTHER=1`", "make check OTHER=1: the Makefile has no variable OTHER"),
    ("`make check FILTER=Library.OldTests`", "make check FILTER=Library.OldTests: there is no"),
    ("`Scripts/run --check`", None),
    ("`Scripts/run --other`", "Scripts/run --other: Scripts/run has no option --other"),
    ("`Scripts/walk`", "Scripts/walk: there is no such file"),
    ("`.build/site` and `LIST256SUMS`", None),
    ("`.build/other`", ".build/other: there is no such file"),
    ("`tool`, `swift build --product tool`", None),
    ("`swift build --product old`", "swift build --product old: no manifest"),
    ("`webimage show`", None),
    ("`webimage hide`", "webimage hide: the tool has no command hide"),
    ("`Plan/Plan.swift`, `Plan.swift`, `Plan`, `Sources/C/*`, and `Sources/C/C<Name>`", None),
    ("`Other/Plan.swift`", "Other/Plan.swift: there is no such file"),
    ("`lan/Plan.swift`", "lan/Plan.swift: there is no such file"),
    ("`OldPlan`", "OldPlan: the code doesn’t contain this name"),
    ("`HiddenName`", "HiddenName: the code doesn’t contain this name"),
    ("`old_name`", "old_name: the code doesn’t contain this name"),
    ("`wi_add`, `content-name`", None),
    ("`content-other`", "content-other: no file contains content-other"),
    ("`Plan.size`, `Plan.Step`, `Step.second`, `Plan.Step.third`, `Plan.inherited`, `Alias.update`", None),
    ("`Step.other`", "Step.other: Step has no member other"),
    ("`Plan.update(_:at:)`, `update(_:at:)`, `Plan(size:_:)`, `URL(string:)`, and `Plan.inherited()`", None),
    ("`Plan(size:)`, `update(at:)`, `Step.second(_:unit:)`, `Step.third(at:)`, and `Other.Plan(size:)`", None),
    ("`update(at:_:)`", "update(at:_:): no declaration"),
    ("`Step.third(_:)`", "Step.third(_:): Step has no member"),
    ("`make check FILTER=\"Library tool\"`", None),
    ("`Plan.update(_:of:)`", "Plan.update(_:of:): Plan has no member"),
    ("`update(_:of:)`", "update(_:of:): no declaration"),
    ("`Plan(name:)`", "Plan(name:): no declaration"),
    ("`Plan` (`Library/Plan`)", None),
    ("`Plan` (`Library/Other`)", "Plan: Library/Other doesn’t declare it"),
    ("`allowed text`", None),
    ("A Library and a WebImageOther", "WebImageOther: the code"),
    ("[Guide](Documentation/Guide.md#the-first-part), [here](#part), <https://example.org>, [x](https://example.org/x)", None),
    ("[Guide](Documentation/Guide.md#second-part)", "Documentation/Guide.md#second-part: the link"),
    ("[Guide](Documentation/Other.md)", "Documentation/Other.md: the link"),
]

BLOCKS = """
## Part

| Name | Meaning | Retired |
|---|---|---|
| `Plan` | A plan | `OldPlan` |
| `OldPlan` | A plan | `Other` |

| Target | Content | Directories |
|---|---|---|
| `Sources/C/*` | Modules | |
| Library | A library | `Plan` |
| tool | A tool | `Missing` |
| Lost | A library | |

```
Plan.walk     Plan/Plan.swift → Other/Lost.swift
  OldPlan.run
```

```sh
OldPlan Plan/Lost.swift
```
""".lstrip("\n")

BLOCK_PROBLEMS = [
    "6: OldPlan: the code doesn’t contain this name",
    "11: Library: the row lacks the directory Other",
    "12: tool: there is no directory Missing",
    "13: Lost: there is no such target",
    "16: Other/Lost.swift: there is no such file",
    "16: Plan.walk: Plan has no member walk",
    "17: OldPlan.run: the code doesn’t contain OldPlan",
]


def run(check):
    """Prints what is wrong. Returns the exit status."""
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        document = root / "DOCUMENT.md"
        document.write_text("")
        names = Names(root, [document])
        for text, expected in LINES:
            found = [problem for _, problem in check(names, document, f"# Part\n\n{text}\n", {"allowed text"})]
            if len(found) != (expected is not None) or expected and not found[0].startswith(expected):
                wrong.append(f"“{text}” has the problems {found}, but {expected or 'none'} was expected.")
        found = [f"{line}: {problem}" for line, problem in check(names, document, BLOCKS)]
        if found != BLOCK_PROBLEMS:
            wrong.append(f"The tables and the diagram have the problems {found}, but {BLOCK_PROBLEMS} were expected.")
    for line in wrong:
        print(f"architecture-names: {line}")
    if not wrong:
        print(f"architecture-names: {len(LINES) + 1} samples")
    return 1 if wrong else 0
