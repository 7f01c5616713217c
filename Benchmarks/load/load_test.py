#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""load_test.py PROGRAM [--seconds N] [--phases A,B]: Measures webimage-serve under load, and thumbor for comparison.

PROGRAM is the release build of webimage-serve. nginx forwards requests to two of its processes. They use four
memcached servers and an origin, all on 127.0.0.1. Two processes of thumbor 7.8 do the same work behind the same nginx, and both contenders take
turns. The photographs are those of Debian's packages mate-backgrounds and ukui-wallpapers, reduced to --width pixels.

Phases:
  formats    fit 512 of distinct URLs, for each format: requests per second, latency, processor time per image, and peak
             memory, and then the quality (SSIMULACRA2) and the size of the results. A result in another format or of
             another size doesn't count
  zipf       the same work for URLs with a Zipf distribution, so that caches and shared work count, with the loads of
             WebImage by cache tier
  memory     the peak memory of a process for one URL, and for sixteen large ones at the same time. The goals apply to the
             peak of the proportional set size of the server and its helpers, sampled every 5 ms, in MB of 1,000,000
             bytes
  start      the time from the start of the program to the first image
  connections  4,096 open connections
  faults     requests while a server process, a memcached server, and the origin are killed. Every body is checked, and
             the statuses are counted for each fault
  hostile    bombs, huge images, slow and endless origins, and clients that disconnect. The memory must remain below the
             bound that the article “Image Server” states. --hostile-requests 18000 is as many as in an hour with 5
             requests per second

A value that misses its goal has the mark MISS. A wrong or failed result of WebImage also makes the exit status 1.

--seconds is the duration of one measurement. The quality of results and the sources need the Python packages that
`Scripts/setup benchmarks` installs. thumbor is installed in .build/load-test/thumbor. If pip is offline, its columns are
missing.
"""
import argparse
import hashlib
import http.client
import io
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, f"{ROOT}/Benchmarks/Peers", f"{ROOT}/Benchmarks/.python"]

import fleet as machines
import hostile
from fleet import Fleet, Peaks, Process, Unavailable, memory, processor_seconds, proportional_memory, reset_peaks, wait_until

# The settings of the server that determine the bound of its memory, in MiB, and the number of its workers.
DECODING_MEMORY, SOURCE_SIZE, WORKERS = 256, 16, 16

PHASES = "formats zipf memory start connections faults hostile".split()
# The format of the source, the format of the result, and its quality.
CASES = [("jpg", "jpg", 80), ("png", "png", 80), ("webp", "webp", 75), ("avif", "avif", 65), ("jpg", "webp", 75)]
# The names of the formats in Pillow.
PILLOW = {"jpg": "JPEG", "png": "PNG", "webp": "WEBP", "avif": "AVIF"}
# The goals of the memory of one URL and of sixteen URLs in MB, of the start in ms, and of the requests that a killed
# server process may fail, which are those in flight.
MEMORY_GOALS, START_GOAL, CLIENTS = {1: 25, 16: 170}, 15, 16
# The requests per second relative to thumbor that the project wants to reach.
GOALS = {("jpg", "jpg"): 1.6, ("png", "png"): 3.8, ("webp", "webp"): 2.2, ("avif", "avif"): 1.3}


def table(title, columns, rows):
    """Prints a table."""
    texts = [columns] + [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in texts) for index in range(len(columns))]
    print(f"\n{title}\n")
    for number, row in enumerate(texts):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |", flush=True)
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def make_sources(folder, width, count):
    """Writes the photographs in all formats, and returns their names without extensions."""
    from PIL import Image

    import light

    os.makedirs(folder, exist_ok=True)
    names = []
    for path in light.PHOTOGRAPHS:
        if not os.path.exists(path) or len(names) == count:
            continue
        name = os.path.splitext(os.path.basename(path))[0]
        names.append(name)
        if all(os.path.exists(f"{folder}/{name}.{form}") for form in ("jpg", "png", "webp", "avif", "large.jpg")):
            continue
        photograph = Image.open(path).convert("RGB")
        small = photograph.copy()
        small.thumbnail((width, width), Image.LANCZOS)
        small.save(f"{folder}/{name}.jpg", quality=90)
        small.save(f"{folder}/{name}.png")
        small.save(f"{folder}/{name}.webp", quality=90)
        small.save(f"{folder}/{name}.avif", quality=85, speed=8)
        scale = (12_000_000 / (photograph.width * photograph.height)) ** 0.5
        photograph.resize((round(photograph.width * scale), round(photograph.height * scale))).save(
            f"{folder}/{name}.large.jpg", quality=90)
    if not names:
        raise Unavailable("the photographs are missing (Scripts/setup benchmarks)")
    return names


def install_thumbor(folder):
    """Installs thumbor once. Returns its directory, or `None` with a message."""
    if os.path.exists(f"{folder}/installed"):
        return folder
    try:
        subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True, capture_output=True)
        subprocess.run(
            [f"{folder}/bin/pip", "install", "-q", "thumbor==7.8.0", "pillow-avif-plugin"], check=True,
            capture_output=True, timeout=600)
    except (subprocess.SubprocessError, OSError) as error:
        reason = getattr(error, "stderr", b"") or str(error).encode()
        print(f"thumbor isn't measured, because it can't be installed: {reason.decode()[-200:]}")
        return None
    open(f"{folder}/installed", "w").close()
    return folder


class Failure(Exception):
    """The reason why a phase isn't passed."""


