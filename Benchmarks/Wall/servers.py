# SPDX-License-Identifier: MIT
"""The servers of `make wall` and the relay before them."""
import base64
import hashlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def await_port(port, process):
    for _ in range(200):
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{process.args[0]} doesn't listen")


class Servers:
    """nginx with HTTP/1.1 and nghttpd with HTTP/2. Both use TLS and a certificate of a temporary authority."""

    def __init__(self, work, site):
        self.processes = []
        self.authority = work / "authority.pem"
        self.key_hash = self.make_certificate(work)
        self.ports = {"http1": free_port(), "http2": free_port()}
        text = (Path(__file__).parent / "nginx.conf").read_text()
        for name, value in (("@WORK@", work), ("@SITE@", site), ("@PORT@", self.ports["http1"])):
            text = text.replace(name, str(value))
        (work / "nginx.conf").write_text(text)
        self.start(["nginx", "-c", work / "nginx.conf", "-e", work / "nginx.log"], "http1", work)
        self.start(["nghttpd", "-a", "127.0.0.1", "-d", site, self.ports["http2"], work / "server.key",
                    work / "server.pem"], "http2", work)

    def start(self, command, protocol, work):
        # The root directory of Debian's administrators isn't always in the path.
        path = os.environ["PATH"] + ":/usr/sbin"
        with open(work / f"{protocol}.log", "wb") as log:
            process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log,
                                       env={**os.environ, "PATH": path})
        self.processes.append(process)
        await_port(self.ports[protocol], process)

    @staticmethod
    def make_certificate(work):
        """Creates an authority and a certificate, and returns the hash of its public key for Chromium."""
        def openssl(*words, **options):
            return subprocess.run(["openssl", *words], cwd=work, check=True, capture_output=True, **options).stdout

        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "authority.key", "-out", "authority.pem",
                "-days", "2", "-subj", "/CN=WebImage Wall", "-addext", "basicConstraints=critical,CA:TRUE")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr",
                "-subj", "/CN=127.0.0.1")
        (work / "names").write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
                "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem")
        key = openssl("x509", "-in", "server.pem", "-pubkey", "-noout")
        return base64.b64encode(hashlib.sha256(openssl("pkey", "-pubin", "-outform", "der", input=key)).digest()).decode()

    def stop(self):
        for process in self.processes:
            process.terminate()
            process.wait()


class Relay:
    """A running relay. `relay.c` describes it."""

    def __init__(self, program, port, rate, trip):
        self.process = subprocess.Popen([program, str(port), str(rate), str(trip)], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.bytes = None

    def stop(self):
        """Ends the relay and returns the number of bytes that it received from the server."""
        if self.bytes is None:
            self.process.send_signal(signal.SIGTERM)
            self.bytes = int(self.process.communicate()[0].split()[0])
        return self.bytes
