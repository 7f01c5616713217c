// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Silent repetitions", .timeLimit(.minutes(5)))
struct RepetitionTests {
    let body = patternBytes(2_000)
    let directory: TemporaryDirectory
    let certificates: TestCertificates

    init() throws {
        directory = try TemporaryDirectory()
        certificates = try TestCertificates(in: URL(filePath: directory.path))
    }

    /// Loads `url` several times at the same time and returns the errors. Bodies must be ``body``.
    private func load(_ count: Int, _ downloader: ImageDownloader, _ url: URL, method: String = "GET") async
        -> [ImageError.NetworkFailure?]
    {
        await withTaskGroup(of: ImageError.NetworkFailure?.self) { group in
            for _ in 0..<count { group.addTask { await failure(downloader, url, method: method) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Returns the error of a load, or `nil` if it returns ``body``.
    private func failure(_ downloader: ImageDownloader, _ url: URL, method: String = "GET") async
        -> ImageError.NetworkFailure?
    {
        do throws(ImageError) {
            let response = try await downloader.load(url) {
                $0.method = method
                if method == "POST" { $0.body = Data("a=b".utf8) }
            }
            #expect(response.body == body)
            return nil
        } catch {
            return error.network
        }
    }

    // MARK: HTTP/1.1

    /// The transport of a server with kept connections.
    enum Transport: CaseIterable {
        case plain
        case tls
    }

    /// A server whose first `count` connections end with their second request.
    private struct KeptConnections {
        let url: URL
        let downloader: ImageDownloader
        let requests: @Sendable () -> [Int]
        /// The server, which runs until it's deallocated.
        let server: any Sendable
    }

    /// Returns a server and a downloader with `count` idle connections that end with their next request.
    private func keep(_ count: Int, _ transport: Transport, _ policy: RetryPolicy = .never) async throws
        -> KeptConnections
    {
        let (body, text, gate, seen) = (body, http1Response(body), TestGate(), Shared<Set<Int>>([]))
        /// Returns whether the request is the first one of its connection.
        let isFirst: @Sendable (Int) -> Bool = { connection in
            connection >= count || seen.update { $0.insert(connection).inserted }
        }
        let kept: KeptConnections
        switch transport {
        case .plain:
            let server = try LoopbackServer { request in
                isFirst(request.connection) ? .ok(body).with { $0.headGate = gate } : .raw(Data(), ending: .close)
            }
            kept = KeptConnections(
                url: server.url("/a"),
                downloader: makeDownloader {
                    $0.maxConnectionsPerHost = count
                    $0.retry = policy
                }, requests: { server.requests.map(\.connection) }, server: server)
        case .tls:
            let server = try HTTP2Server(certificates) { request in
                isFirst(request.connection) ? [.wait(gate), .bytes(text)] : [.abort]
            }
            kept = KeptConnections(
                url: server.url("/a"),
                downloader: makeDownloader(for: server, http2: false) {
                    $0.maxConnectionsPerHost = count
                    $0.retry = policy
                }, requests: { server.requests.map(\.connection) }, server: server)
        }
        async let errors = load(count, kept.downloader, kept.url)
        await untilTrue { kept.requests().count == count }
        gate.open()
        #expect(await errors.allSatisfy { $0 == nil })
        #expect(Set(kept.requests()) == Set(0..<count))
        return kept
    }

    @Test(
        "A request over an idle connection that ends is repeated over a new connection, not over another idle one",
        arguments: Transport.allCases, ["GET", "PUT"])
    func newConnection(_ transport: Transport, method: String) async throws {
        // A retry would cost a delay.
        for policy in [RetryPolicy.never, .standard] {
            let kept = try await keep(3, transport, policy)
            #expect(await failure(kept.downloader, kept.url, method: method) == nil)
            let requests = kept.requests().dropFirst(3)
            #expect(requests.count == 2 && requests.first ?? 3 < 3 && requests.last == 3, "\(requests)")
        }
    }

    @Test("Twelve idle connections that end with twelve concurrent requests cause no error and no retry")
    func burst() async throws {
        for transport in Transport.allCases {
            for policy in [RetryPolicy.never, .standard, .never, .standard] {
                let kept = try await keep(12, transport, policy)
                let errors = await load(12, kept.downloader, kept.url)
                #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
                // Each request is sent at most twice, and a connection that was opened for another one can serve it.
                #expect(kept.requests().count <= 36)
            }
        }
    }

    @Test(
        "A request that isn't idempotent isn't repeated over another connection, unless it has a retry policy",
        arguments: Transport.allCases)
    func post(_ transport: Transport) async throws {
        let kept = try await keep(3, transport)
        let error = try #require(await failure(kept.downloader, kept.url, method: "POST"))
        #expect(error.reason == .connectionLost && error.code == 2005 && error.attempt == 1, "\(error)")
        #expect(kept.requests().count == 4)
        let response = try await kept.downloader.load(kept.url) {
            $0.method = "POST"
            $0.network.retry = RetryPolicy(maxAttempts: 2, baseDelay: .zero)
        }
        #expect(response.body == body)
    }

    // MARK: HTTP/2

    @Test("An HTTP/2 request isn't repeated over another idle connection")
    func otherIdleConnection() async throws {
        let (body, gate) = (body, TestGate())
        let server = try HTTP2Server(certificates, settings: [(3, 1)]) { request in
            switch request.index {
            case 0: HTTP2Action.whole(body)
            case 1, 2: [.wait(gate)] + HTTP2Action.whole(body)
            default: request.connection < 2 ? [.close] : HTTP2Action.whole(body)
            }
        }
        let downloader = makeDownloader(for: server)
        // The client knows the limit of streams after the first response.
        #expect(await failure(downloader, server.url("/a")) == nil)
        async let errors = load(2, downloader, server.url("/a"))
        await untilTrue { server.requests.count == 3 }
        gate.open()
        #expect(await errors == [nil, nil])
        #expect(Set(server.requests.map(\.connection)) == [0, 1])
        #expect(await failure(downloader, server.url("/a")) == nil)
        #expect(server.requests.map(\.connection).last == 2 && server.requests.count == 5)
    }

    @Test(
        "A request that GOAWAY declares unprocessed is repeated, also on a new connection and if it isn't idempotent",
        arguments: ["GET", "POST"], [false, true])
    func unprocessed(method: String, isNew: Bool) async throws {
        let endings: [[HTTP2Action]] = [
            [.goAway(last: 0)], [.goAway(last: 0), .close], [.goAway(last: 0, code: 2), .abort],
        ]
        for ending in endings {
            let body = body
            let server = try HTTP2Server(certificates) { request in
                guard request.connection == 0, isNew || request.index > 0 else { return HTTP2Action.whole(body) }
                // A server can reduce the number of the last stream, but not below a stream that it has processed.
                return isNew ? ending : [.goAway(last: 1)] + ending.dropFirst()
            }
            let downloader = makeDownloader(for: server)
            if !isNew { #expect(await failure(downloader, server.url("/a")) == nil) }
            let error = await failure(downloader, server.url("/a"), method: method)
            #expect(error == nil, "\(ending)")
            #expect(server.requests.map(\.connection) == (isNew ? [0, 1] : [0, 0, 1]), "\(ending)")
        }
    }

    @Test(
        "Several requests above the last stream of a new connection are repeated, and the others finish",
        arguments: ["GET", "POST"], [false, true])
    func severalUnprocessed(method: String, closes: Bool) async throws {
        let body = body
        let server = try HTTP2Server(certificates) { request in
            switch (request.connection, request.stream) {
            case (0, 1), (0, 3), (0, 5): []
            case (0, _):
                [.goAway(last: 3)] + HTTP2Action.whole(body, stream: 1) + HTTP2Action.whole(body, stream: 3)
                    + (closes ? [.close] : [])
            default: HTTP2Action.whole(body)
            }
        }
        let errors = await load(4, makeDownloader(for: server), server.url("/a"), method: method)
        #expect(errors == [nil, nil, nil, nil])
        #expect(server.requests.count == 6 && server.requests.count { $0.connection == 0 } == 4)
    }

    @Test("A request that isn't idempotent and that GOAWAY covers isn't repeated if the connection ends")
    func covered() async throws {
        let body = body
        let server = try HTTP2Server(certificates) { request in
            request.index == 0 ? HTTP2Action.whole(body) : [.goAway(last: request.stream), .close]
        }
        let downloader = makeDownloader(for: server)
        #expect(await failure(downloader, server.url("/a")) == nil)
        let error = try #require(await failure(downloader, server.url("/a"), method: "POST"))
        #expect(error.reason == .connectionLost && error.attempt == 1, "\(error)")
        #expect(server.requests.count == 2)
    }

    @Test("Requests that are never processed are sent twice", arguments: ["GET", "POST"])
    func neverProcessed(method: String) async throws {
        let server = try HTTP2Server(certificates) { _ in [.goAway(last: 0)] }
        let error = try #require(await failure(makeDownloader(for: server), server.url("/a"), method: method))
        #expect(error.reason == .connectionLost && error.code == 2005 && error.attempt == 2, "\(error)")
        #expect(server.requests.map(\.connection) == [0, 1])
    }

    @Test("A refused stream of a new connection is repeated", arguments: ["GET", "POST"])
    func refused(method: String) async throws {
        let body = body
        let server = try HTTP2Server(certificates) { request in
            request.index == 0 ? [.reset(7)] : HTTP2Action.whole(body)
        }
        #expect(await failure(makeDownloader(for: server), server.url("/a"), method: method) == nil)
        #expect(server.requests.map(\.connection) == [0, 1])
    }

    @Test("A request that isn't idempotent and requires HTTP/1.1 is repeated", arguments: [1, 4])
    func downgraded(count: Int) async throws {
        let text = http1Response(body)
        let server = try HTTP2Server(certificates) { $0.stream == 0 ? [.bytes(text)] : [.reset(13)] }
        let downloader = makeDownloader(for: server)
        for _ in 0..<2 {
            let errors = await load(count, downloader, server.url("/a"), method: "POST")
            #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
        }
    }

    /// Frames that violate the rules of the connection.
    static let poison: [[HTTP2Action]] = [
        [.frame(type: 1, flags: 4, stream: 3, payload: Data([0xff, 0xff, 0xff, 0xff, 0xff]))],
        [.frame(type: 4, payload: Data(count: 5))],
        [.bytes(Data([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]) + Data(count: 4_096))],
    ]

    @Test(
        "A stream that makes its connection unusable isn't repeated next to the other streams, which succeed",
        arguments: poison.indices, [false, true])
    func poisoned(_ index: Int, isKept: Bool) async throws {
        let body = body
        let marks = Shared<[Int: Int]>([:])
        // The marked request is the first one of each connection with several streams.
        let server = try HTTP2Server(certificates) { request in
            if isKept, request.index == 0 { return HTTP2Action.whole(body) }
            let count = marks.update { marks in
                marks[request.connection, default: 0] += 1
                return marks[request.connection] ?? 0
            }
            if request.connection > 0 { return count == 1 ? HTTP2Action.whole(body) : Self.poison[index] }
            return count == 3 ? Self.poison[index] : []
        }
        let downloader = makeDownloader(for: server)
        if isKept { #expect(await failure(downloader, server.url("/a")) == nil) }
        let errors = await load(3, downloader, server.url("/a"))
        #expect(errors == [nil, nil, nil], "\(errors)")
        #expect(server.connections == 4)
    }

    @Test("The messages of libcurl 7.88 and 8 about streams are recognized, and others aren't")
    func messages() {
        let table: [(String, wi_stream_event, UInt32)] = [
            ("Using Stream ID: 5 (easy handle 0x55d0c0ffee)\n", WI_STREAM_BEGAN, 5),
            ("[HTTP/2] [7] OPENED stream for https://localhost/a\n", WI_STREAM_BEGAN, 7),
            ("recveived GOAWAY, error=0, last_stream=3\n", WI_STREAM_GOAWAY, 3),
            ("received GOAWAY, error=2, last_stream=2147483647\n", WI_STREAM_GOAWAY, 2_147_483_647),
            ("REFUSED_STREAM, retrying a fresh connect\n", WI_STREAM_REFUSED, 0),
            ("Downgrades to HTTP/1.1\n", WI_STREAM_DOWNGRADED, 0),
            ("Connection died, retrying a fresh connect (retry count: 1)\n", WI_STREAM_ABANDONED, 0),
            ("[HTTP/2] [7] [:path: /GOAWAY, error=0, last_stream=1]\n", WI_STREAM_NO_EVENT, 0),
            ("Issue another request to this URL: 'https://localhost/'\n", WI_STREAM_NO_EVENT, 0),
            ("Connection #0 to host localhost left intact\n", WI_STREAM_NO_EVENT, 0), ("", WI_STREAM_NO_EVENT, 0),
            (String(repeating: "U", count: 4_000), WI_STREAM_NO_EVENT, 0),
        ]
        for (message, event, stream) in table {
            var number: UInt32 = 0
            #expect(wi_curl_stream_event(message, message.utf8.count, &number) == event, "\(message)")
            if [WI_STREAM_BEGAN, WI_STREAM_GOAWAY].contains(event) { #expect(number == stream, "\(message)") }
        }
    }

    // MARK: Client certificates

    @Test(
        "A server that requests a certificate and closes without an alert causes an authentication error without a retry",
        arguments: [[HTTP2Action.close], [.abort], nil], [true, false])
    func silentRefusal(_ actions: [HTTP2Action]?, http2: Bool) async throws {
        let server = try HTTP2Server(
            certificates, entrance: actions == nil ? .certificateWithoutAlert : .optionalCertificate
        ) { _ in actions ?? [] }
        let downloader = makeDownloader(for: server, http2: http2) {
            $0.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        }
        for _ in 0..<10 {
            let before = server.connections
            let error = try #require(await failure(downloader, server.url("/a")))
            #expect(error.reason == .clientCertificateRequired && error.code == 2015, "\(error)")
            #expect(error.attempt == 1 && server.connections == before + 1)
        }
    }

    @Test(
        "After a response, the end of a connection with an optional certificate is an interruption",
        arguments: [true, false])
    func optionalCertificate(http2: Bool) async throws {
        let (body, text) = (body, http1Response(body))
        let server = try HTTP2Server(certificates, entrance: .optionalCertificate) { request in
            request.index == 1 ? [.close] : request.stream == 0 ? [.bytes(text)] : HTTP2Action.whole(body)
        }
        let downloader = makeDownloader(for: server, http2: http2)
        for _ in 0..<3 { #expect(await failure(downloader, server.url("/a")) == nil) }
        #expect(server.requests.map(\.connection) == [0, 0, 1, 1])
    }
}
