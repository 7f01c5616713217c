# SPDX-License-Identifier: MIT
"""picture.py LIBRARY TASK FILE COUNT [PIXELS]: has a library (a module beside this one) do a task (a function of that
module) with a file, and prints the processor seconds and the seconds that passed, per repetition. The first
repetition is not counted; the bytes it gives are written to PIXELS."""
import importlib
import sys

from measuring import repeat

library, task, file, count = sys.argv[1:5]
work = getattr(importlib.import_module(library), task)
with open(file, "rb") as source:
    data = source.read()
result = repeat(lambda: work(data), int(count))
for path in sys.argv[5:]:
    with open(path, "wb") as target:
        target.write(result)
