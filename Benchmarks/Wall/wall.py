#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the gallery and `webimage fetch` with browsers that show the same images. `make wall` runs it.

    Benchmarks/Wall/wall.py [--rounds 9] [--profiles unlimited,10M,2M] [--protocols http1,http2]
                            [--programs gallery,fetch,chromium,firefox] [--movements pages,fling,wallpapers]
                            [--bin DIRECTORY]

Benchmarks/README.md describes the method. The results are written to Benchmarks/report/wall.json, wall.md, and wall.svg.
"""
import argparse
import http.server
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from programs import Display, Gallery, Chromium, Fetch, Firefox
from report import write_report
from servers import Relay, Servers

HERE = Path(__file__).resolve().parent
# The rate in bits per second, and the round trip in milliseconds.
PROFILES = {"unlimited": (0, 0), "10M": (10_000_000, 80), "2M": (2_000_000, 200)}
PROGRAMS = {"gallery": Gallery, "fetch": Fetch, "chromium": Chromium, "firefox": Firefox}
PHOTOGRAPHS = 60
FLING_ROW = 400
MOVEMENTS = ("pages", "fling", "wallpapers")


def make_photographs(directory):
    """Creates the photographs, which are parts of wallpapers, and returns their paths."""
    paths = [directory / f"{number:02}.jpg" for number in range(PHOTOGRAPHS)]
    if all(path.exists() for path in paths):
        return paths
    from PIL import Image
    sources = sorted(path for root in ("mate/nature", "mate/abstract", ".")
                     for path in Path("/usr/share/backgrounds", root).glob("*.jp*g"))
    if not sources:
        sys.exit("There are no photographs in /usr/share/backgrounds. Run Scripts/setup wall.")
    directory.mkdir(parents=True, exist_ok=True)
    numbers = random.Random(1)
    for number, path in enumerate(paths):
        with Image.open(sources[number % len(sources)]) as source:
            image = source.convert("RGB")
        # A third to the whole of the wallpaper, with a common aspect ratio.
        part = numbers.uniform(0.35, 0.95)
        width, height = numbers.choice([(4, 3), (3, 2), (1, 1), (3, 4)])
        scale = min(image.width / width, image.height / height) * part
        size = (int(width * scale), int(height * scale))
        left, top = (numbers.randint(0, full - side) for full, side in zip(image.size, size))
        image = image.crop((left, top, left + size[0], top + size[1]))
        image.thumbnail((640, 640), Image.LANCZOS)
        image.save(path, quality=82, progressive=number % 4 == 3)
    return paths


def make_site(site, photographs, count):
    """Links `count` names to the photographs, so that every cell of a long list has its own URL."""
    site.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        link = site / f"{number:04}.jpg"
        if not link.exists():
            link.symlink_to(photographs[number % len(photographs)])


def find_wallpapers(directory="/usr/share/backgrounds"):
    """Returns the image files of a directory, which are as large as the photographs of a camera."""
    return sorted(path for path in Path(directory).rglob("*")
                  if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp") and path.is_file()
                  and not path.is_symlink())


def wallpaper_limit(work):
    """Returns the highest memory in MiB that libjpeg needs for one of the wallpapers, which progressive.c measures."""
    program = work / "progressive"
    subprocess.run(["cc", "-O2", "-o", program, HERE / "progressive.c", "-ljpeg"], check=True)
    return max(float(subprocess.run([program, path], check=True, capture_output=True, text=True).stdout)
               for path in find_wallpapers() if path.suffix.lower() in (".jpg", ".jpeg"))


def fling_limits(work, photographs, layout):
    """Returns the fewest empty cell-seconds of the fling for each profile, which fling.c computes."""
    program = work / "fling-limit"
    subprocess.run(["cc", "-O2", "-o", program, HERE / "fling.c", "-ljpeg", "-lm"], check=True)
    size = sum(path.stat().st_size for path in photographs) / len(photographs)
    limits = {}
    for name, (rate, trip) in PROFILES.items():
        words = [program, rate, trip, size, layout["columns"], layout["rowHeight"], layout["height"], FLING_ROW,
                 *photographs]
        text = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout
        limits[name] = float(text.split()[0])
    return limits


class Control:
    """The server of the page, which also receives the measurements of the page. Its traffic isn't limited."""

    def __init__(self):
        self.page = b""
        self.result = None
        self.arrived = threading.Event()
        control = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                found = self.path == "/page"
                body = control.page if found else b""
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                control.result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(204)
                self.end_headers()
                control.arrived.set()

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/page"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def show(self, urls, layout, row):
        """Prepares the page for the next browser."""
        cells = "".join(
            f'<figure><img id={number} loading=lazy width=168 height=168 src="{url}" alt=""><figcaption>{number:04}.jpg'
            "</figcaption></figure>" for number, url in enumerate(urls))
        settings = {
            "columns": layout["columns"], "row": layout["rowHeight"], "duration": 4.0, "constant": 0.5,
            "rests": [0.5, 2.0, 1.0], "target": None if row is None else row * layout["rowHeight"]}
        text = (HERE / "page.html").read_text()
        for name, value in (("@COLUMNS@", str(layout["columns"])), ("@ROW@", str(layout["rowHeight"])),
                            ("@CELLS@", cells), ("@SETTINGS@", json.dumps(settings))):
            text = text.replace(name, value)
        self.page = text.encode()
        self.result = None
        self.arrived.clear()


