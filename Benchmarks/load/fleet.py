# SPDX-License-Identifier: MIT
"""The processes of the load test: nginx, image servers, memcached servers, and the origin, all on 127.0.0.1."""
import os
import shutil
import signal
import socket
import subprocess
import threading
import time


class Unavailable(Exception):
    """The reason why a part of the test can't run."""


def wait_until(condition, reason, seconds=20):
    """Waits until a condition holds. Raises an error with the reason after the limit."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise Unavailable(reason)
        time.sleep(0.01)


def accepts(address):
    """Returns whether a server accepts connections at a port or at the path of a socket."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family) as probe:
        target = address if isinstance(address, str) else ("127.0.0.1", address)
        return probe.connect_ex(target) == 0


class Process:
    """A process that the test can kill and start again."""

    def __init__(self, arguments, folder, name, environment=None, address=None):
        self.arguments, self.folder, self.name = arguments, folder, name
        self.environment, self.address = environment, address
        self.child = None
        self.start()

    def start(self):
        with open(f"{self.folder}/{self.name}.log", "ab") as log:
            self.child = subprocess.Popen(
                self.arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder,
                env=dict(os.environ, **(self.environment or {})))
        if self.address is not None:
            wait_until(
                lambda: accepts(self.address) or self.child.poll() is not None, f"{self.name} doesn't start")
        if self.child.poll() is not None:
            raise Unavailable(f"{self.name} ended: {self.log()[-300:]}")

    def log(self):
        with open(f"{self.folder}/{self.name}.log", errors="replace") as log:
            return log.read()

    def kill(self):
        """Ends the process without a warning."""
        self.child.kill()
        self.child.wait()

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


def descendants(pid):
    """Returns a process and its running descendants."""
    found = [pid]
    for entry in os.listdir(f"/proc/{pid}/task") if os.path.exists(f"/proc/{pid}/task") else []:
        try:
            with open(f"/proc/{pid}/task/{entry}/children") as children:
                for child in children.read().split():
                    found += descendants(int(child))
        except OSError:
            pass
    return found


def processor_seconds(processes):
    """Returns the processor time of processes and of their descendants, including ended ones."""
    total = 0
    for process in processes:
        for pid in descendants(process.child.pid):
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            total += sum(int(field) for field in fields[11:15])
    return total / os.sysconf("SC_CLK_TCK")


def memory(processes, name):
    """Returns the sum of a value in /proc/PID/status of processes and of their descendants, in MiB."""
    total = 0
    for process in processes:
        for pid in descendants(process.child.pid):
            try:
                with open(f"/proc/{pid}/status") as status:
                    lines = [line for line in status if line.startswith(name + ":")]
            except OSError:
                continue
            total += int(lines[0].split()[1]) if lines else 0
    return total / 1024


