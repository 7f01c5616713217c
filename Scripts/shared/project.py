# SPDX-License-Identifier: MIT
"""The modules of the project and the tools of the toolchain, for Scripts/api and Scripts/docs."""

import os
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODULES = ROOT / "Scripts" / "api.modules"
CATALOG = ROOT / "Documentation" / "WebImage.docc"


class Failure(Exception):
    """An error that the user can resolve."""


def read_modules():
    """The modules of the list, each with the traits that its API depends on."""
    lines = (line.partition("#")[0].split() for line in MODULES.read_text().splitlines())
    modules = {words[0]: set(words[1:]) for words in lines if words}
    products = set(re.findall(r'\.library\(name: "(\w+)"', (ROOT / "Package.swift").read_text()))
    missing = sorted(products - set(modules))
    if missing or not products:
        raise Failure(f"Scripts/api.modules lacks these library products of Package.swift: {', '.join(missing)}")
    compare(".spi.yml", re.findall(r"^ +- (WebImage\w*)$", (ROOT / ".spi.yml").read_text(), re.MULTILINE), modules)
    landing_page = CATALOG / "Overview.md"
    links = re.findall(r"^- ``/(\w+)``$", landing_page.read_text(), re.MULTILINE)
    compare(landing_page.relative_to(ROOT), links, modules)
    compare(f"{CATALOG.relative_to(ROOT)}/Modules", [page.stem for page in CATALOG.glob("Modules/*.md")], modules)
    return modules


def compare(place, names, modules):
    """Throws if a file doesn't name each module exactly once."""
    if sorted(names) != sorted(modules):
        raise Failure(f"{place} names {', '.join(sorted(names))}, but Scripts/api.modules names "
                      f"{', '.join(sorted(modules))}; change one of them")


def tool(name):
    """A tool of the toolchain that the `swift` command belongs to."""
    swift = shutil.which(os.environ.get("SWIFT", "swift"))
    path = pathlib.Path(swift).resolve().parent / name if swift else None
    found = str(path) if path and path.exists() else shutil.which(name)
    if not found:
        raise Failure(f"The toolchain has no {name}")
    return found