def judged(is_reached):
    """Returns the text of a table for a goal."""
    return "ok" if is_reached else "MISS"


class Test:
    """The phases of the test."""

    def __init__(self, options):
        self.options = options
        self.work = f"{ROOT}/.build/load-test"
        self.sources = f"{self.work}/sources-{options.width}"
        self.names = make_sources(self.sources, options.width, options.photographs)
        thumbor = None if options.without_thumbor else install_thumbor(f"{self.work}/thumbor")
        # Paths of Unix sockets are short, so the files of the run aren't in the build directory.
        self.folder = subprocess.run(["mktemp", "-d", "/tmp/load.XXXXXX"], capture_output=True, text=True, check=True).stdout.strip()
        os.chmod(self.folder, 0o755)
        self.fleet = Fleet(self.folder, os.path.abspath(options.program), thumbor, self.sources, options.port, options.memory_cache,
            (f"--decoding-memory={DECODING_MEMORY}", f"--max-src-file-size={SOURCE_SIZE << 20}", f"--workers={WORKERS}"))
        self.results = {}

    def close(self):
        self.fleet.stop()
        subprocess.run(["rm", "-rf", self.folder])

    # Requests

    def source(self, name, query="NONCE"):
        return f"http://127.0.0.1:{self.fleet.origin_port}/{name}" + (f"?{query}" if query else "")

    def path(self, contender, source, form, quality):
        """Returns the path of an image that is fitted into 512 × 512 pixels."""
        if contender == "thumbor":
            kind = {"jpg": "jpeg"}.get(form, form)
            return f"/unsafe/fit-in/512x512/filters:no_upscale():format({kind}):quality({quality})/" + source.replace(":", "%3A").replace("?", "%3F")
        return f"/_/rs:fit:512:512/q:{quality}/plain/{source.replace('?', '%3F')}@{form}"

    def get(self, path, port=None, accepts=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.fleet.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Accept": accepts} if accepts else {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def wrk(self, paths, seconds, connections, threads=1, token=None):
        """Runs wrk. Returns the measurements that the script prints."""
        file = f"{self.folder}/paths"
        with open(file, "w") as output:
            output.write("\n".join(paths) + "\n")
        environment = dict(os.environ, LOAD_PATHS=file, LOAD_TOKEN=token or f"{random.getrandbits(48):x}")
        command = [
            "wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--timeout", "60s", "--latency", "-s", f"{HERE}/paths.lua",
            f"http://127.0.0.1:{self.fleet.port}",
        ]
        output = subprocess.run(command, env=environment, capture_output=True, text=True)
        lines = [line for line in output.stdout.splitlines() if line.startswith("RESULT")]
        if not lines:
            raise Unavailable(f"wrk failed: {output.stdout[-200:]}{output.stderr[-200:]}")
        count, duration, p50, p99, bad, broken, late = map(int, lines[0].split()[1:])
        return {
            "requests": count, "rate": count / (duration / 1e6), "p50": p50 / 1000, "p99": p99 / 1000, "bad": bad,
            "broken": broken + late,
        }

    def settle(self):
        """Waits until the servers of all contenders are idle.

        When wrk ends, servers still work on requests without a client. This work must not slow down the next contender.
        """
        processes = [process for contender in self.fleet.contenders.values() for process in contender]
        before = None

        def idle():
            nonlocal before
            last, before = before, processor_seconds(processes)
            if last is not None and before - last <= 0.02:
                return True
            # The kernel counts processor time in units of 10 ms.
            time.sleep(0.25)
            return False

        wait_until(idle, "a server doesn't become idle", 30)

    def measured(self, contender, paths, seconds, connections):
        processes = self.fleet.contenders[contender]
        self.settle()
        reset_peaks(processes)
        before = processor_seconds(processes)
        result = self.wrk(paths, seconds, connections)
        result["cpu"] = (processor_seconds(processes) - before) * 1000 / max(1, result["requests"])
        result["peak"] = memory(processes, "VmHWM")
        return result

    def problem(self, name, source, form, status, body):
        """Returns the reason why a result isn't the photograph in the format, fitted into 512 × 512, or `None`."""
        from PIL import Image

        if status != 200:
            return f"status {status}"
        try:
            image = Image.open(io.BytesIO(body))
            image.load()
        except (OSError, ValueError, SyntaxError) as error:
            return f"invalid image ({error})"
        with Image.open(f"{self.sources}/{name}.{source}") as whole:
            scale = min(1, 512 / max(whole.size))
            wanted = [side * scale for side in whole.size]
        if image.format != PILLOW[form]:
            return f"format {image.format}"
        # Servers round the shorter side differently.
        if any(abs(side - other) > 1 for side, other in zip(image.size, wanted)):
            return f"size {image.size[0]} × {image.size[1]}"
        return None

    def capable(self, case):
        """Returns the contenders that produce the result of a case. WebImage must be one of them."""
        source, form, quality = case
        found = []
        for contender in self.fleet.contenders:
            path = self.path(contender, self.source(f"{self.names[0]}.{source}", f"check-{form}"), form, quality)
            problem = self.problem(self.names[0], source, form, *self.get(path))
            if not problem:
                found.append(contender)
            elif contender == "WebImage":
                raise Failure(f"{source} → {form} has a wrong result: {problem}")
            else:
                print(f"{contender} isn't measured for {source} → {form}: {problem}", flush=True)
        return found

    def interleaved(self, paths, contenders):
        """Measures contenders in turns. Returns the medians of their measurements."""
        rounds = {contender: [] for contender in contenders}
        for number in range(self.options.rounds + 1):
            for contender in rounds:
                seconds = max(4, self.options.seconds // (self.options.rounds + 1))
                result = self.measured(contender, paths(contender), seconds, self.options.connections)
                # The first round warms up the processes.
                if number > 0 or self.options.rounds == 0:
                    rounds[contender].append(result)
        return {
            contender: {key: statistics.median(result[key] for result in results) for key in results[0]}
            for contender, results in rounds.items()
        }

    def rows_of_loads(self, title, loads):
        rows, failures = [], 0
        for (source, form, quality), results in loads.items():
            other = results.get("thumbor")
            for contender, result in results.items():
                ratio = result["rate"] / other["rate"] if other and contender != "thumbor" and other["rate"] else ""
                goal = GOALS.get((source, form)) if ratio and title.startswith("Distinct") else None
                rows.append([
                    f"{source} → {form}, {quality}", contender, result["rate"], ratio, f"{goal} {judged(ratio >= goal)}" if goal else "", result["p50"], result["p99"], result["cpu"],
                    result["peak"], int(result["bad"] + result["broken"]),
                ])
                if contender == "WebImage":
                    failures += int(result["bad"] + result["broken"])
        table(title, ["Work", "Server", "Requests/s", "Ratio", "Goal", "p50 ms", "p99 ms", "CPU ms/image", "Peak MiB", "Failures"], rows)
        if failures:
            raise Failure(f"{failures} requests failed")

    # Phases

    def formats(self):
        loads = {}
        for case in CASES:
            source, form, quality = case
            loads[case] = self.interleaved(
                lambda contender: [self.path(contender, self.source(f"{name}.{source}"), form, quality) for name in self.names],
                self.capable(case))
        self.results["formats"] = {" ".join(map(str, case)): result for case, result in loads.items()}
        try:
            self.rows_of_loads("Distinct URLs, fit 512 × 512", loads)
        finally:
            self.quality()

    def quality(self):
        import light
        from PIL import Image
        from ssimulacra2 import compute_ssimulacra2

        names = self.names[: self.options.quality_images]
        rows, wrong = [], []
        for source, form, quality in CASES:
            means = {}
            for contender in self.fleet.contenders:
                scores, sizes, problems = [], [], []
                for name in names:
                    status, body = self.get(self.path(contender, self.source(f"{name}.{source}", "quality"), form, quality))
                    problem = self.problem(name, source, form, status, body)
                    if problem:
                        problems.append(problem)
                        continue
                    image = Image.open(io.BytesIO(body)).convert("RGB")
                    whole = Image.open(f"{self.sources}/{name}.{source}")
                    pair = (f"{self.folder}/reference.png", f"{self.folder}/result.png")
                    light.reduced(whole, image.size).save(pair[0])
                    image.save(pair[1])
                    scores.append(compute_ssimulacra2(*pair))
                    sizes.append(len(body))
                if problems and contender == "WebImage":
                    wrong.append(f"{source} → {form}: {problems[0]}")
                # The mean of fewer images isn't comparable.
                if scores and not problems:
                    means[contender] = (statistics.mean(scores), statistics.mean(sizes) / 1024)
                rows.append([
                    f"{source} → {form}, {quality}", contender, *means.get(contender, ("", "")), f"{len(scores)}/{len(names)}", "",
                    ", ".join(sorted(set(problems))),
                ])
            if len(means) == 2:
                (score, size), (other_score, other_size) = means["WebImage"], means["thumbor"]
                row = next(row for row in reversed(rows) if row[1] == "WebImage")
                row[5] = judged(score >= other_score and size <= other_size)
        self.results["quality"] = rows
        table("Quality of the results (mean). The goal is no lower score and no more bytes than thumbor", ["Work", "Server", "SSIMULACRA2", "KiB", "Images", "Goal", "Wrong results"], rows)
        if wrong:
            raise Failure("results are wrong: " + "; ".join(wrong))

    def loads_by_source(self):
        """Returns the loads of the WebImage processes by their source, from `/metrics`."""
        found = {}
        for process in self.fleet.contenders["WebImage"]:
            status, body = unix_get(process.address, "/metrics", {"X-Forwarded-For": "127.0.0.1"})
            if status != 200:
                raise Failure(f"/metrics has the status {status}")
            for line in body.decode().splitlines():
                if line.startswith(("webimage_loads_total{", "webimage_coalesced_loads_total")):
                    name, value = line.rsplit(" ", 1)
                    name = name.split('"')[1] if '"' in name else "coalesced"
                    found[name] = found.get(name, 0) + int(value)
        return found

    def zipf(self):
        """Requests with a Zipf distribution over distinct URLs, for each format."""
        random.seed(7)
        count = self.options.zipf_urls
        weights = [1 / (rank + 1) for rank in range(count)]
        ranks = random.choices(range(count), weights, k=20_000)
        loads, rows = {}, []
        for case in CASES:
            source, form, quality = case
            token = f"{random.getrandbits(48):x}"
            before = self.loads_by_source()
            loads[case] = self.interleaved(
                lambda contender: [
                    self.path(contender, self.source(f"{self.names[rank % len(self.names)]}.{source}", f"zipf-{token}-{rank}"), form, quality)
                    for rank in ranks
                ], self.capable(case))
            after = self.loads_by_source()
            found = {name: after[name] - before.get(name, 0) for name in after}
            total = sum(value for name, value in found.items() if name != "coalesced")
            share = lambda name: f"{found.get(name, 0)} ({100 * found.get(name, 0) / max(1, total):.1f} %)"
            rows.append([f"{source} → {form}, {quality}", *map(share, ("memory", "disk", "tier", "revalidated", "network")), found.get("coalesced", 0)])
        self.results["zipf"] = {" ".join(map(str, case)): result for case, result in loads.items()}
        self.results["zipf tiers"] = rows
        table("Loads of WebImage by source, with the warm-up", ["Work", "Memory", "Disk", "memcached", "Revalidated", "Network", "Coalesced"], rows)
        self.rows_of_loads(f"Zipf distribution over {count} URLs, fit 512 × 512", loads)

    def memory(self):
        """The peak memory of a new server and its helpers, without a memory cache.

        The goals apply to the proportional set size, which contains the shared pages of programs and libraries once. The
        resident memory contains them once for each process, and the anonymous memory doesn't contain them. Each value is
        the largest sum of the server and its helpers at one time.
        """
        rows, wrong = [], 0
        for label, count in (("one URL", 1), ("sixteen URLs at the same time", 16)):
            address, arguments = self.fleet.webimage_arguments(9, "--memory-cache-size=0")
            process = Process(arguments, self.folder, "webimage-9", None, address)
            try:
                idle = proportional_memory([process])
                targets = [
                    self.path("WebImage", f"local:///{self.names[number % len(self.names)]}.large.jpg?{number}", "jpg", 80) for number in range(count)
                ]
                peaks = Peaks([process], {
                    "proportional": proportional_memory, "resident": lambda one: memory(one, "VmRSS"),
                    "anonymous": lambda one: memory(one, "RssAnon"),
                })
                statuses = together([lambda target=target: unix_get(address, target)[0] for target in targets])
                found = {name: value * 1.048576 for name, value in peaks.stop().items()}
                goal = MEMORY_GOALS[count]
                wrong += count - statuses.count(200)
                rows.append([
                    label, idle * 1.048576, found["proportional"], f"{goal} {judged(found['proportional'] <= goal)}", found["anonymous"], found["resident"],
                    peaks.samples, f"{statuses.count(200)}/{count}",
                ])
            finally:
                process.stop()
        self.results["memory"] = rows
        table("Peak memory of a new process in MB, 12 MP JPEG to 512 × 512", ["Requests", "Idle, proportional", "Peak, proportional", "Goal", "Peak, anonymous", "Peak, resident", "Samples", "Status 200"], rows)
        if wrong:
            raise Failure(f"{wrong} requests failed")

    def start(self):
        times = []
        for _ in range(9):
            address, arguments = self.fleet.webimage_arguments(9)
            if os.path.exists(address):
                os.unlink(address)
            target = self.path("WebImage", f"local:///{self.names[0]}.jpg", "jpg", 80)
            begin = time.perf_counter()
            child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
            while not os.path.exists(address) or not machines.accepts(address):
                time.sleep(0.0002)
            status, _ = unix_get(address, target)
            times.append((time.perf_counter() - begin) * 1000)
            child.terminate()
            child.wait()
            if status != 200:
                raise Failure(f"the first image has the status {status}")
        self.results["start"] = times
        median = statistics.median(times)
        table("From the start of the program to the first image", ["Median ms", "Goal", "Minimum ms", "Maximum ms"], [[median, f"{START_GOAL} {judged(median <= START_GOAL)}", min(times), max(times)]])

    def connections(self):
        paths = [self.path("WebImage", self.source(f"{name}.jpg", "connections"), "jpg", 80) for name in self.names]
        for path in paths:
            status, _ = self.get(path)
            if status != 200:
                raise Failure(f"a request before the measurement has the status {status}")
        result = self.wrk(paths, self.options.seconds, 4_096, threads=2)
        self.results["connections"] = result
        failures = result["bad"] + result["broken"]
        table("4,096 connections, URLs in the cache", ["Requests/s", "p50 ms", "p99 ms", "Status ≠ 200", "Failed or late", "Goal"], [[result["rate"], result["p50"], result["p99"], result["bad"], result["broken"], f"0 {judged(failures == 0)}"]])
        if failures:
            raise Failure(f"{failures} requests failed")

    def faults(self):
        """Kills parts of the fleet under load, and checks each body."""
        count = 200
        paths = [
            self.path("WebImage", self.source(f"{self.names[number % len(self.names)]}.jpg", f"fault-{number}"), "jpg", 80) for number in range(count)
        ]
        expected = {}
        for path in paths[: len(self.names)]:
            status, body = self.get(path)
            if status != 200:
                raise Failure(f"a request before the faults has the status {status}")
            expected[path] = hashlib.sha256(body).digest()
        tail = {path: paths[number % len(self.names)] for number, path in enumerate(paths)}
        # The statuses, the wrong bodies, and the slowest request by the fault during which a request began.
        found, lock, ended = {}, threading.Lock(), threading.Event()
        fault = "none"

        def client(seed):
            choice = random.Random(seed)
            while not ended.is_set():
                path = paths[min(int(choice.paretovariate(0.8)) - 1, count - 1)]
                begin, during = time.monotonic(), fault
                try:
                    status, body = self.get(path)
                except (OSError, http.client.HTTPException):
                    status, body = "no response", b""
                with lock:
                    record = found.setdefault(during, {"statuses": {}, "wrong": 0, "slowest": 0.0})
                    record["statuses"][status] = record["statuses"].get(status, 0) + 1
                    record["slowest"] = max(record["slowest"], time.monotonic() - begin)
                    record["wrong"] += status == 200 and hashlib.sha256(body).digest() != expected[tail[path]]

        clients = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
        for thread in clients:
            thread.start()
        server, cache, step = self.fleet.contenders["WebImage"][0], self.fleet.memcached[0], self.options.seconds / 7
        faults = [
            ("server killed", server.kill), ("server started", server.start), ("memcached killed", cache.kill),
            ("memcached started", cache.start), ("origin stopped", self.fleet.origin.stop), ("origin started", self.fleet.origin.start),
        ]
        try:
            for name, action in faults:
                time.sleep(step)
                fault = name
                action()
            time.sleep(step)
        finally:
            ended.set()
            for thread in clients:
                thread.join()
        rows, problems = [], []
        for name in ["none"] + [name for name, _ in faults]:
            record = found.get(name, {"statuses": {}, "wrong": 0, "slowest": 0.0})
            failed = sum(value for status, value in record["statuses"].items() if status != 200)
            # A killed server process fails the requests whose responses it has begun. Without the origin, images that no
            # cache contains fail with the status of a gateway. All other requests must succeed.
            allowed = CLIENTS if name == "server killed" else 0
            if name.startswith("origin"):
                failed = sum(value for status, value in record["statuses"].items() if status not in (200, 502, 504))
            if not record["statuses"].get(200):
                problems.append(f"{name}: no request succeeded")
            if failed > allowed:
                problems.append(f"{name}: {failed} requests failed")
            if record["wrong"]:
                problems.append(f"{name}: {record['wrong']} bodies were wrong")
            rows.append([name, ", ".join(f"{key}: {value}" for key, value in sorted(record["statuses"].items(), key=str)), record["wrong"], record["slowest"], judged(failed <= allowed and not record["wrong"])])
        self.results["faults"] = rows
        table("Requests while processes are killed and started again", ["Fault", "Statuses", "Wrong bodies", "Slowest s", "Goal"], rows)
        if problems:
            raise Failure("; ".join(problems))

    def memory_bound(self):
        """The bound of the memory of one server and its helpers in MiB, as the article “Image Server” states it.

        No client of this test reads slowly.
        """
        return 128 + 64 * os.cpu_count() + self.options.memory_cache + DECODING_MEMORY + WORKERS * SOURCE_SIZE

    def hostile(self):
        origin = hostile.Origin(self.fleet.hostile_port)
        processes = self.fleet.contenders["WebImage"]
        statuses, served, sent, lock = {}, 0, 0, threading.Lock()
        begin, most = time.monotonic(), self.options.hostile_requests

        def is_ended():
            """Returns whether no further request begins, and counts the request otherwise."""
            nonlocal sent
            with lock:
                if sent >= most if most else time.monotonic() >= begin + self.options.hostile_seconds:
                    return True
                sent += 1
                return False

        def client(seed):
            nonlocal served
            choice = random.Random(seed)
            while not is_ended():
                kind = choice.choice(hostile.Origin.kinds + ["photograph"])
                number = choice.getrandbits(32)
                source = f"http://127.0.0.1:{self.fleet.hostile_port}/{kind}/{number}"
                if kind == "photograph":
                    source = self.source(f"{choice.choice(self.names)}.jpg", f"hostile-{number}")
                try:
                    status = hostile.attack(self.fleet.port, self.path("WebImage", source, "jpg", 80), choice.random() < 0.2)
                except (OSError, http.client.HTTPException):
                    status = "no response"
                key = "disconnected" if status is None else status
                with lock:
                    statuses.setdefault(kind, {}).setdefault(key, 0)
                    statuses[kind][key] += 1
                    served += kind not in ("photograph", "large") and status == 200

        clients = [threading.Thread(target=client, args=(number,)) for number in range(48)]
        peaks = Peaks(processes, {"resident": lambda one: memory(one, "VmRSS")})
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        peak, duration = peaks.stop()["resident"], time.monotonic() - begin
        origin.stop()
        alive, bound = sum(process.child.poll() is None for process in processes), self.memory_bound()
        self.results["hostile"] = {"requests": sent, "seconds": duration, "peak": peak, "bound": bound, "served": served, "statuses": {kind: {str(key): value for key, value in found.items()} for kind, found in statuses.items()}}
        table(
            f"Hostile load of {sent} requests in {duration:.0f} s: peak of one server {peak:.0f} MiB (bound {bound} MiB, {judged(peak <= bound)}), invalid sources served {served}, servers running {alive}/2",
            ["Source", "Statuses"], [[kind, ", ".join(f"{key}: {value}" for key, value in sorted(found.items(), key=str))] for kind, found in sorted(statuses.items())])
        if peak > bound or served or alive < 2:
            raise Failure("the server exceeded its memory, served an invalid source, or ended")


def unix_get(address, target, headers={}):
    """Sends a request over a Unix socket, and returns the status and the body."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = machines.socket.socket(machines.socket.AF_UNIX)
    connection.sock.connect(address)
    try:
        connection.request("GET", target, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def together(functions):
    """Runs functions on threads at the same time, and returns their results."""
    results = [None] * len(functions)

    def run(index):
        results[index] = functions[index]()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=20, help="the duration of one measurement (20)")
    parser.add_argument("--hostile-seconds", type=int, help="the duration of the hostile load (as --seconds)")
    parser.add_argument("--hostile-requests", type=int, help="the number of hostile requests, instead of a duration")
    parser.add_argument("--rounds", type=int, default=3, help="the rounds of one measurement after the warm-up (3)")
    parser.add_argument("--phases", default=",".join(PHASES), help="the phases, separated by commas")
    parser.add_argument("--connections", type=int, default=16, help="the connections of the comparisons (16)")
    parser.add_argument("--width", type=int, default=2_000, help="the longer side of the photographs in pixels (2000)")
    parser.add_argument("--photographs", type=int, default=12, help="the number of photographs (12)")
    parser.add_argument("--quality-images", type=int, default=6, help="the photographs whose quality is measured (6)")
    parser.add_argument("--zipf-urls", type=int, default=1_000, help="the distinct URLs of the Zipf distribution (1000)")
    parser.add_argument("--memory-cache", type=int, default=64, help="the memory cache of a process in MiB (64)")
    parser.add_argument("--port", type=int, default=18_200, help="the first of ten ports (18200)")
    parser.add_argument("--without-thumbor", action="store_true", help="measure only webimage-serve")
    parser.add_argument("--json", help="a file for all measurements")
    options = parser.parse_args()
    options.hostile_seconds = options.hostile_seconds or options.seconds
    unknown = set(options.phases.split(",")) - set(PHASES)
    if unknown:
        parser.error(f"there is no phase {', '.join(sorted(unknown))}")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))
    failed = False
    try:
        test = Test(options)
    except Unavailable as error:
        sys.exit(f"load test: {error}")
    try:
        for phase in options.phases.split(","):
            begin = time.monotonic()
            try:
                getattr(test, phase)()
            except Unavailable as error:
                failed = True
                print(f"\n{phase}: not measured, because {error}")
            except Failure as error:
                failed = True
                print(f"\n{phase}: failed, because {error}")
            print(f"\n({phase}: {time.monotonic() - begin:.0f} s)", flush=True)
    finally:
        test.close()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(test.results, file, indent=1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
