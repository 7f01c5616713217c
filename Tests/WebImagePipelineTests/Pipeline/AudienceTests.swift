// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Images with restricted access", .serialized, .timeLimit(.minutes(5)))
struct AudienceTests {
    private func fixture(_ choices: NetworkChoices) throws -> ManagerFixture {
        try ManagerFixture {
            $0.loaders = [choices.loader]
            $0.diskCache = nil
        }
    }

    private static let differing = pairs(NetworkChoice.people).filter { $0.0 != $0.1 }

    @Test("A request never receives an image from memory that was loaded with other credentials", arguments: differing)
    func memory(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices()
        let fixture = try fixture(choices)
        #expect(await fixture.manager.load(choices.request(first)).number == first.rawValue)
        #expect(fixture.manager.cachedImage(for: choices.request(second)) == nil)
        #expect(fixture.manager.cachedPlaceholder(for: choices.request(second)) == nil)
        #expect(await fixture.manager.load(choices.request(second)).number == second.rawValue)
        #expect(await fixture.manager.load(choices.request(first)).number == first.rawValue)
        #expect(choices.loads == 2)
    }

    @Test("A request never receives data from disk that was loaded with other credentials", arguments: differing)
    func disk(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices()
        var fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        #expect(await fixture.manager.load(choices.request(first)).number == first.rawValue)
        fixture = try await fixture.restarted { $0.loaders = [choices.loader] }
        #expect(fixture.manager.loadCachedImageSynchronously(for: choices.request(second), from: .all) == nil)
        #expect(await fixture.manager.load(choices.request(second)).number == second.rawValue)
        fixture = try await fixture.restarted { $0.loaders = [choices.loader] }
        #expect(try await fixture.manager.data(for: choices.request(first)) == Numbered.data(first.rawValue))
        #expect(try await fixture.manager.data(for: choices.request(second)) == Numbered.data(second.rawValue))
        #expect(choices.loads == 2)
    }

    @Test(
        "If the server is unreachable, a request never receives a stale image that was loaded with other credentials",
        arguments: [
            (NetworkChoice.credentials, NetworkChoice.plain), (NetworkChoice.plain, NetworkChoice.cookies),
            (NetworkChoice.apiKey, NetworkChoice.otherAPIKey),
        ])
    func unreachable(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices(lost: [second])
        let fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        #expect(await fixture.manager.load(choices.request(first)).number == first.rawValue)
        fixture.pass(seconds: 61)
        #expect(await fixture.manager.load(choices.request(second)).number == nil)
    }

    @Test("A request never sends conditions for data that was loaded with other credentials", arguments: differing)
    func conditions(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices()
        let fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        #expect(await fixture.manager.load(choices.request(first)).number == first.rawValue)
        fixture.pass(seconds: 61)
        #expect(await fixture.manager.load(choices.request(second)).number == second.rawValue)
        #expect(choices.loader.requests.map { $0.headers["If-None-Match"] } == [nil, nil])
    }

    @Test(
        "An image is served from memory and, after a restart, from disk to requests with the same credentials",
        arguments: NetworkChoice.people)
    func own(choice: NetworkChoice) async throws {
        let choices = NetworkChoices()
        var fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        #expect(await fixture.manager.load(choices.request(choice)).number == choice.rawValue)
        #expect(try fixture.manager.load(choices.request(choice)).result?.get().source == .memoryCache)
        // Create other objects, as in another process.
        let later = NetworkChoices()
        fixture = try await fixture.restarted { $0.loaders = [later.loader] }
        let response = try await fixture.manager.response(for: later.request(choice))
        #expect(response.source == .diskCache)
        #expect(Numbered.number(of: response.image) == choice.rawValue)
        #expect(choices.loads == 1 && later.loads == 0)
    }

    @Test("An encoded image is never returned to requests with other credentials", arguments: differing)
    func encoded(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices()
        let fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        for choice in [first, second, first] {
            let data = try await fixture.manager.encodedImage(for: choices.request(choice), as: .png).data
            let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
            #expect(Numbered.number(of: image) == choice.rawValue)
        }
        #expect(choices.loads == 2)
    }

    @Test("A processed image on disk is never returned to requests with other credentials", arguments: differing)
    func processed(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices()
        let fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        for choice in [first, second] {
            var request = choices.request(choice)
            request.caching.processedEncoding = .png
            request.caching.originalWriteTo = []
            request.caching.writeTo = .disk
            request.caching.waitsUntilStored = true
            #expect(await fixture.manager.load(request).number == choice.rawValue)
        }
        #expect(choices.loads == 2)
    }

    @Test("After the user changes, the image of the new user is shown", arguments: [true, false])
    func switching(isManagerWide: Bool) async throws {
        let server = try LoopbackServer { request in
            let number = ["session=anna": 1, "session=berta": 2][request.headers["Cookie"] ?? ""] ?? 3
            return LoopbackServer.Response(headers: Numbered.head(number).headers, body: Numbered.data(number))
        }
        let jar = CookieJar()
        let fixture = try ManagerFixture { if isManagerWide { $0.downloader.cookieJar = jar } }
        var request = ImageRequest(url: server.url("/a"))
        if !isManagerWide { request.network.cookieJar = jar }
        #expect(await fixture.manager.load(request).number == 3)
        for (index, name) in ["anna", "berta"].enumerated() {
            jar.set(Cookie(name: "session", value: name, domain: "127.0.0.1"))
            #expect(await fixture.manager.load(request).number == index + 1)
        }
        jar.removeAll()
        #expect(await fixture.manager.load(request).number == 3)
    }

