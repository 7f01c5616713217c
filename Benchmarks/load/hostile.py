# SPDX-License-Identifier: MIT
"""An origin that sends hostile responses, and clients that disconnect."""
import http.client
import http.server
import random
import socket
import struct
import threading
import time
import zlib


def png(width, height, content=b""):
    """Returns a PNG file with a header that declares a size and with little content."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", content) + chunk(b"IEND", b"")


def bomb(side):
    """Returns a valid PNG file of one color, which is a thousandth of the size of its pixels."""
    packer = zlib.compressobj(9)
    row = b"\0" * (1 + 3 * side)
    content = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    return png(side, side, content)


class Handler(http.server.BaseHTTPRequestHandler):
    """The responses of the hostile origin, by the beginning of the path."""

    protocol_version = "HTTP/1.1"
    bombs = {}

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        kind = self.path.split("/")[1]
        try:
            getattr(self, "send_" + kind)()
        except (OSError, AttributeError):
            self.close_connection = True

    def send_data(self, data, kind="image/png"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_large(self):
        self.send_data(self.bombs["large"])

    def send_declared(self):
        self.send_data(png(60_000, 60_000, b"\x78\x9c\x03\x00\x00\x00\x00\x01"))

    def send_text(self):
        self.send_data(b"<html>sign in</html>" * 100, "text/html")

    def send_truncated(self):
        self.send_data(self.bombs["large"][: random.randint(1, 500)])

    def send_slow(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        for _ in range(60):
            self.wfile.write(b"\x89PNG")
            self.wfile.flush()
            time.sleep(1)

    def send_endless(self):
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b"\x89PNG\r\n\x1a\n" * 8192)

    def send_loop(self):
        self.send_response(302)
        self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Origin:
    """The hostile origin."""

    kinds = ["large", "declared", "text", "truncated", "slow", "endless", "loop"]

    def __init__(self, port):
        Handler.bombs["large"] = bomb(9_000)
        http.server.ThreadingHTTPServer.request_queue_size = 512
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()


def attack(port, target, vanishes):
    """Sends one request, and returns its status, or `None` if the client disconnects first."""
    if vanishes:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(random.random() * 0.05)
        return None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()
