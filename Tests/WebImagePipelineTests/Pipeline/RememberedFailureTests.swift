// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Negative caching of requests with different options", .serialized, .timeLimit(.minutes(5)))
struct RememberedFailureTests {
    private static let unknown = Data([0, 1, 2, 3, 4, 5, 6, 7])

    private func fixture(_ loader: StubLoader) throws -> ManagerFixture {
        try ManagerFixture {
            $0.diskCache = nil
            $0.loaders = [loader]
        }
    }

    // MARK: - Network

    @Test(
        "A failure doesn't apply to a request with other network options",
        arguments: pairs(NetworkChoice.allCases).filter { $0.0 != $0.1 && $0.0 != .retry && $0.1 != .retry })
    func different(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices(failing: [first])
        let fixture = try fixture(choices.loader)
        #expect(await fixture.manager.code(of: choices.request(first)) == 2007)
        #expect(await fixture.manager.load(choices.request(second)).number == second.rawValue)
        #expect(choices.loads == 2)
    }

    @Test(
        "An equal request receives the remembered error",
        arguments: NetworkChoice.allCases.filter { $0 != .redirects })
    func equal(choice: NetworkChoice) async throws {
        let choices = NetworkChoices(failing: [choice])
        let fixture = try fixture(choices.loader)
        for _ in 0..<3 { #expect(await fixture.manager.code(of: choices.request(choice)) != nil) }
        #expect(choices.loads == 1)
    }

    @Test(
        "The error of a request remains cached if another request for the URL succeeds",
        arguments: [NetworkChoice.credentials, .cookies, .apiKey, .statuses])
    func successOfOthers(other: NetworkChoice) async throws {
        let choices = NetworkChoices(failing: [.plain])
        let fixture = try fixture(choices.loader)
        #expect(await fixture.manager.code(of: choices.request(.plain)) == 2007)
        #expect(await fixture.manager.load(choices.request(other)).number == other.rawValue)
        #expect(await fixture.manager.code(of: choices.request(.plain)) == -2007)
        #expect(choices.loads == 2)
    }

    @Test("A request that accepts a 404 loads its image after a request that rejects 404 has failed")
    func statuses() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(statusCode: 404, headers: Numbered.head(4).headers, body: Numbered.data(4))
        }
        let fixture = try ManagerFixture()
        #expect(await fixture.manager.code(of: ImageRequest(url: server.url("/a"))) == 2007)
        var accepting = ImageRequest(url: server.url("/a"))
        accepting.network.acceptableStatusCodes = [200, 404]
        #expect(await fixture.manager.load(accepting).number == 4)
    }

    // MARK: - Data

    @Test("A request with a suitable coder succeeds after the coders of the manager have failed")
    func coder() async throws {
        let loader = StubLoader { _ in .init(body: Self.unknown) }
        let fixture = try fixture(loader)
        #expect(await fixture.manager.code(of: ImageRequest(url: .sample)).map { $0 / 1_000 } == 4)
        var request = ImageRequest(url: .sample)
        request.coder = WidthCoder(width: 7)
        #expect(try await fixture.manager.image(for: request).size.width == 7)
    }

    @Test("The coders of the manager decode the data after the coder of another request has failed")
    func failingCoder() async throws {
        let loader = StubLoader { _ in Numbered.response(6) }
        let fixture = try fixture(loader)
        var request = ImageRequest(url: .sample)
        request.coder = RefusingCoder()
        #expect(await fixture.manager.code(of: request) != nil)
        #expect(await fixture.manager.load(.sample).number == 6)
    }

    @Test("A data request with a suitable coder succeeds after an image request has failed")
    func data() async throws {
        let loader = StubLoader { _ in .init(body: Self.unknown) }
        let fixture = try fixture(loader)
        #expect(await fixture.manager.code(of: ImageRequest(url: .sample)) != nil)
        var request = ImageRequest(url: .sample)
        request.coder = WidthCoder(width: 7)
        #expect(try await fixture.manager.data(for: request) == Self.unknown)
    }

    @Test("A request that allows partial images receives one after another request has failed")
    func partial() async throws {
        let image = try TestImages.png(1, width: 64, height: 64)
        let loader = StubLoader { _ in .init(body: image.prefix(image.count * 3 / 4)) }
        let fixture = try fixture(loader)
        #expect(await fixture.manager.code(of: ImageRequest(url: .sample)).map { $0 / 1_000 } == 4)
        var request = ImageRequest(url: .sample)
        request.decoding.allowsPartialData = true
        #expect(try await fixture.manager.image(for: request).size.width == 64)
    }

    @Test("A request with a format hint succeeds after a request without a hint has failed")
    func hint() async throws {
        let loader = StubLoader { _ in .init(body: Self.unknown) }
        let format = ImageFormat(rawValue: "numbers")
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.loaders = [loader]
            $0.coders.register(WidthCoder(width: 9, format: format))
        }
        #expect(await fixture.manager.code(of: ImageRequest(url: .sample)) != nil)
        var request = ImageRequest(url: .sample)
        request.decoding.formatHint = format
        #expect(try await fixture.manager.image(for: request).size.width == 9)
    }

    @Test("Data that isn't an image is remembered for every size and for data requests")
    func notAnImage() async throws {
        let loader = StubLoader { _ in .init(body: Data("<html></html>".utf8)) }
        let fixture = try fixture(loader)
        #expect(await fixture.manager.code(of: ImageRequest(url: .sample)) != nil)
        #expect(await fixture.manager.code(of: ImageRequest(url: .sample, size: .fit(width: 3))) == -4003)
        await #expect(throws: ImageError.self) { try await fixture.manager.data(for: ImageRequest(url: .sample)) }
        #expect(loader.requests.count == 1)
    }

    // MARK: - Signing in

    /// The ways to sign in.
    enum SignIn: String, CaseIterable, Sendable {
        case requestCookies, managerCookies, requestCredentials, managerCredentials
    }

    /// Returns a server that responds with an image after signing in, and otherwise with `status` or, at
    /// `/credentials`, with a challenge.
    private func server(_ status: Int) throws -> LoopbackServer {
        let anna = "Basic " + Data("anna:secret".utf8).base64EncodedString()
        return try LoopbackServer { request in
            if request.headers["Cookie"] == "session=anna" || request.headers["Authorization"] == anna {
                return LoopbackServer.Response(headers: Numbered.head(1).headers, body: Numbered.data(1))
            }
            // Clients send credentials only after a challenge.
            guard request.path == "/credentials" else { return .status(status) }
            return LoopbackServer.Response.status(401).with { $0.headers["WWW-Authenticate"] = "Basic realm=\"r\"" }
        }
    }

    @Test(
        "A request that failed succeeds after signing in",
        arguments: SignIn.allCases, [403, 404])
    func signingIn(way: SignIn, status: Int) async throws {
        let server = try server(status)
        let (jar, store) = (CookieJar(), CredentialStore())
        let fixture = try ManagerFixture {
            if way == .managerCookies { $0.downloader.cookieJar = jar }
            if way == .managerCredentials { $0.downloader.credentials = store }
        }
        let usesCookies = way == .requestCookies || way == .managerCookies
        var request = ImageRequest(url: server.url(usesCookies ? "/cookies" : "/credentials"))
        if way == .requestCookies { request.network.cookieJar = jar }
        if way == .requestCredentials { request.network.credentials = store }
        #expect(await fixture.manager.code(of: request) != nil)
        jar.set(Cookie(name: "session", value: "anna", domain: "127.0.0.1"))
        store.setCredentials(user: "anna", password: "secret", for: request.url)
        #expect(await fixture.manager.load(request).number == 1)
    }

    /// An interceptor that adds a token if it's available.
    private struct TokenInterceptor: DownloadInterceptor {
        let token: Shared<String?>

        func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
            var request = request
            if let token = token.value { request.headers["Authorization"] = token }
            return try await next(request)
        }
    }

    @Test("A request that failed succeeds after an interceptor receives its token")
    func interceptor() async throws {
        let server = try server(403)
        let token = Shared<String?>(nil)
        let fixture = try ManagerFixture { $0.downloader.interceptors = [TokenInterceptor(token: token)] }
        let request = ImageRequest(url: server.url("/a"))
        #expect(await fixture.manager.code(of: request) == 2007)
        token.value = "Basic " + Data("anna:secret".utf8).base64EncodedString()
        #expect(await fixture.manager.load(request).number == 1)
    }

    @Test("If signing in isn't possible, a 403 is remembered for one minute")
    func forbidden() async throws {
        let server = try server(403)
        let fixture = try ManagerFixture()
        #expect(await fixture.manager.code(of: ImageRequest(url: server.url("/a"))) == 2007)
        #expect(await fixture.manager.code(of: ImageRequest(url: server.url("/a"))) == -2007)
        #expect(server.counters.requests == 1)
        fixture.pass(seconds: 60)
        #expect(await fixture.manager.code(of: ImageRequest(url: server.url("/a"))) == 2007)
    }

    @Test(
        "A 403 isn't remembered if cookies or credentials can change", arguments: SignIn.allCases)
    func changeable(way: SignIn) async throws {
        let server = try server(403)
        let fixture = try ManagerFixture {
            if way == .managerCookies { $0.downloader.cookieJar = CookieJar() }
            if way == .managerCredentials { $0.downloader.credentials = CredentialStore() }
        }
        var request = ImageRequest(url: server.url("/a"))
        if way == .requestCookies { request.network.cookieJar = CookieJar() }
        if way == .requestCredentials { request.network.credentials = CredentialStore() }
        for _ in 0..<2 { #expect(await fixture.manager.code(of: request) == 2007) }
        #expect(server.counters.requests == 2)
    }

    @Test(
        "A removal clears earlier failures, including those of loads that end after the removal",
        arguments: [true, false])
    func removal(removesAll: Bool) async throws {
        let gate = TestGate()
        let count = Shared(0)
        let server = try LoopbackServer { _ in
            let number = count.update { count in
                count += 1
                return count
            }
            return number > 1
                ? LoopbackServer.Response(headers: Numbered.head(1).headers, body: Numbered.data(1))
                : LoopbackServer.Response.status(404).with { $0.headGate = gate }
        }
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        let task = fixture.manager.load(request)
        await server.waitForRequests(count: 1)
        if removesAll {
            await fixture.manager.removeAllCachedImages()
        } else {
            await fixture.manager.removeCachedImage(for: request)
        }
        gate.open()
        #expect(await task.code == 2007)
        #expect(await fixture.manager.load(request).number == 1)
    }
}

/// A coder that returns an image of a fixed width for any data.
private struct WidthCoder: ImageCoder {
    let width: Int
    var format: ImageFormat?

    var identifier: String { "width \(width)" }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format != nil && format == self.format }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: 1))
        return DecodedImage(pixels: canvas.finish(isOpaque: false))
    }
}

/// A coder that reports all data as corrupt.
private struct RefusingCoder: ImageCoder {
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        throw .decoding(.corrupted(format: .png, reason: "refused"))
    }
}
