// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Rows 29–32: HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2TableTests {
    let body = patternBytes(40_000)
    let directory: TemporaryDirectory
    let certificates: TestCertificates

    init() throws {
        directory = try TemporaryDirectory()
        certificates = try TestCertificates(in: URL(filePath: directory.path))
    }

    private func makeServer(
        settings: [(UInt16, UInt32)] = [], _ handler: @escaping HTTP2Server.Handler
    ) throws -> (HTTP2Server, ImageDownloader) {
        let server = try HTTP2Server(certificates, settings: settings, handler: handler)
        return (server, makeDownloader { $0.tls = .authorities(server.authority) })
    }

    @Test("Row 29: Many loads are streams of one connection")
    func oneConnection() async throws {
        let body = body
        let (server, downloader) = try makeServer { _ in HTTP2Action.whole(body) }
        let url = server.url("/a")
        #expect(try await downloader.load(url).metrics.protocolName == "h2")
        #expect(try await loadMany(40, downloader, url) == 40)
        #expect(server.connections == 1 && server.requests.count == 41)
    }

    private func loadMany(_ count: Int, _ downloader: ImageDownloader, _ url: URL) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<count { group.addTask { try await downloader.load(url).body == body } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    @Test("Row 29: When the server's stream limit is reached, the next load opens another connection")
    func streamLimit() async throws {
        let body = body
        let (server, downloader) = try makeServer(settings: [(3, 2)]) { request in
            (1...2).contains(request.index) ? [] : HTTP2Action.whole(body)
        }
        let url = server.url("/a")
        _ = try await downloader.load(url)
        let held = (0..<2).map { _ in Task { try await downloader.load(url) } }
        await untilTrue { server.requests.count == 3 }
        #expect(try await downloader.load(url).body == body)
        #expect(server.requests.map(\.connection) == [0, 0, 0, 1])
        for task in held {
            task.cancel()
            _ = await task.result
        }
        #expect(server.connections == 2)
    }

    @Test("Row 29: A load that waits for a stream of a busy connection doesn't time out")
    func waitingForStream() async throws {
        let body = body
        let gate = TestGate()
        let server = try HTTP2Server(certificates, settings: [(3, 1)]) { request in
            request.index == 1 ? [.head(), .wait(gate), .data(body)] : HTTP2Action.whole(body)
        }
        let downloader = makeDownloader {
            $0.tls = .authorities(server.authority)
            $0.maxConnectionsPerHost = 1
        }
        let url = server.url("/a")
        _ = try await downloader.load(url)
        let first = Task { try await downloader.load(url).body }
        await untilTrue { server.requests.count == 2 }
        let second = Task {
            try await downloader.load(url) { $0.timeouts = LoadTimeouts(connect: 0.2, idle: 20, total: 30) }.body
        }
        // Wait longer than the connect timeout of the second load.
        let silent = try LoopbackServer { _ in .silent }
        _ = await makeDownloader().failure(silent.url("/")) {
            $0.timeouts = LoadTimeouts(connect: 5, idle: 0.8, total: 30)
        }
        gate.open()
        #expect(try await first.value == body)
        #expect(try await second.value == body)
        #expect(server.connections == 1)
    }

    @Test("Row 30: A stream covered by GOAWAY finishes, and the next load opens a new connection")
    func goAwayBehind() async throws {
        let body = body
        let (server, downloader) = try makeServer { request in
            [.goAway(last: request.stream)] + HTTP2Action.whole(body) + [.close]
        }
        for _ in 0..<3 { #expect(try await downloader.load(server.url("/a")).body == body) }
        #expect(server.connections == 3 && server.requests.count == 3)
    }

    @Test(
        "Row 30: A stream not covered by GOAWAY is sent again over a new connection",
        arguments: [true, false])
    func goAwayBefore(closes: Bool) async throws {
        let body = body
        let (server, downloader) = try makeServer { request in
            guard request.index == 1 else { return HTTP2Action.whole(body) }
            return [.goAway(last: request.stream - 2)] + (closes ? [.close] : [])
        }
        for _ in 0..<2 { #expect(try await downloader.load(server.url("/a")).body == body) }
        #expect(server.connections == 2 && server.requests.count == 3)
    }

    /// Returns the error of a load whose server performs `actions` after the client has received a part of the body.
    private func failure(_ actions: @escaping @Sendable (UInt32) -> [HTTP2Action]) async throws -> ImageError
        .NetworkFailure?
    {
        let body = body
        let gate = TestGate()
        let (server, downloader) = try makeServer { request in
            [.head(), .data(body.prefix(20_000), ends: false), .wait(gate)] + actions(request.stream)
        }
        let context = LoadContext { if case .body = $0 { gate.open() } }
        defer { #expect(server.requests.count == 1) }
        do throws(ImageError) {
            _ = try await downloader.load(LoadRequest(url: server.url("/a")), context: context)
            return nil
        } catch {
            return error.network
        }
    }

    @Test("Row 30: A GOAWAY or the end of a connection during a body throws", arguments: [true, false])
    func goAwayInside(tells: Bool) async throws {
        let error = try await failure { (tells ? [.goAway(last: $0, code: 2)] : []) + [.close] }
        #expect(
            error?.reason == .connectionLost && error?.phase == .receivingBody && error?.statusCode == 200,
            "\(error as Any)")
    }

    @Test(
        "Row 31: A reset stream without data is repeated once and then throws",
        arguments: [0, 2, 5, 7, 8, 11, 99] as [UInt32])
    func resetEmpty(_ code: UInt32) async throws {
        let body = body
        let (once, first) = try makeServer { $0.index == 1 ? [.reset(code)] : HTTP2Action.whole(body) }
        for _ in 0..<2 { #expect(try await first.load(once.url("/a")).body == body) }
        #expect(once.requests.count == 3)
        let (always, second) = try makeServer { $0.index == 0 ? HTTP2Action.whole(body) : [.reset(code)] }
        _ = try await second.load(always.url("/a"))
        let error = try #require(await second.failure(always.url("/a"))?.network)
        #expect(error.reason == .connectionLost && error.phase == .waitingForResponse && error.attempt == 2, "\(error)")
        #expect(always.requests.count == 3)
    }

    @Test("Row 31: A reset stream with data throws and returns no response", arguments: [1, 2, 7, 8] as [UInt32])
    func resetInside(_ code: UInt32) async throws {
        let error = try #require(try await failure { _ in [.reset(code)] })
        // After a protocol error, the server would do the same again.
        #expect(error.reason == (code == 1 ? .badServerResponse : .connectionLost), "\(error)")
        #expect(error.phase == .receivingBody && error.statusCode == 200)
    }

    @Test("Row 31: A reset with NO_ERROR after a complete response is ignored")
    func resetBehind() async throws {
        let body = body
        let (server, downloader) = try makeServer { _ in HTTP2Action.whole(body) + [.reset(0)] }
        for _ in 0..<3 { #expect(try await downloader.load(server.url("/a")).body == body) }
        #expect(server.connections == 1)
    }

    @Test("Row 31: HTTP_1_1_REQUIRED leads to HTTP/1.1")
    func oldVersionRequired() async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
        let (server, downloader) = try makeServer { request in
            request.stream == 0 ? [.bytes(Data(text.utf8))] : [.reset(13)]
        }
        let response = try await downloader.load(server.url("/a"))
        #expect(response.body == Data("abc".utf8) && response.metrics.protocolName == "http/1.1")
        #expect(server.requests.map { $0.stream == 0 } == [false, true])
    }

    @Test("Row 31: One reset stream of three is retried transparently, and the others finish")
    func oneOfMany() async throws {
        let body = body
        let (server, downloader) = try makeServer { request in
            switch request.index {
            case 1, 2: []
            // The second stream is reset when all three streams exist.
            case 3:
                HTTP2Action.whole(body, stream: request.stream - 4) + [.reset(2, stream: request.stream - 2)]
                    + HTTP2Action.whole(body)
            default: HTTP2Action.whole(body)
            }
        }
        let url = server.url("/a")
        _ = try await downloader.load(url)
        #expect(try await loadMany(3, downloader, url) == 3)
        #expect(server.requests.map(\.connection) == [0, 0, 0, 0, 1])
    }

    /// Responses that violate the rules of the whole connection.
    static let nonsense: [(String, [HTTP2Action])] = [
        ("data on stream 0", [.frame(type: 0, stream: 0, payload: Data("abc".utf8))]),
        ("a frame beyond every size", [.bytes(Data([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]) + Data(count: 4_096))]),
        (
            "fields that cannot be unpacked",
            [.frame(type: 1, flags: 4, stream: 1, payload: Data([0xff, 0xff, 0xff, 0xff, 0xff]))]
        ),
        ("settings of a wrong size", [.frame(type: 4, payload: Data(count: 5))]),
        ("a disallowed push", [.frame(type: 5, flags: 4, stream: 1, payload: Data([0, 0, 0, 2, 0x88]))]),
        ("a window opened too far", [.frame(type: 8, payload: Data([0x7f, 0xff, 0xff, 0xff]))]),
        ("a window opened by nothing", [.frame(type: 8, payload: Data(count: 4))]),
        (
            "a head without an end, and then data",
            [.frame(type: 1, flags: 0, stream: 1, payload: Data([0x88])), .data(Data("abc".utf8))]
        ),
        ("words", [.bytes(Data("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))]),
    ]

    @Test(
        "Row 32: Frames that violate the connection's rules throw a bad server response without a retry",
        arguments: nonsense.indices)
    func brokenConnection(_ index: Int) async throws {
        let (name, actions) = Self.nonsense[index]
        let (server, downloader) = try makeServer { _ in actions }
        let error = try #require(await downloader.failure(server.url("/a"))?.network, "\(name)")
        #expect(error.reason == .badServerResponse && error.code == 2006, "\(name): \(error)")
        #expect(server.requests.count == 1, "\(name)")
    }

    /// Responses that violate the rules of one stream.
    static let badStreams: [(String, [HTTP2Action])] = [
        ("an uppercase name", [.head(headers: [("X-A", "1")]), .data(Data("abc".utf8))]),
        ("no status", []),
        ("less data than content-length", [.head(headers: [("content-length", "9")]), .data(Data("abc".utf8))]),
        ("more data than content-length", [.head(headers: [("content-length", "2")]), .data(Data("abc".utf8))]),
        ("a connection field", [.head(headers: [("connection", "close")]), .data(Data("abc".utf8))]),
        ("an invalid status", [.head(status: 9), .data(Data("abc".utf8))]),
    ]

    @Test(
        "Row 32: Violating a stream's rules throws, and other streams continue", arguments: badStreams.indices
    )
    func brokenStream(_ index: Int) async throws {
        let body = body
        let (name, actions) = Self.badStreams[index]
        let (server, downloader) = try makeServer { request in
            guard request.index == 1 else { return HTTP2Action.whole(body) }
            guard name == "no status" else { return actions }
            return [.frame(type: 1, flags: 4, stream: request.stream, payload: Data([0x00, 0x01, 0x61, 0x01, 0x62]))]
        }
        let url = server.url("/a")
        _ = try await downloader.load(url)
        let error = try #require(await downloader.failure(url)?.network, "\(name)")
        #expect(error.reason == .badServerResponse, "\(name): \(error)")
        #expect(try await downloader.load(url).body == body)
        #expect(server.requests.count == 3 && server.connections == 1, "\(name)")
    }

    @Test("Row 32: Unknown frames, settings, and flags are ignored")
    func unknownFrames() async throws {
        let body = body
        let (server, downloader) = try makeServer(settings: [(0x99, 1)]) { _ in
            [.frame(type: 0x42, flags: 0xff, payload: Data("abc".utf8)), .frame(type: 6, payload: Data(count: 8))]
                + HTTP2Action.whole(body)
        }
        for _ in 0..<2 { #expect(try await downloader.load(server.url("/a")).body == body) }
        #expect(server.connections == 1)
    }
}