def run(program, servers, control, layout, profile, protocol, movement, count, work):
    """Runs a program once and returns its measurements, or an error."""
    rate, trip = PROFILES[profile]
    relay = Relay(work / "relay", servers.ports[protocol], rate, trip)
    try:
        urls = [f"https://127.0.0.1:{relay.port}/{number:04}.jpg" for number in range(count)]
        row = FLING_ROW if movement == "fling" else None
        if movement == "wallpapers":
            urls = [path.as_uri() for path in find_wallpapers()]
        limit = 90 if movement == "fling" else 240
        with tempfile.TemporaryDirectory(dir=work) as directory:
            figures = program.run(Path(directory), urls, row, control, layout, limit)
        figures["bytes"] = relay.stop()
        return figures
    finally:
        relay.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--profiles", default=",".join(PROFILES))
    parser.add_argument("--protocols", default="http1,http2")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--movements", default="pages,fling",
                        help="pages, fling, and wallpapers (the memory for all files in /usr/share/backgrounds)")
    parser.add_argument("--bin", default=str(HERE.parent.parent / ".build/release"))
    parser.add_argument("--report", default=str(HERE.parent / "report"))
    parser.add_argument("--note", default="", help="a remark for the report, such as “preliminary”")
    options = parser.parse_args()
    for name, known in (("profiles", PROFILES), ("protocols", ("http1", "http2")), ("programs", PROGRAMS),
                        ("movements", MOVEMENTS)):
        values = getattr(options, name).split(",")
        if unknown := [value for value in values if value not in known]:
            parser.error(f"--{name}: unknown: {', '.join(unknown)}")
        setattr(options, name, values)

    base = HERE.parent / ".wall"
    photographs = make_photographs(base / "photographs")
    work = Path(tempfile.mkdtemp(prefix="webimage-wall."))
    # A signal must end the programs, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    servers = display = None
    results, skipped = [], {}
    try:
        make_site(work / "site", photographs, 5 * (FLING_ROW + 20))
        subprocess.run(["cc", "-O2", "-o", work / "relay", HERE / "relay.c"], check=True)
        servers = Servers(work, work / "site")
        display = Display()
        control = Control()
        programs = {}
        for name in options.programs:
            if reason := PROGRAMS[name].missing(options.bin):
                skipped[name] = reason
                print(f"{name} is skipped: {reason}", flush=True)
            else:
                programs[name] = PROGRAMS[name](options.bin, servers, display)
        if not programs:
            sys.exit("There is no program to measure.")
        layout = calibrate(programs, servers, control, work)
        for number in range(options.rounds):
            for profile in options.profiles:
                for protocol in options.protocols:
                    for movement in options.movements:
                        # Each round begins with another program.
                        names = list(programs)
                        names = names[number % len(names):] + names[:number % len(names)]
                        for name in names:
                            if movement == "fling" and name == "fetch":
                                continue
                            # The wallpapers are files, so the network doesn't matter, and browsers decode them whole.
                            first = (profile, protocol) == (options.profiles[0], options.protocols[0])
                            if movement == "wallpapers" and not (name == "gallery" and first):
                                continue
                            count = PHOTOGRAPHS if movement == "pages" else 5 * (FLING_ROW + 20)
                            figures = run(programs[name], servers, control, layout, profile, protocol, movement, count,
                                          work)
                            figures.update(round=number, profile=profile, protocol=protocol, movement=movement,
                                           program=name)
                            results.append(figures)
                            print_run(figures)
        rows = math.ceil(layout["height"] / layout["rowHeight"])
        sizes = [path.stat().st_size for path in photographs]
        options.network = PROFILES
        options.fling_limits = fling_limits(work, photographs, layout) if "fling" in options.movements else {}
        options.wallpaper_limit = wallpaper_limit(work) if "wallpapers" in options.movements else None
        options.visible_bytes, options.all_bytes = sum(sizes[:rows * layout["columns"]]), sum(sizes)
        write_report(Path(options.report), results, skipped, programs, options, layout)
    finally:
        for part in (servers, display):
            if part:
                part.stop()
        shutil.rmtree(work, ignore_errors=True)


def calibrate(programs, servers, control, work):
    """Measures the grid of the gallery, and gives the pages of the browsers the same size."""
    layout = {"columns": 5, "rowHeight": 216.0, "width": 1120, "height": 720}
    for name in sorted(programs, key=lambda name: name != "gallery"):
        if name == "fetch":
            continue
        figures = run(programs[name], servers, control, layout, "unlimited", "http1", "pages", PHOTOGRAPHS, work)
        if "error" in figures:
            sys.exit(f"{name} doesn't show the images: {figures['error']}")
        if name == "gallery":
            layout = {key: figures[key] for key in ("columns", "rowHeight", "width", "height")}
            layout["columns"] = int(layout["columns"])
        else:
            programs[name].fit(figures, layout)
    return layout


def print_run(figures):
    words = [f"round {figures['round'] + 1}", figures["profile"], figures["protocol"], figures["movement"],
             f"{figures['program']:8}"]
    if "error" in figures:
        return print(*words, figures["error"], flush=True)
    for name, unit in (("first", "s"), ("visible", "s"), ("all", "s"), ("processor", "s"), ("pss", "MiB"),
                       ("peak", "MiB"), ("bytes", "B"), ("blankCells", "s")):
        if figures.get(name) is not None:
            words.append(f"{name} {figures[name]:.2f} {unit}" if unit != "B" else f"{name} {figures[name]}")
    print(*words, flush=True)


if __name__ == "__main__":
    main()