    @Test(
        "Custom header fields separate images",
        arguments: ["X-Api-Key", "X-Tenant", "Token", "Signature", "Referer", "Origin", "Authorization", "Cookie"])
    func fields(name: String) async throws {
        let loader = StubLoader { request in
            Numbered.response(["one": 1, "two": 2][request.headers[name] ?? ""] ?? 3)
        }
        var fixture = try ManagerFixture { $0.loaders = [loader] }
        for round in 0..<2 {
            for (value, number) in [("one", 1), ("two", 2), (nil, 3)] {
                var request = ImageRequest(url: .sample)
                request.headers[name] = value
                #expect(await fixture.manager.load(request).number == number)
            }
            if round == 0 { fixture = try await fixture.restarted { $0.loaders = [loader] } }
        }
        #expect(loader.requests.count == 3)
    }

    @Test("Header field names match cached images regardless of their case")
    func fieldCase() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        for name in ["X-Api-Key", "x-api-key", "X-API-KEY"] {
            var request = ImageRequest(url: .sample)
            request.headers[name] = "one"
            #expect(await fixture.manager.load(request).number == 1)
        }
        #expect(loader.requests.count == 1)
    }

    @Test("A header field that can't select content doesn't separate images")
    func harmlessFields() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        for age in [nil, "max-age=600", "max-age=500"] {
            var request = ImageRequest(url: .sample)
            request.headers["Cache-Control"] = age
            #expect(await fixture.manager.load(request).number == 1)
        }
        #expect(loader.requests.count == 1)
    }

    @Test("Secrets are never written to disk")
    func secrets() async throws {
        let server = try LoopbackServer { request in
            guard request.path != "/basic" || request.headers["Authorization"] != nil else {
                return LoopbackServer.Response.status(401).with { $0.headers["WWW-Authenticate"] = "Basic realm=\"r\"" }
            }
            return LoopbackServer.Response(headers: Numbered.head(1).headers, body: Numbered.data(1))
        }
        let fixture = try ManagerFixture()
        let (jar, store) = (CookieJar(), CredentialStore())
        jar.set(Cookie(name: "session", value: "key-of-anna", domain: "127.0.0.1"))
        store.setCredentials(user: "user-of-anna", password: "key-of-anna", for: server.url("/"))
        var requests = ["/basic", "/cookie", "/field"].map { ImageRequest(url: server.url($0)) }
        requests[0].network.credentials = store
        requests[1].network.cookieJar = jar
        requests[2].headers["X-Api-Key"] = "key-of-anna"
        for request in requests { #expect(await fixture.manager.load(request).number == 1) }
        await fixture.manager.diskCache?.flush()
        let secrets = ["key-of-anna", "user-of-anna", Data("user-of-anna:key-of-anna".utf8).base64EncodedString()]
        let paths = try FileManager.default.subpathsOfDirectory(atPath: fixture.directory.path)
        #expect(!paths.isEmpty)
        for path in paths {
            guard let bytes = FileManager.default.contents(atPath: fixture.directory.file(path)) else { continue }
            for secret in secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(path)") }
        }
    }
}

@Suite("Images that other settings accepted", .serialized, .timeLimit(.minutes(5)))
struct AcceptanceTests {
    /// Returns a request whose image is cached only in memory.
    private func request(_ choice: NetworkChoice, _ choices: NetworkChoices) -> ImageRequest {
        var request = choices.request(choice)
        request.caching.originalWriteTo = []
        request.caching.originalReadFrom = []
        return request
    }

    @Test(
        "An image in memory isn't returned to a request whose settings wouldn't have accepted it",
        arguments: pairs(NetworkChoice.acceptance).filter { $0.0 != $0.1 })
    func different(first: NetworkChoice, second: NetworkChoice) async throws {
        let choices = NetworkChoices()
        let fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        #expect(await fixture.manager.load(request(first, choices)).number == first.rawValue)
        #expect(await fixture.manager.load(request(second, choices)).number == second.rawValue)
        #expect(choices.loads == 2)
    }

    @Test(
        "An image in memory is returned to a request with equal settings",
        arguments: NetworkChoice.acceptance.filter { $0 != .redirects })
    func equal(choice: NetworkChoice) async throws {
        let choices = NetworkChoices()
        let fixture = try ManagerFixture { $0.loaders = [choices.loader] }
        #expect(await fixture.manager.load(request(choice, choices)).number == choice.rawValue)
        #expect(try fixture.manager.load(request(choice, choices)).result?.get().source == .memoryCache)
        #expect(choices.loads == 1)
    }

    @Test("An image in memory from a 404 response isn't returned to a request that rejects 404")
    func statuses() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(statusCode: 404, headers: Numbered.head(4).headers, body: Numbered.data(4))
        }
        let fixture = try ManagerFixture()
        var accepting = ImageRequest(url: server.url("/a"))
        accepting.network.acceptableStatusCodes = [200, 404]
        #expect(await fixture.manager.load(accepting).number == 4)
        #expect(await fixture.manager.code(of: ImageRequest(url: server.url("/a"))) == 2007)
    }
}
