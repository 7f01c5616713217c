// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A loader for one scheme that returns the responses of a stub loader.
private struct SchemeLoader: ImageLoader {
    let scheme: String
    let stub: StubLoader

    func canLoad(_ url: URL) -> Bool { url.scheme == scheme }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        try await stub.load(request, context: context)
    }
}

@Suite("Alternatives of any scheme", .timeLimit(.minutes(5)))
struct AlternativeLoaderTests {
    /// Returns a server whose `/a` exists while `exists` is `true`, with the image 1.
    private func server(_ exists: Shared<Bool> = Shared(false), gate: TestGate? = nil) throws -> LoopbackServer {
        let head = Numbered.head(1)
        return try LoopbackServer { _ in
            guard exists.value else { return LoopbackServer.Response.status(404).with { $0.headGate = gate } }
            return LoopbackServer.Response(headers: head.headers, body: Numbered.data(1))
        }
    }

    private func request(_ server: LoopbackServer, _ alternatives: [URL]) -> ImageRequest {
        var request = ImageRequest(url: server.url("/a"))
        request.network.alternativeURLs = alternatives
        return request
    }

    private func failure(_ fixture: ManagerFixture, _ request: ImageRequest) async -> ImageError? {
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// The kinds of local alternatives.
    enum Local: String, CaseIterable, Sendable {
        case none, file, otherFile, data, missingFile

        var number: Int? {
            switch self {
            case .none, .missingFile: nil
            case .file: 2
            case .otherFile: 3
            case .data: 4
            }
        }

        func urls(in directory: TemporaryDirectory) throws -> [URL] {
            let file = URL(filePath: directory.file("\(rawValue).png"))
            switch self {
            case .none: return []
            case .file, .otherFile:
                try number.map(Numbered.data)?.write(to: file)
                return [file]
            case .data:
                let text = Numbered.data(4).base64EncodedString()
                return [try #require(URL(string: "data:image/png;base64,\(text)"))]
            case .missingFile: return [file]
            }
        }
    }

    @Test("An image that a server returned instead of a missing file isn't cached for the file")
    func missingFile() async throws {
        let server = try server(Shared(true))
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: URL(filePath: fixture.directory.file("missing.png")))
        request.network.alternativeURLs = [server.url("/a")]
        for count in 1...2 {
            #expect(try await fixture.manager.image(for: request).size.width > 0)
            #expect(fixture.manager.cachedImage(for: request) == nil)
            #expect(server.counters.requests == count)
        }
    }

    @Test(
        "A local alternative serves a request whose URL fails, and the next request tries the URL again",
        arguments: [Local.file, .data])
    func local(_ local: Local) async throws {
        let exists = Shared(false)
        let server = try server(exists)
        let fixture = try ManagerFixture()
        let request = request(server, try local.urls(in: fixture.directory))
        let response = try await fixture.manager.response(for: request)
        #expect(Numbered.number(of: response.image) == local.number && response.source == .local)
        #expect(response.httpResponse == nil && response.metrics?.attemptCount == 2)
        // Data without freshness would hide the image of the URL forever.
        #expect(fixture.manager.cachedImage(for: request) == nil)
        await fixture.manager.rest()
        #expect(await fixture.manager.cachedTiers(for: request).isEmpty)
        exists.value = true
        let next = try await fixture.manager.response(for: request)
        #expect(Numbered.number(of: next.image) == 1 && next.source == .network)
        #expect(fixture.manager.cachedImage(for: request) != nil)
    }

    @Test("An image of an alternative that receives a cookie of the failed response isn't cached without the cookie")
    func cookieOfFailure() async throws {
        let head = Numbered.head(1)
        let server = try LoopbackServer { request in
            guard request.path == "/b" else {
                return .status(404).with { $0.headers["Set-Cookie"] = "session=1; Path=/" }
            }
            return LoopbackServer.Response(headers: head.headers, body: Numbered.data(1))
        }
        let jar = CookieJar()
        let fixture = try ManagerFixture { $0.downloader.cookieJar = jar }
        let request = request(server, [server.url("/b")])
        #expect(await fixture.manager.load(request).number == 1)
        #expect(server.requests.last?.headers["Cookie"] == "session=1")
        await fixture.manager.rest()
        jar.removeAll()
        #expect(fixture.manager.cachedImage(for: request) == nil)
        #expect(await fixture.manager.cachedTiers(for: request).isEmpty)
    }

    /// The reasons for which a stale image may or may not serve a request whose URL fails.
    enum Staleness: String, CaseIterable, Sendable {
        case staleIfError, mustRevalidate, refresh

        var cacheControl: String {
            switch self {
            case .staleIfError: "max-age=60, stale-if-error=600"
            case .mustRevalidate: "max-age=60, must-revalidate"
            case .refresh: "max-age=60"
            }
        }
    }

    @Test(
        "A stale image that may be used after a failure takes precedence over a local alternative, not over a server",
        arguments: Staleness.allCases, [true, false])
    func stale(_ staleness: Staleness, isInMemory: Bool) async throws {
        let isUp = Shared(true)
        let head = Numbered.head(1, cacheControl: staleness.cacheControl)
        let server = try LoopbackServer { request in
            guard isUp.value, request.path == "/a" else { return .status(503) }
            return LoopbackServer.Response(headers: head.headers, body: Numbered.data(1))
        }
        var fixture = try ManagerFixture { $0.downloader.retry = .never }
        var request = request(server, try Local.file.urls(in: fixture.directory))
        #expect(await fixture.manager.load(request).number == 1)
        if !isInMemory { fixture = try await fixture.restarted { $0.downloader.retry = .never } }
        fixture.pass(seconds: 61)
        isUp.value = false
        if staleness == .refresh { request.cachePolicy = .refresh }
        // A mirror before the file is tried.
        request.network.alternativeURLs.insert(server.url("/mirror"), at: 0)
        let isStale = staleness != .mustRevalidate
        let response = try await fixture.manager.response(for: request)
        #expect(Numbered.number(of: response.image) == (isStale ? 1 : 2) && response.isStale == isStale)
        if isStale {
            #expect(response.revalidationError?.attempts.map(\.url) == [server.url("/a"), server.url("/mirror")])
            #expect(try await fixture.manager.data(for: request) == Numbered.data(1))
        }
        #expect(server.requests.contains { $0.path == "/mirror" })
        // An alternative on a server takes precedence over the stale image.
        let other = try LoopbackServer { _ in
            LoopbackServer.Response(headers: Numbered.head(7).headers, body: Numbered.data(7))
        }
        request.network.alternativeURLs[0] = other.url("/a")
        #expect(await fixture.manager.load(request).number == 7)
    }

    @Test("The data and the encoding of a local alternative are delivered but not stored")
    func dataAndEncoding() async throws {
        let exists = Shared(false)
        let server = try server(exists)
        let fixture = try ManagerFixture()
        let request = request(server, try Local.file.urls(in: fixture.directory))
        #expect(try await fixture.manager.data(for: request) == Numbered.data(2))
        let encoded = try await fixture.manager.encodedImage(for: request, as: .png).data
        #expect(Numbered.number(of: try ImageCoderRegistry.standard.decode(encoded)) == 2)
        await fixture.manager.rest()
        exists.value = true
        #expect(try await fixture.manager.data(for: request) == Numbered.data(1))
        let later = try await fixture.manager.encodedImage(for: request, as: .png).data
        #expect(Numbered.number(of: try ImageCoderRegistry.standard.decode(later)) == 1)
    }

    @Test(
        "Each of two joined requests ends like its own local alternatives, and the URL is requested once",
        arguments: pairs(Local.allCases))
    func joined(first: Local, second: Local) async throws {
        let gate = TestGate()
        let server = try server(gate: gate)
        let fixture = try ManagerFixture()
        let tasks = try [first, second].map { local in
            fixture.manager.load(request(server, try local.urls(in: fixture.directory)))
        }
        await fixture.manager.waitForLoads(2)
        gate.open()
        #expect(await tasks[0].number == first.number)
        #expect(await tasks[1].number == second.number)
        #expect(server.requests.count { $0.path == "/a" } == 1)
        #expect(fixture.manager.cachedImage(for: server.url("/a")) == nil)
    }

    @Test("The loader that was added last loads an alternative with a custom scheme, and its response is cached")
    func customScheme() async throws {
        let server = try server()
        let (first, last) = (StubLoader(), StubLoader())
        let alternative = try url("album:1")
        for (number, loader) in [(5, first), (6, last)] {
            loader.respond(to: alternative, with: Numbered.response(number))
        }
        let fixture = try ManagerFixture {
            $0.loaders = [SchemeLoader(scheme: "album", stub: first), SchemeLoader(scheme: "album", stub: last)]
        }
        let request = request(server, [try url("unknown:1"), alternative])
        #expect(Numbered.number(of: try await fixture.manager.image(for: request)) == 6)
        #expect(first.requests.isEmpty && last.requests.map(\.url) == [alternative])
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
    }

    @Test("A custom loader of the request loads the alternatives that it supports, and other loaders load the rest")
    func ownLoader() async throws {
        let stub = StubLoader()
        let (source, mirror) = (try url("own:1"), try url("own:2"))
        stub.respond(to: mirror, with: Numbered.response(7))
        let fixture = try ManagerFixture()
        let missing = URL(filePath: fixture.directory.file("none.png"))
        var request = ImageRequest(url: source)
        request.loader = SchemeLoader(scheme: "own", stub: stub)
        request.network.alternativeURLs = [missing, mirror]
        let response = try await fixture.manager.response(for: request)
        #expect(Numbered.number(of: response.image) == 7)
        #expect(stub.requests.map(\.url) == [source, mirror] && response.metrics?.attemptCount == 3)
        #expect(response.metrics?.failures.map(\.reason) == [.cannotFindHost, .other])
    }

    @Test("A closure that supplies data isn't called for an alternative")
    func closure() async throws {
        struct Unavailable: Error {}
        let calls = Shared(0)
        let fixture = try ManagerFixture()
        var request = ImageRequest(cacheKey: "chart") { () async throws -> Data in
            calls.update { $0 += 1 }
            throw Unavailable()
        }
        request.network.alternativeURLs = try Local.file.urls(in: fixture.directory)
        #expect(Numbered.number(of: try await fixture.manager.image(for: request)) == 2)
        #expect(calls.value == 1)
    }

    @Test("Alternatives obey the allowed schemes, also if a loader supports them")
    func schemes() async throws {
        let server = try server()
        let stub = StubLoader { _ in Numbered.response(5) }
        let fixture = try ManagerFixture {
            $0.allowedSchemes = ["http"]
            $0.loaders = [SchemeLoader(scheme: "album", stub: stub)]
        }
        let alternatives = try Local.file.urls(in: fixture.directory) + Local.data.urls(in: fixture.directory)
        let error = await failure(fixture, request(server, alternatives + [try url("album:1")]))
        #expect(error?.attempts.map(\.statusCode) == [404])
        #expect(stub.requests.isEmpty)
    }

    @Test("If the last source is a missing file, the error is the network failure and contains all failures")
    func exhausted() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let missing = URL(filePath: fixture.directory.file("none.png"))
        let error = await failure(fixture, request(server, [missing, missing]))
        #expect(error?.httpStatusCode == 404)
        #expect(Set(error?.attempts.map(\.attempt) ?? []) == [1, 2, 3])
        #expect(error?.attempts.count { $0.url.isFileURL } == 2)
        // Without a network failure, the error of the first source is thrown.
        var local = ImageRequest(url: missing)
        local.network.alternativeURLs = [URL(filePath: fixture.directory.file("other.png"))]
        #expect(await failure(fixture, local) == .request(.fileNotFound(path: missing.path)))
    }

    @Test("Canceling a request during an alternative starts no further source")
    func cancellation() async throws {
        let server = try server()
        let gate = TestGate()
        let stub = StubLoader { _ in Numbered.response(5, responseGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [SchemeLoader(scheme: "album", stub: stub)] }
        let task = fixture.manager.load(request(server, [try url("album:1"), try url("album:2")]))
        await stub.waitForRequests(count: 1)
        task.cancel()
        gate.open()
        await fixture.manager.rest()
        #expect(await task.code == ImageError.cancelled.code && stub.requests.count == 1)
    }
}
