# SPDX-License-Identifier: MIT
"""picture.py LIBRARY TASK FILE COUNT [PIXELS]: Calls a function with the data of a file. LIBRARY is a module in this
directory, and TASK is a function of that module. Prints the processor time and the elapsed time per repetition, in
seconds. The first repetition isn't measured, and its result is written to PIXELS."""
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
