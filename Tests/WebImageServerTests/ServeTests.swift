// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImageServer

@Suite(
    "The program webimage-serve", .timeLimit(.minutes(3)),
    .enabled(if: ServeProcess.isAvailable, "the build has no trait Server"))
struct ServeTests {
    /// Options that allow an origin of the test.
    private func options(_ origin: LoopbackServer) -> [String] {
        [
            "--allowed-sources=http://127.0.0.1:\(origin.port)/", "--private-addresses", "--allowed-ports=any",
            "--user-agent=test",
        ]
    }

    private func origin(_ change: (inout LoopbackServer.Response) -> Void = { _ in }) throws -> LoopbackServer {
        var response = LoopbackServer.Response(
            headers: ["Cache-Control": "max-age=600"], body: try TestImages.png(5, width: 64, height: 48))
        change(&response)
        return try LoopbackServer(routes: ["/a.png": response, "/b.png": response, "/c.png": response])
    }

    private func target(_ origin: LoopbackServer, _ path: String = "/a.png") -> String {
        "/_/rs:fit:32:32/plain/\(origin.url(path))@png"
    }

    @Test("Images, HEAD, revalidations, and ranges have the responses of the handler")
    func responses() async throws {
        let origin = try origin()
        let server = try await ServeProcess(options(origin))
        let whole = try await server.send(target(origin))
        #expect(whole.status == 200 && whole.headers["Content-Type"] == "image/png")
        #expect(whole.headers["Content-Length"] == "\(whole.body.count)")
        #expect(try ImageInfo(data: whole.body).size == PixelSize(width: 32, height: 24))
        let head = try await server.send(target(origin), method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head.headers["Content-Length"] == "\(whole.body.count)")
        let tag = try #require(whole.headers["ETag"])
        let same = try await server.send(target(origin), headers: ["If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.body.isEmpty && same.headers["ETag"] == tag)
        // A length of zero would be wrong (RFC 9110, section 8.6).
        #expect(same.headers["Content-Length"] == "\(whole.body.count)")
        let range = try await server.send(target(origin), headers: ["Range: bytes=2-5"])
        #expect(range.status == 206 && range.body == whole.body.dropFirst(2).prefix(4))
        #expect(try await server.send(target(origin), method: "DELETE").status == 405)
        #expect(try await server.send("/_/plain/http://example.com/").status == 404)
        #expect(try await server.send("/health").status == 200)
        #expect(try await server.send("/ready").status == 200)
        #expect(origin.requests.count == 1)
    }

    @Test("The dates and the lifetime of the source are passed on, and conditions with dates have the status 304")
    func dates() async throws {
        let (date, later) = ("Wed, 21 Oct 2015 07:28:00 GMT", "Thu, 22 Oct 2015 07:28:00 GMT")
        let origin = try origin { $0.headers.append(name: "Last-Modified", value: date) }
        let server = try await ServeProcess(options(origin) + ["--cache-control-passthrough"])
        for _ in 0..<2 {
            let whole = try await server.send(target(origin))
            #expect(whole.status == 200 && whole.headers["Last-Modified"] == date)
            let control = try #require(whole.headers["Cache-Control"])
            let age = try #require(Int(control.dropFirst("public, max-age=".count)), "\(control)")
            #expect((1...600).contains(age))
        }
        let same = try await server.send(target(origin), headers: ["If-Modified-Since: \(date)"])
        #expect(same.status == 304 && same.body.isEmpty && same.headers["Last-Modified"] == date)
        #expect(try await server.send(target(origin), headers: ["If-Modified-Since: \(later)"]).status == 304)
        let older = ["If-Modified-Since: Tue, 20 Oct 2015 07:28:00 GMT"]
        #expect(try await server.send(target(origin), headers: older).status == 200)
        // An entity tag has precedence over a date.
        let other = ["If-None-Match: \"other\"", "If-Modified-Since: \(later)"]
        #expect(try await server.send(target(origin), headers: other).status == 200)
        let raw = try await server.send("/_/raw:1/plain/\(origin.url("/a.png"))")
        #expect(raw.headers["Last-Modified"] == date && raw.headers["Content-Type"] == "image/png")
        // Without a disk cache, only the unmodified file needs another request.
        #expect(origin.requests.count == 2)
    }

    @Test("Ranges are parts of the result, and invalid or outdated ranges aren't")
    func ranges() async throws {
        let origin = try origin()
        let server = try await ServeProcess(options(origin))
        let whole = try await server.send(target(origin))
        let (data, tag) = (whole.body, try #require(whole.headers["ETag"]))
        #expect(whole.headers["Accept-Ranges"] == "bytes")
        let cases: [(String, Range<Int>)] = [
            ("bytes=0-0", 0..<1), ("bytes=5-", 5..<data.count), ("bytes=-3", data.count - 3..<data.count),
            ("bytes=1-999999", 1..<data.count),
        ]
        for (text, range) in cases {
            let part = try await server.send(target(origin), headers: ["Range: \(text)", "If-Range: \(tag)"])
            #expect(part.status == 206 && part.body == data[range], "\(text)")
            #expect(
                part.headers["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(data.count)")
            #expect(part.headers["Content-Length"] == "\(range.count)")
        }
        let outside = try await server.send(target(origin), headers: ["Range: bytes=\(data.count)-"])
        #expect(outside.status == 416 && outside.headers["Content-Range"] == "bytes */\(data.count)")
        for headers in [
            ["Range: bytes=0-1", "If-Range: \"other\""], ["Range: bytes=0-1,3-4"], ["Range: lines=0-1"],
            ["Range: bytes=0-1", "If-Range: Wed, 21 Oct 2015 07:28:00 GMT"],
        ] {
            let response = try await server.send(target(origin), headers: headers)
            #expect(response.status == 200 && response.body == data, "\(headers)")
        }
        let head = try await server.send(target(origin), method: "HEAD", headers: ["Range: bytes=0-1"])
        #expect(head.status == 200 && head.body.isEmpty && head.headers["Content-Length"] == "\(data.count)")
    }

    @Test("Sources that forbid storing have results that nothing stores")
    func noStore() async throws {
        let origin = try origin { $0.headers = ["Cache-Control": "no-store"] }
        let server = try await ServeProcess(options(origin))
        #expect(try await server.send(target(origin)).headers["Cache-Control"] == "no-store")
    }

    @Test("The work of a client that disconnects ends, and the origin sees its connection closed")
    func vanishedClient() async throws {
        let origin = try origin { $0.headGate = TestGate() }
        let server = try await ServeProcess(options(origin) + ["--workers=1"])
        let client = try ClientSocket(port: server.port)
        client.send("GET \(target(origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await origin.waitForRequests(count: 1)
        client.close()
        await origin.waitForClosedConnections(count: 1)
        // The slot of the client is free.
        let other = try await server.send("/_/plain/http://127.0.0.1:\(origin.port)/missing")
        #expect(other.status == 404)
        server.process.send(SIGTERM)
        #expect(await server.process.end() == 0)
        let ended = try server.log().first { $0["status"] as? Int == 499 }
        #expect(ended?["is_complete"] as? Bool == false)
    }

    @Test("Logs, metrics, request identifiers, and traces describe the requests")
    func observation() async throws {
        let origin = try origin()
        let server = try await ServeProcess(options(origin))
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let response = try await server.send(
            target(origin) + "?secret", headers: ["X-Request-ID: my-id", "traceparent: \(trace)", "tracestate: a=b"])
        #expect(response.headers["X-Request-ID"] == "my-id")
        let invalid = try await server.send(target(origin), headers: ["X-Request-ID: a\"b"])
        #expect(invalid.headers["X-Request-ID"]?.count == 36)
        let sent = try #require(origin.requests.first?.headers)
        let parent = try #require(sent["traceparent"].flatMap(TraceContext.init))
        #expect(parent.traceID == "0af7651916cd43dd8448eb211c80319c" && parent.spanID != "b7ad6b7169203331")
        #expect(sent["tracestate"] == "a=b" && origin.requests.count == 1)

        let metrics = try await server.send("/metrics")
        let lines = String(decoding: metrics.body, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("webimage_requests_total{status=\"200\"} 2"))
        #expect(lines.contains { $0.hasPrefix("webimage_stage_duration_seconds_bucket{stage=\"decode\",le=\"+Inf\"}") })
        #expect(lines.contains("webimage_loads_total{source=\"network\"} 1"))
        #expect(lines.contains { $0.hasPrefix("webimage_helper_resident_memory_bytes ") })
        for line in lines where !line.hasPrefix("#") {
            let value = try #require(line.split(separator: " ").last)
            #expect(Double(value) != nil && line.hasPrefix("webimage_") || line.hasPrefix("process_"), "\(line)")
        }

        server.process.send(SIGTERM)
        #expect(await server.process.end() == 0)
        let log = try server.log()
        let request = try #require(log.first { $0["request_id"] as? String == "my-id" })
        #expect(request["status"] as? Int == 200 && request["bytes"] as? Int == response.body.count)
        #expect(request["trace_id"] as? String == parent.traceID && request["span_id"] as? String == parent.spanID)
        #expect(request["client"] as? String == "127.0.0.1" && request["path"] as? String == target(origin))
        #expect(log.last?["message"] as? String == "stopped")
    }

    @Test(
        "With a lease, two servers that share memcached load an image once, and the metrics count the wait",
        .enabled(if: access("/usr/bin/memcached", X_OK) == 0, "memcached is not installed (Scripts/setup test)"))
    func lease() async throws {
        let directory = try TemporaryDirectory()
        let port = try #require(LocalPorts.free(1).first)
        let memcached = try ChildProcess(
            "/usr/bin/memcached", ["-l", "127.0.0.1", "-p", "\(port)", "-U", "0", "-t", "1", "-u", "nobody"],
            in: URL(filePath: directory.path), output: "memcached.log")
        defer { memcached.stop() }
        try #require(LocalPorts.waitUntilListening([port], memcached))
        let gate = TestGate()
        let origin = try origin { $0.headGate = gate }
        // The lookup must not time out, because the request then contacts the origin without a lease.
        let shared = [
            "--memcached-servers=127.0.0.1:\(port)", "--memcached-lease=100", "--memcached-lookup-timeout=60000",
            "--timeout=120",
        ]
        let first = try await ServeProcess(options(origin) + shared)
        let second = try await ServeProcess(options(origin) + shared)
        async let loaded = first.send(target(origin))
        await origin.waitForRequests(count: 1)
        async let waiting = second.send(target(origin))
        var text = ""
        while !text.contains("webimage_memcached_lease_waits_total 1") {
            text = String(decoding: try await second.send("/metrics").body, as: UTF8.self)
        }
        gate.open()
        let responses = (try await loaded, try await waiting)
        #expect(responses.0.status == 200 && responses.1.body == responses.0.body)
        #expect(origin.requests.count == 1)
        for name in ["late_hits", "timeouts", "rejected_values", "dropped_writes"] {
            #expect(text.contains("webimage_memcached_\(name)_total 0\n"), "\(name)")
        }
    }

    @Test(
        "A missing helper process is logged, and required isolation then refuses to start",
        .enabled(
            if: ["/usr", "/usr/local"].allSatisfy { access("\($0)/libexec/webimage/webimage-decoder", X_OK) != 0 },
            "webimage-decoder is installed"))
    func missingHelper() async throws {
        let directory = try TemporaryDirectory()
        let program = directory.file("webimage-serve")
        try await ChildProcess.copy(program: ServeProcess.executable, to: program)
        for (isolation, status, text) in [("required", Int32(78), "WEBIMAGE_ISOLATION"), ("auto", 0, "helper process")]
        {
            let process = try ChildProcess(
                program, ["--bind=127.0.0.1:0", "--open-proxy", "--cache-directory=", "--isolation=\(isolation)"],
                in: URL(filePath: directory.path), environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path],
                output: .file("log-\(isolation)"), error: .file("error-\(isolation)"))
            let output = directory.file("\(status == 0 ? "log" : "error")-\(isolation)")
            await untilTrue {
                (try? String(contentsOfFile: output, encoding: .utf8).contains(text)) == true || !process.isRunning
            }
            // The program that refuses to start ends without a signal.
            if status == 0 { process.send(SIGTERM) }
            #expect(await process.end() == status)
            #expect(try String(contentsOfFile: output, encoding: .utf8).contains(text), "\(isolation)")
        }
    }

    @Test("A full queue has the status 503 immediately, and waiting requests succeed later")
    func overload() async throws {
        let gate = TestGate()
        let origin = try origin { $0.headGate = gate }
        let server = try await ServeProcess(options(origin) + ["--workers=1", "--requests-queue-size=1"])
        async let first = server.send(target(origin))
        await origin.waitForRequests(count: 1)
        async let second = server.send(target(origin, "/b.png"))
        let waiting = "webimage_waiting_requests 1"
        var text = ""
        while !text.contains(waiting) {
            text = String(decoding: try await server.send("/metrics").body, as: UTF8.self)
        }
        let third = try await server.send(target(origin, "/c.png"))
        #expect(third.status == 503 && third.headers["Retry-After"] == "1")
        gate.open()
        #expect(try await first.status == 200)
        #expect(try await second.status == 200)
        let metrics = String(decoding: try await server.send("/metrics").body, as: UTF8.self)
        #expect(metrics.contains("webimage_rejected_requests_total{reason=\"queue\"} 1"))
    }

    @Test("After SIGTERM, running requests finish and the program ends")
    func drain() async throws {
        let gate = TestGate()
        let origin = try origin { $0.headGate = gate }
        let server = try await ServeProcess(options(origin))
        async let response = server.send(target(origin))
        await origin.waitForRequests(count: 1)
        server.process.send(SIGTERM)
        let path = server.directory.file("log")
        await untilTrue { (try? String(contentsOfFile: path, encoding: .utf8).contains("draining")) == true }
        gate.open()
        let finished = try await response
        #expect(finished.status == 200 && finished.headers["Connection"] == "close")
        #expect(await server.process.end() == 0)
    }

    @Test("At the deadline, running requests have the status 503")
    func deadline() async throws {
        let origin = try origin { $0.headGate = TestGate() }
        let server = try await ServeProcess(options(origin) + ["--drain-timeout=0"])
        async let response = server.send(target(origin))
        await origin.waitForRequests(count: 1)
        server.process.send(SIGTERM)
        #expect(try await response.status == 503)
        #expect(await server.process.end() == 0)
    }

    @Test("The program refuses to start as an open proxy and with invalid settings")
    func refusal() async throws {
        for (options, text) in [([], "IMGPROXY_KEY"), (["--open-proxy", "--bind=x"], "“x”"), (["--no"], "--no")] {
            let server = try await ServeProcess(options)
            #expect(await server.process.end() == 78)
            let errors = try String(contentsOfFile: server.directory.file("errors"), encoding: .utf8)
            #expect(errors.hasPrefix("webimage-serve: ") && errors.contains(text), "\(errors)")
        }
    }

    @Test("The program prints its version, and a missing file with settings is named with the reason")
    func versionAndMissingFile() async throws {
        let version = try await ServeProcess(["--version"])
        #expect(await version.process.end() == 0)
        let text = try String(contentsOfFile: version.directory.file("log"), encoding: .utf8)
        #expect(text.wholeMatch(of: /webimage-serve \d+\.\d+\.\d+\S*\n/) != nil, "\(text)")
        let missing = try await ServeProcess(["--config=/nowhere/settings"])
        #expect(await missing.process.end() == 78)
        let errors = try String(contentsOfFile: missing.directory.file("errors"), encoding: .utf8)
        #expect(errors == "webimage-serve: --config: can’t read /nowhere/settings (No such file or directory)\n")
    }

    @Test("A socket of systemd is used, and a trusted proxy names the client")
    func inheritedSocket() async throws {
        let directory = try TemporaryDirectory()
        let port = try #require(LocalPorts.free(1).first)
        // The shell sets the process ID that systemd would set, and the listening socket is descriptor 3.
        let program = ServeProcess.executable.path(percentEncoded: false)
        let listener = try ListeningDescriptor(port: port)
        let script =
            "export LISTEN_FDS=1 LISTEN_PID=$$; exec '\(program)' --open-proxy --trusted-proxies=127.0.0.1 3<&0 </dev/null"
        let process = try ChildProcess(
            "/bin/sh", ["-c", script], in: URL(filePath: directory.path),
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path, "WEBIMAGE_CACHE_DIRECTORY": ""],
            input: .descriptor(listener.descriptor), output: .file("log"), error: .file("errors"))
        defer { process.stop() }
        let headers = ["X-Forwarded-For: 1.2.3.4, 5.6.7.8"]
        let response = try await ServeProcess.send("/metrics", headers: headers, port: port)
        #expect(response.status == 403)
        #expect(try await ServeProcess.send("/metrics", port: port).status == 200)
        process.send(SIGTERM)
        #expect(await process.end() == 0)
        let log = try String(contentsOfFile: directory.file("log"), encoding: .utf8)
        #expect(log.contains("\"address\":\"systemd\"") && log.contains("\"client\":\"5.6.7.8\""))
    }
}

/// A connection to a port of 127.0.0.1.
private final class ClientSocket {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        name.sin_port = port.bigEndian
        let isConnected = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected)
    }

    func send(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    func close() { Glibc.close(descriptor) }
}

/// A socket that listens on a port of 127.0.0.1.
private final class ListeningDescriptor {
    let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        name.sin_port = port.bigEndian
        let isBound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isBound && listen(descriptor, 16) == 0)
    }

    deinit { close(descriptor) }
}
