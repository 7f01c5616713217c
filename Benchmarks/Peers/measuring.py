# SPDX-License-Identifier: MIT
"""How peers tell what they took."""
import time


class Measured:
    """Prints the processor seconds of all threads and the seconds that passed in its block, per operation."""

    def __init__(self, operations):
        self.operations = operations

    def __enter__(self):
        self.processor, self.clock = time.process_time(), time.perf_counter()

    def __exit__(self, kind, *rest):
        processor, clock = time.process_time() - self.processor, time.perf_counter() - self.clock
        if kind is None:
            print(processor / self.operations, clock / self.operations)


def repeat(work, count):
    """Measures `count` repetitions of `work` after one that is not counted, and gives back the result of that one."""
    first = work()
    if count > 0:
        with Measured(count):
            for _ in range(count):
                work()
    return first
