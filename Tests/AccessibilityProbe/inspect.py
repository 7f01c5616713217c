#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Starts accessibility-probe and prints what assistive technologies receive from it.

    dbus-run-session -- python3 inspect.py PROBE DIRECTORY

Writes one JSON object to the file `report.json` of the directory: `first` contains the images after the probe has loaded
or failed to load them, `last` contains them after the third image was retried with a valid file, and `events` contains the
changes of images in between. Standard output also belongs to daemons of the session. Exits with status 77 and the reason if
pyatspi can't be used.
"""

import json
import os
import shutil
import subprocess
import sys
import time

try:
    import pyatspi
    from gi.repository import GLib
except (ImportError, ValueError) as error:
    print(f"pyatspi isn't available: {error}")
    sys.exit(77)

LIMIT = 60


def wait(condition):
    """Runs the main loop until a condition returns a true value, and returns the value."""
    context = GLib.MainContext.default()
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        while context.iteration(False):
            pass
        time.sleep(0.02)
    raise TimeoutError


def images():
    """Returns the images of all applications of the session, in the order of the window."""
    found = []

    def visit(node):
        if node.getRole() == pyatspi.ROLE_IMAGE:
            found.append(node)
        for child in node:
            if child is not None:
                visit(child)

    for application in pyatspi.Registry.getDesktop(0):
        if application is not None:
            visit(application)
    for node in found:
        node.clearCache()
    return found


def facts(node):
    """Returns the properties of an image."""
    states = node.getState()
    return {
        "name": node.name, "description": node.description, "isFocusable": states.contains(pyatspi.STATE_FOCUSABLE),
        "isBusy": states.contains(pyatspi.STATE_BUSY),
    }


def settled():
    """Returns the properties of the three images if all loads have ended."""
    found = [facts(node) for node in images()]
    return found if len(found) == 3 and found[2]["isFocusable"] and not any(image["isBusy"] for image in found) else None


def loaded():
    """Returns the properties of the three images if the third one has the same name as the first one."""
    found = [facts(node) for node in images()]
    return found if len(found) == 3 and found[0]["name"] == found[2]["name"] else None


def main():
    """Runs the program."""
    probe, directory = sys.argv[1:]
    environment = {key: value for key, value in os.environ.items() if key != "GTK_A11Y"}
    process = subprocess.Popen([probe, directory], stdin=subprocess.PIPE, text=True, env=environment)
    events = []

    def changed(event):
        if event.source.getRole() == pyatspi.ROLE_IMAGE:
            events.append([event.type.name if hasattr(event.type, "name") else str(event.type), str(event.any_data),
                           event.detail1])

    try:
        first = wait(settled)
        pyatspi.Registry.registerEventListener(
            changed, "object:property-change:accessible-name", "object:property-change:accessible-description",
            "object:state-changed:busy")
        # The listeners are added to the bus by messages without a reply. The bus handles the messages of a connection in
        # their order, so the listeners are known when a later call has returned.
        wait(images)
        shutil.copy(os.path.join(directory, "described.png"), os.path.join(directory, "missing.png"))
        process.stdin.write("retry\n")
        process.stdin.flush()
        last = wait(loaded)
        # Calls can return before earlier events arrive. The texts of the loaded image are the last ones.
        expected = {"accessible-name", "accessible-description", "busy"}
        try:
            wait(lambda: all(any(part in event[0] for event in events) for part in expected)
                 and {last[2]["name"], last[2]["description"]} <= {event[1] for event in events})
        except TimeoutError:
            pass  # The test reports the events that are missing.
        with open(os.path.join(directory, "report.json"), "w", encoding="utf-8") as file:
            json.dump({"first": first, "last": last, "events": events}, file)
    finally:
        process.stdin.close()
        process.wait(LIMIT)


try:
    main()
except TimeoutError:
    print("The images of the application:", [facts(node) for node in images()])
    sys.exit(1)
