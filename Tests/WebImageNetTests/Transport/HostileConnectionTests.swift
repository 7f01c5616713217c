// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Connections of malicious servers", .timeLimit(.minutes(5)))
struct HostileConnectionTests {
    let body = patternBytes(40_000)
    let directory: TemporaryDirectory
    let certificates: TestCertificates

    init() throws {
        directory = try TemporaryDirectory()
        certificates = try TestCertificates(in: URL(filePath: directory.path))
    }

    // MARK: Unrequested responses

    @Test("A late second response over an idle TLS connection is never used")
    func lateSecondResponse() async throws {
        let (go, written) = (TestGate(), TestGate())
        let poison = http1Response(Data("poison".utf8))
        let answer = http1Response(body)
        let server = try HTTP2Server(certificates) { request in
            request.index == 0
                ? [.bytes(answer), .wait(go), .bytes(poison), .open(written)] : [.bytes(answer)]
        }
        let downloader = makeDownloader(for: server, http2: false)
        #expect(try await downloader.load(server.url("/0")).body == body)
        go.open()
        await written.wait()
        for index in 1..<4 { #expect(try await downloader.load(server.url("/\(index)")).body == body) }
        #expect(server.requests.map(\.connection) == [0, 1, 1, 1])
    }

    @Test("A second response in the same TLS record as the first is never used", arguments: [40_000, 200_000])
    func secondResponseInRecord(_ count: Int) async throws {
        let body = patternBytes(count)
        let poison = http1Response(Data("poison".utf8))
        let answer = http1Response(body)
        let server = try HTTP2Server(certificates) { _ in [.bytes(answer + poison)] }
        let downloader = makeDownloader(for: server, http2: false)
        for index in 0..<4 { #expect(try await downloader.load(server.url("/\(index)")).body == body) }
        #expect(server.connections == 4)
    }

    @Test("TLS connections without stray bytes are reused")
    func kept() async throws {
        let answer = http1Response(body)
        let server = try HTTP2Server(certificates) { _ in [.bytes(answer)] }
        let downloader = makeDownloader(for: server, http2: false)
        for index in 0..<4 { #expect(try await downloader.load(server.url("/\(index)")).body == body) }
        #expect(server.connections == 1)
    }

    // MARK: Attempts

    @Test(
        "A server that ends new connections without a byte receives one request per attempt",
        arguments: [LoopbackServer.Response.Ending.close, .reset], [1, 3])
    func attempts(_ ending: LoopbackServer.Response.Ending, _ attempts: Int) async throws {
        let downloader = makeDownloader { $0.retry = RetryPolicy(maxAttempts: attempts, baseDelay: .zero) }
        let outcome = try await outcome(.raw(Data(), ending: ending), downloader)
        #expect(outcome.requests == attempts && outcome.network?.attempt == attempts)
        #expect(outcome.reason == .connectionLost)
    }

    @Test("The transparent repetition after an idle connection counts as an attempt", arguments: [1, 2, 3])
    func keptConnectionCounts(_ attempts: Int) async throws {
        let body = body
        let downloader = makeDownloader { $0.retry = RetryPolicy(maxAttempts: attempts, baseDelay: .zero) }
        let server = try LoopbackServer { $0.index == 0 ? .ok(body) : .raw(Data(), ending: .close) }
        _ = try await downloader.load(server.url("/a"))
        let error = try #require(await downloader.failure(server.url("/a"))?.network)
        // One repetition is always transparent, because an idle connection can end at any time.
        #expect(error.attempt == max(attempts, 2) && server.counters.requests == 1 + max(attempts, 2))
    }

    @Test("A response after a transparent repetition reports two attempts")
    func silentRepetitionIsReported() async throws {
        let body = body
        let server = try LoopbackServer { $0.index == 1 ? .raw(Data(), ending: .close) : .ok(body) }
        let downloader = makeDownloader()
        #expect(try await downloader.load(server.url("/a")).metrics.attemptCount == 1)
        #expect(try await downloader.load(server.url("/a")).metrics.attemptCount == 2)
    }

    @Test("A stream that is always refused is sent once per attempt, but at least twice", arguments: [1, 3])
    func refusedStream(_ attempts: Int) async throws {
        let server = try HTTP2Server(certificates) { _ in [.reset(7)] }
        let downloader = makeDownloader(for: server) { $0.retry = RetryPolicy(maxAttempts: attempts, baseDelay: .zero) }
        let error = try #require(await downloader.failure(server.url("/a"))?.network)
        #expect(error.reason == .connectionLost && error.attempt == max(attempts, 2))
        #expect(server.requests.count == max(attempts, 2))
    }

    // MARK: HTTP/2 connections that end

    /// The ways in which a server ends a connection with three streams, of which the first is stream 3.
    static let endings: [[HTTP2Action]] = [
        [.close], [.abort], [.goAway(last: 1), .close], [.goAway(last: 1)], [.goAway(last: 3), .close],
        [.goAway(last: 7, code: 2), .close], [.goAway(last: 0, code: 2), .abort], [.sayGoodbye],
        [.goAway(last: 7), .sayGoodbye],
    ]

    @Test("Streams without data are sent over a new connection when theirs ends", arguments: endings.indices)
    func endBeforeHeads(_ index: Int) async throws {
        let body = body
        let server = try HTTP2Server(certificates) { request in
            switch request.index {
            case 1, 2: []
            case 3: Self.endings[index]
            default: HTTP2Action.whole(body)
            }
        }
        let downloader = makeDownloader(for: server) { $0.timeouts = LoadTimeouts(connect: 5, idle: 8, total: 20) }
        let url = server.url("/a")
        _ = try await downloader.load(url)
        let results = await withTaskGroup(of: ImageError.NetworkFailure.Reason?.self) { group in
            for _ in 0..<3 { group.addTask { await downloader.failure(url)?.network?.reason } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // A GOAWAY that covers a stream and leaves the connection open promises a response.
        #expect(results == [nil, nil, nil], "\(Self.endings[index])")
        #expect(server.requests.count == 7)
    }

    @Test("Streams with data end immediately when their connection ends", arguments: [0, 1, 5, 7, 8])
    func endInBodies(_ index: Int) async throws {
        let part = body.prefix(10_000)
        let server = try HTTP2Server(certificates) { request in
            switch request.index {
            case 0: HTTP2Action.whole(part)
            case 3: [.head(), .data(part, ends: false)] + Self.endings[index]
            default: [.head(), .data(part, ends: false)]
            }
        }
        let downloader = makeDownloader(for: server) { $0.timeouts = LoadTimeouts(connect: 5, idle: 8, total: 20) }
        let url = server.url("/a")
        _ = try await downloader.load(url)
        let results = await withTaskGroup(of: ImageError.NetworkFailure.Reason?.self) { group in
            for _ in 0..<3 {
                let log = ReportLog()
                group.addTask {
                    do throws(ImageError) {
                        _ = try await downloader.load(LoadRequest(url: url), context: log.context())
                        return nil
                    } catch {
                        return error.network?.reason
                    }
                }
                await log.waitForBody()
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == [.connectionLost, .connectionLost, .connectionLost], "\(Self.endings[index])")
        #expect(server.requests.count == 4)
    }

    // MARK: Cancellation

    @Test("A canceled HTTP/2 load resets its stream immediately, with or without other streams", arguments: [0, 1, 2])
    func resetAtOnce(_ phase: Int) async throws {
        let body = body
        let server = try HTTP2Server(certificates) { request in
            switch (request.index, phase) {
            case (0, _): HTTP2Action.whole(body)
            case (_, 0): []
            case (_, 1): [.head(), .data(body, ends: false)]
            default: request.index == 1 ? [] : [.head(), .data(body, ends: false)]
            }
        }
        let downloader = makeDownloader(for: server)
        let url = server.url("/a")
        _ = try await downloader.load(url)
        let other = phase == 2 ? Task { try await downloader.load(url) } : nil
        if other != nil { await untilTrue { server.requests.count == 2 } }
        let log = ReportLog()
        let task = Task { try await downloader.load(LoadRequest(url: url), context: log.context()) }
        if phase == 0 { await untilTrue { server.requests.count == 2 } } else { await log.waitForBody() }
        task.cancel()
        _ = await task.result
        let stream: UInt32 = phase == 2 ? 5 : 3
        await untilTrue { server.resets.contains(stream) }
        #expect(server.resets.contains(stream))
        #expect(server.connections == 1)
        other?.cancel()
        _ = await other?.result
    }

    // MARK: TLS

    @Test(
        "A missing client certificate causes an authentication error without a retry",
        arguments: [HTTP2Server.Entrance.certificate, .certificateByTLS12], [true, false])
    func missingCertificate(_ entrance: HTTP2Server.Entrance, http2: Bool) async throws {
        let server = try HTTP2Server(certificates, entrance: entrance) { _ in [] }
        let downloader = makeDownloader(for: server, http2: http2) {
            $0.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        }
        for _ in 0..<10 {
            let before = server.connections
            let error = try #require(await downloader.failure(server.url("/a"))?.network)
            #expect(error.reason == .clientCertificateRequired && error.attempt == 1, "\(error)")
            #expect(server.connections == before + 1)
        }
    }

    @Test(
        "A rejected client certificate causes an authentication error without a retry",
        arguments: [HTTP2Server.Entrance.certificate, .certificateByTLS12], [true, false])
    func refusedCertificate(_ entrance: HTTP2Server.Entrance, http2: Bool) async throws {
        let server = try HTTP2Server(certificates, entrance: entrance) { _ in [] }
        let unknown = TLSOptions.ClientCertificate.files(
            certificate: certificates.certificate(.selfSigned), privateKey: certificates.key)
        let downloader = makeDownloader(for: server, http2: http2) {
            $0.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
            $0.tls = $0.tls.identifying(as: unknown, at: "localhost")
        }
        for _ in 0..<10 {
            let before = server.connections
            let error = try #require(await downloader.failure(server.url("/a"))?.network)
            #expect(error.reason == .clientCertificateRejected && error.attempt == 1, "\(error)")
            #expect(server.connections == before + 1)
        }
    }

    @Test(
        "A TLS connection that closes before its response is interrupted, and the load is retried",
        arguments: [true, false])
    func goodbye(http2: Bool) async throws {
        let server = try HTTP2Server(certificates) { _ in [.sayGoodbye] }
        let downloader = makeDownloader(for: server, http2: http2) {
            $0.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        }
        let error = try #require(await downloader.failure(server.url("/a"))?.network)
        #expect(error.reason == .connectionLost && error.code == 2005 && error.attempt == 3, "\(error)")
        #expect(server.requests.count == 3)
    }

    @Test("The total timeout wins over the idle timeout while a TLS record arrives slowly")
    func trickle() async throws {
        let slowdown = TestGate()
        let answer = http1Response(body)
        let server = try HTTP2Server(certificates) { _ in [.open(slowdown), .bytes(answer)] }
        let relay = try SlowRelay(to: server.port, slowdown: slowdown)
        let url = try #require(URL(string: "https://localhost:\(relay.port)/a"))
        let error = await makeDownloader(for: server, http2: false).failure(url) {
            $0.timeouts = LoadTimeouts(connect: 5, idle: 0.5, total: 1.5)
        }
        #expect(error?.network?.reason == .timedOut && error?.network?.phase == .total, "\(error as Any)")
    }

    @Test("The total timeout wins over the idle timeout of a silent TLS server", arguments: [true, false])
    func silence(http2: Bool) async throws {
        let server = try HTTP2Server(certificates) { _ in [] }
        let downloader = makeDownloader(for: server, http2: http2)
        for idle in [0.4, 0.41, 5] {
            let error = await downloader.failure(server.url("/a")) {
                $0.timeouts = LoadTimeouts(connect: 5, idle: idle, total: 0.4)
            }
            #expect(error?.network?.reason == .timedOut && error?.network?.phase == .total, "\(error as Any)")
        }
    }

    // MARK: Descriptors

    /// Returns whether a descriptor of this process is marked close-on-exec, or `nil` if it isn't open.
    private func isClosedOnExec(_ descriptor: Int32) -> Bool? {
        let flags = fcntl(descriptor, F_GETFD)
        return flags < 0 ? nil : flags & FD_CLOEXEC != 0
    }

    @Test("The sockets that wake libcurl are marked close-on-exec")
    func wakingSockets() throws {
        #expect(TransportLibrary.failure == nil)
        let multi = try #require(wi_curl_multi_init())
        defer { wi_curl_multi_cleanup(multi) }
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let open = names.compactMap { Int32($0) }.filter { isClosedOnExec($0) == false }
        wi_curl_multi_close_on_exec(multi)
        // Transports of other tests may start at the same time.
        #expect(open.count { isClosedOnExec($0) == true } >= 2)
    }

    @Test("Connections are marked close-on-exec, and none remains open after close()", arguments: [true, false])
    func descriptors(http2: Bool) async throws {
        let (body, answer) = (body, http1Response(body))
        let server = try HTTP2Server(certificates) { request in
            switch (request.index, http2) {
            case (0, true): HTTP2Action.whole(body)
            case (0, false): [.bytes(answer)]
            default: []
            }
        }
        let plain = try LoopbackServer(routes: ["/a": .ok(body), "/silent": .silent])
        let downloader = makeDownloader(for: server, http2: http2)
        _ = try await downloader.load(server.url("/a"))
        _ = try await downloader.load(plain.url("/a"))
        let silent = [server.url("/b"), plain.url("/silent")].map { url in Task { try await downloader.load(url) } }
        await plain.waitForRequests(count: 2)
        await untilTrue { server.requests.count == 2 }
        let sockets = [server.port, plain.port].flatMap { OpenDescriptors.connections(toPort: $0) }
        #expect(sockets.count == 2)
        #expect(sockets.allSatisfy { isClosedOnExec($0) == true })
        downloader.shutdown()
        for task in silent { _ = await task.result }
        await untilTrue { server.openConnections == 0 && plain.counters.openConnections == 0 }
        #expect(OpenDescriptors.connections(toPort: server.port).isEmpty)
        #expect(OpenDescriptors.connections(toPort: plain.port).isEmpty)
    }
}
