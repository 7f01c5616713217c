# SPDX-License-Identifier: MIT
"""Shared helpers of the scripts that generate fixtures: running programs, and temporary files."""
import os, subprocess, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TMP = tempfile.mkdtemp(prefix="fixtures.")
# Prefer the versioned name of ImageMagick, because `convert` can be another program.
CONVERT = next((p for p in ("/usr/bin/convert-im6.q16", "/usr/bin/convert") if os.path.exists(p)), "convert")


def run(*command, stdin=None):
    return subprocess.run(command, input=stdin, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def tmp(name, content=None):
    path = os.path.join(TMP, name)
    if content is not None:
        with open(path, "wb") as file:
            file.write(content)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()
