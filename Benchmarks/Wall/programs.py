# SPDX-License-Identifier: MIT
"""The programs that `make wall` compares. Each runs once per measurement, with empty caches."""
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def descendants(root):
    """Returns a process and its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    found, queue = [], [root]
    while queue:
        process = queue.pop()
        found.append(process)
        queue += children.get(process, [])
    return found


def processor_seconds(processes):
    """Returns the processor time of processes and of their children that ended."""
    total = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/stat") as file:
                total += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
        except OSError:
            pass
    return total / TICK


def pss(processes):
    """Returns the proportional set size of processes in MiB, which counts shared memory once."""
    total = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/smaps_rollup") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except (OSError, StopIteration):
            pass
    return total / 1024


def peak_resident(process):
    """Returns the highest resident set size of a process in MiB."""
    try:
        with open(f"/proc/{process}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) / 1024
    except (OSError, StopIteration):
        return None


class Display:
    """A virtual display for the gallery. Its processor time and memory don't count, because the browsers run without
    a display. The report contains them as separate measurements."""

    def __init__(self):
        self.process = None
        if not shutil.which("Xvfb"):
            return
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"], pass_fds=[write],
            stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as file:
            self.name = ":" + file.readline().strip()

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


class Program:
    def __init__(self, binaries, servers, display):
        self.binaries, self.servers, self.display = Path(binaries), servers, display

    def environment(self):
        return {**os.environ}

    def start(self, directory, command, **options):
        with open(directory / "log", "wb") as log:
            return subprocess.Popen(
                [str(word) for word in command], cwd=directory, start_new_session=True, stderr=log,
                env=self.environment(), **options)

    @staticmethod
    def end(process):
        """Ends a process tree."""
        processes = descendants(process.pid)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for each in processes:
                try:
                    os.kill(each, number)
                except ProcessLookupError:
                    pass
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                continue
            time.sleep(0.2)
        if process.stdout:
            process.stdout.close()

    @staticmethod
    def sample(process):
        """Returns the processor time until the last image, and the memory a little later."""
        processes = descendants(process.pid)
        used = processor_seconds(processes)
        time.sleep(0.5)
        return {"processor": used, "pss": pss(descendants(process.pid)), "processes": len(processes)}


class Gallery(Program):
    """The gallery. Its clock starts when it opens its window."""

    @staticmethod
    def missing(binaries):
        if not shutil.which("Xvfb"):
            return "Xvfb isn't installed"
        return None if Path(binaries, "webimage-gallery").exists() else f"{binaries}/webimage-gallery doesn't exist"

    def environment(self):
        return {**os.environ, "DISPLAY": self.display.name, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo",
                "GDK_DEBUG": "gl-disable", "GTK_A11Y": "none", "WEBIMAGE_GALLERY_SCROLL": self.movement}

    def run(self, directory, urls, row, control, layout, limit):
        (directory / "urls").write_text("\n".join(urls) + "\n")
        self.movement = "pages" if row is None else f"fling:{row}"
        before = processor_seconds([self.display.process.pid])
        started = time.monotonic()
        process = self.start(
            directory, [self.binaries / "webimage-gallery", "--input-file", directory / "urls", "--cacert",
                        self.servers.authority, "--cache-dir", directory / "cache", "--transition", "none",
                        "--placeholder", "color", "--noproxy", "--color-scheme", "light"],
            stdout=subprocess.PIPE, text=True)
        try:
            if not select.select([process.stdout], [], [], limit)[0]:
                return {"error": f"no result after {limit} s"}
            line = process.stdout.readline()
            if not line:
                return {"error": (directory / "log").read_text()[-500:]}
            figures = json.loads(line)
            figures.update(self.sample(process))
            figures["peak"] = peak_resident(process.pid)
            figures["startup"] = figures["opened"] - started
            figures["display processor"] = processor_seconds([self.display.process.pid]) - before
            figures["display pss"] = pss([self.display.process.pid])
            return figures
        finally:
            self.end(process)


class Fetch(Program):
    """`webimage fetch`, which loads all images in the size of the cells. Its clock starts with the process."""

    @staticmethod
    def missing(binaries):
        return None if Path(binaries, "webimage").exists() else f"{binaries}/webimage doesn't exist"

    def run(self, directory, urls, row, control, layout, limit):
        (directory / "urls").write_text("\n".join(urls) + "\n")
        started = time.monotonic()
        process = self.start(
            directory, [self.binaries / "webimage", "fetch", f"@{directory}/urls", "--size", "252x252", "--json",
                        "--cacert", self.servers.authority, "--cache-dir", directory / "cache", "--noproxy"],
            stdout=subprocess.PIPE, text=True)
        figures = {"failures": 0, "pss": 0.0}
        count = 0
        try:
            while time.monotonic() < started + limit:
                # The program ends with the last image, so the memory is measured while it runs.
                if not select.select([process.stdout], [], [], 0.05)[0]:
                    figures["pss"] = max(figures["pss"], pss([process.pid]))
                    continue
                line = process.stdout.readline()
                if not line:
                    break
                count += 1
                figures.setdefault("first", time.monotonic() - started)
                figures["all"] = time.monotonic() - started
                figures["failures"] += json.loads(line).get("error") is not None
            # The parent must read the times before it waits for the process.
            figures["processor"] = os.wait4(process.pid, 0)[2]
            figures["processor"] = figures["processor"].ru_utime + figures["processor"].ru_stime
            process.returncode = 0
            if count < len(urls):
                return {"error": f"only {count} results: {(directory / 'log').read_text()[-300:]}"}
            return figures
        finally:
            process.stdout.close()
            if process.returncode is None:
                self.end(process)


class Browser(Program):
    """A browser. Its clock starts with the navigation to the page, not with the process."""

    extra = (0, 0)

    def fit(self, figures, layout):
        """Adapts the size of the window, so that the page has the size of the grid."""
        self.extra = (round(layout["width"] - figures["width"]), round(layout["height"] - figures["height"]))

    def size(self, layout):
        return round(layout["width"]) + self.extra[0], round(layout["height"]) + self.extra[1]

    def run(self, directory, urls, row, control, layout, limit):
        control.show(urls, layout, row)
        started = time.time()
        process = self.start(directory, self.command(directory, control.url, self.size(layout)),
                             stdout=subprocess.DEVNULL)
        try:
            if not control.arrived.wait(limit):
                return {"error": f"no result after {limit} s: {(directory / 'log').read_text(errors='replace')[-300:]}"}
            figures = dict(control.result)
            figures.update(self.sample(process))
            figures["startup"] = figures.pop("origin") - started
            return figures
        finally:
            self.end(process)


class Chromium(Browser):
    @staticmethod
    def missing(binaries):
        return None if shutil.which("chromium") else "chromium isn't installed"

    def command(self, directory, url, size):
        sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
        return ["chromium", "--headless=new", *sandbox, f"--user-data-dir={directory}/profile", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
                "--disable-sync", "--disable-breakpad", "--password-store=basic", "--no-proxy-server",
                f"--ignore-certificate-errors-spki-list={self.servers.key_hash}",
                f"--window-size={size[0]},{size[1]}", url]


class Firefox(Browser):
    preferences = {
        "app.normandy.enabled": False, "app.update.enabled": False, "browser.aboutwelcome.enabled": False,
        "browser.safebrowsing.blockedURIs.enabled": False, "browser.safebrowsing.downloads.enabled": False,
        "browser.safebrowsing.malware.enabled": False, "browser.safebrowsing.phishing.enabled": False,
        "browser.shell.checkDefaultBrowser": False, "browser.startup.homepage_override.mstone": "ignore",
        "browser.topsites.contile.enabled": False, "datareporting.healthreport.uploadEnabled": False,
        "datareporting.policy.dataSubmissionEnabled": False, "extensions.update.enabled": False,
        "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
        "network.proxy.type": 0, "services.settings.server": "data:,", "toolkit.telemetry.enabled": False,
        "toolkit.telemetry.reportingpolicy.firstRun": False, "browser.tabs.firefox-view": False,
    }

    @staticmethod
    def missing(binaries):
        for name in ("firefox-esr", "certutil"):
            if not shutil.which(name):
                return f"{name} isn't installed"
        return None

    def environment(self):
        return {**os.environ, "MOZ_CRASHREPORTER_DISABLE": "1", "HOME": str(self.home)}

    def command(self, directory, url, size):
        profile = self.home = directory / "profile"
        profile.mkdir()
        (profile / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
                    for name, value in self.preferences.items()))
        database = f"sql:{profile}"
        subprocess.run(["certutil", "-N", "-d", database, "--empty-password"], check=True, capture_output=True)
        subprocess.run(["certutil", "-A", "-d", database, "-n", "wall", "-t", "C,,", "-i", self.servers.authority],
                       check=True, capture_output=True)
        return ["firefox-esr", "--headless", "--no-remote", "--profile", profile, "-width", size[0], "-height", size[1],
                url]
