# SPDX-License-Identifier: MIT
"""Measurements of the peers."""
import time


class Measured:
    """Prints the processor time of all threads and the elapsed time of its block, in seconds per operation."""

    def __init__(self, operations):
        self.operations = operations

    def __enter__(self):
        self.processor, self.clock = time.process_time(), time.perf_counter()

    def __exit__(self, kind, *rest):
        processor, clock = time.process_time() - self.processor, time.perf_counter() - self.clock
        if kind is None:
            print(processor / self.operations, clock / self.operations)


def repeat(work, count):
    """Calls `work` once, measures `count` further calls, and returns the result of the first call."""
    first = work()
    if count > 0:
        with Measured(count):
            for _ in range(count):
                work()
    return first