def proportional_memory(processes):
    """Returns the sum of the proportional set sizes of processes and of their descendants, in MiB.

    Processes share the pages of programs and libraries, so this sum contains each page once.
    """
    total = 0
    for process in processes:
        for pid in descendants(process.child.pid):
            try:
                with open(f"/proc/{pid}/smaps_rollup") as rollup:
                    total += sum(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
            except OSError:
                continue
    return total / 1024


class Peaks:
    """Samples the memory of processes and of their descendants on a thread, at least every 5 ms if the processor is free.

    `functions` maps names to functions that return the memory of a process in MiB, such as `proportional_memory`. The
    result of `stop` maps the names to the largest value of a single process with its descendants.
    """

    def __init__(self, processes, functions, interval=0.005):
        self.processes, self.functions, self.interval = processes, functions, interval
        self.values, self.samples, self.ended = dict.fromkeys(functions, 0.0), 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.sample()
        self.thread.start()

    def sample(self):
        for name, function in self.functions.items():
            for process in self.processes:
                self.values[name] = max(self.values[name], function([process]))
        self.samples += 1

    def run(self):
        due = time.monotonic()
        while not self.ended.wait(max(0, due - time.monotonic())):
            due = time.monotonic() + self.interval
            self.sample()

    def stop(self):
        self.ended.set()
        self.thread.join()
        self.sample()
        return self.values


def reset_peaks(processes):
    """Sets the peak memory of processes to their current memory."""
    for process in processes:
        for pid in descendants(process.child.pid):
            with open(f"/proc/{pid}/clear_refs", "w") as file:
                file.write("5")


class Fleet:
    """nginx in front of two processes of each contender, four memcached servers, and an origin."""

    def __init__(self, folder, program, thumbor, sources, port, memory_cache, settings):
        self.folder, self.program, self.sources, self.port = folder, program, sources, port
        self.origin_port, self.memory_cache, self.settings = port + 1, memory_cache, settings
        self.memcached_ports = [port + 2 + number for number in range(4)]
        self.hostile_port = port + 6
        self.running = []
        self.memcached = [self.add(self.memcached_arguments(one), f"memcached-{one}", one) for one in self.memcached_ports]
        self.write_nginx(f"{folder}/origin.conf", self.origin_configuration())
        self.origin = self.nginx("origin", self.origin_port)
        self.contenders = {"WebImage": [self.webimage(number) for number in range(2)]}
        self.thumbor_ports = [port + 8 + number for number in range(2)]
        if thumbor:
            self.contenders["thumbor"] = [self.thumbor(thumbor, one) for one in self.thumbor_ports]
        self.write_nginx(f"{folder}/front.conf", self.front_configuration())
        self.front = self.nginx("front", port)

    def add(self, arguments, name, address, environment=None):
        process = Process(arguments, self.folder, name, environment, address)
        self.running.append(process)
        return process

    def stop(self):
        for process in reversed(self.running):
            process.stop()

    # Servers

    def memcached_arguments(self, port):
        account = ["-u", "root"] if os.getuid() == 0 else []
        return ["memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-m", "256", "-t", "2", *account]

    def webimage_arguments(self, number, *options):
        directory = f"{self.folder}/cache-{number}"
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory, mode=0o700)
        address = f"{self.folder}/webimage-{number}.sock"
        return address, [
            self.program, f"--bind=unix:{address}", "--open-proxy", "--private-addresses", "--allowed-ports=any",
            "--trusted-proxies=unix", "--access-log=0", f"--cache-directory={directory}",
            f"--memory-cache-size={self.memory_cache}", "--user-agent=load-test",
            f"--local-filesystem-root={self.sources}", "--requests-queue-size=4096", *self.settings,
            *options,
        ]

    def webimage(self, number, *options):
        servers = ",".join(f"127.0.0.1:{port}" for port in self.memcached_ports)
        address, arguments = self.webimage_arguments(number, f"--memcached-servers={servers}", *options)
        return self.add(arguments, f"webimage-{number}", address)

    def thumbor(self, environment, port):
        settings = f"{self.folder}/thumbor.conf"
        with open(settings, "w") as file:
            file.write(
                "ALLOW_UNSAFE_URL = True\nSECURITY_KEY = 'key'\nAUTO_WEBP = False\nMAX_WIDTH = 0\nMAX_HEIGHT = 0\n"
                f"FILE_STORAGE_ROOT_PATH = '{self.folder}/thumbor-sources'\n"
                "RESULT_STORAGE = 'thumbor.result_storages.file_storage'\nRESULT_STORAGE_STORES_UNSAFE = True\n"
                f"RESULT_STORAGE_FILE_STORAGE_ROOT_PATH = '{self.folder}/thumbor-results'\n"
                "QUALITY = 80\nWEBP_QUALITY = 75\nAVIF_QUALITY = 65\nHTTP_LOADER_REQUEST_TIMEOUT = 20\n")
        arguments = [f"{environment}/bin/thumbor", "-i", "127.0.0.1", "-p", str(port), "-c", settings, "-l", "warning"]
        return self.add(arguments, f"thumbor-{port}", port)

    # nginx

    def nginx(self, name, port):
        arguments = ["/usr/sbin/nginx", "-p", self.folder, "-c", f"{self.folder}/{name}.conf", "-e", f"{self.folder}/{name}.err"]
        return self.add(arguments, f"nginx-{name}", port)

    def write_nginx(self, path, http):
        user = "user root;" if os.getuid() == 0 else ""
        name = os.path.basename(path)
        places = " ".join(
            f"{kind}_temp_path {self.folder}/{name}-{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(path, "w") as file:
            file.write(
                f"{user} daemon off; pid {path}.pid; worker_processes 2; worker_rlimit_nofile 20000;\n"
                "events { worker_connections 10000; }\n"
                f"http {{ access_log off; keepalive_requests 1000000; {places}\n{http}\n}}\n")

    def origin_configuration(self):
        return (
            f"server {{ listen 127.0.0.1:{self.origin_port} backlog=4096; root {self.sources}; etag on; "
            "add_header Cache-Control 'max-age=3600'; }")

    def front_configuration(self):
        upstreams = "".join(f"server unix:{self.folder}/webimage-{number}.sock max_fails=3 fail_timeout=1s;" for number in range(2))
        others = "".join(f"server 127.0.0.1:{port} max_fails=3 fail_timeout=1s;" for port in self.thumbor_ports)
        proxy = (
            "proxy_http_version 1.1; proxy_set_header Connection ''; proxy_read_timeout 60s; "
            "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_next_upstream error timeout;")
        return (
            f"upstream webimage {{ least_conn; {upstreams} keepalive 128; }}\n"
            f"upstream thumbor {{ least_conn; {others} keepalive 128; }}\n"
            f"server {{ listen 127.0.0.1:{self.port} backlog=8192; merge_slashes off; {proxy}\n"
            "location /unsafe/ { proxy_pass http://thumbor; }\nlocation / { proxy_pass http://webimage; } }")
