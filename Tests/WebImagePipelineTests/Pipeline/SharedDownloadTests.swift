// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Two requests for one URL with different network options", .serialized, .timeLimit(.minutes(5)))
struct SharedDownloadTests {
    private func fixture(_ choices: NetworkChoices) throws -> ManagerFixture {
        try ManagerFixture {
            $0.diskCache = nil
            $0.loaders = [choices.loader]
        }
    }

    @Test(
        "Concurrent requests receive the results of their own network options",
        arguments: pairs(NetworkChoice.allCases).filter { $0.0 != $0.1 })
    func different(first: NetworkChoice, second: NetworkChoice) async throws {
        let gate = TestGate()
        let choices = NetworkChoices(gate: gate)
        let fixture = try fixture(choices)
        let tasks = [first, second].map { fixture.manager.load(choices.request($0)) }
        await fixture.manager.waitForLoads(2)
        gate.open()
        #expect(await tasks[0].number == first.rawValue)
        #expect(await tasks[1].number == second.rawValue)
        #expect(choices.loads == 2)
    }

    @Test(
        "Concurrent requests with equal network options share one download",
        arguments: NetworkChoice.allCases.filter { $0 != .redirects })
    func equal(choice: NetworkChoice) async throws {
        let gate = TestGate()
        let choices = NetworkChoices(gate: gate)
        let fixture = try fixture(choices)
        let tasks = (0..<3).map { _ in fixture.manager.load(choices.request(choice)) }
        await fixture.manager.waitForLoads(3)
        gate.open()
        for task in tasks { #expect(await task.number == choice.rawValue) }
        #expect(choices.loads == 1)
    }

    @Test(
        "A request isn't served with data in use that was loaded with other network options",
        arguments: pairs(NetworkChoice.people + NetworkChoice.acceptance.dropFirst()).filter { $0.0 != $0.1 })
    func inUse(first: NetworkChoice, second: NetworkChoice) async throws {
        let gate = TestGate()
        let holding = HoldingTransformer(gate)
        let choices = NetworkChoices()
        let fixture = try fixture(choices)
        var held = choices.request(first)
        held.transformers = [holding]
        let task = fixture.manager.load(held)
        await untilTrue { holding.isHolding }
        let other = fixture.manager.load(choices.request(second))
        let number = await other.number
        gate.open()
        #expect(number == second.rawValue)
        #expect(await task.number == first.rawValue)
    }

    // MARK: - Alternatives

    /// Returns a server without `/a` whose 404 response is held at a gate.
    private func server(_ gate: TestGate) throws -> LoopbackServer {
        let head = Numbered.head(2)
        return try LoopbackServer(routes: [
            "/a": LoopbackServer.Response.status(404).with { $0.headGate = gate },
            "/b": LoopbackServer.Response(headers: head.headers, body: Numbered.data(2)),
            "/c": LoopbackServer.Response(headers: head.headers, body: Numbered.data(3)),
        ])
    }

    /// The alternatives of a request.
    enum Alternatives: String, CaseIterable, Sendable {
        case none, working, otherWorking, missing

        var paths: [String] {
            switch self {
            case .none: []
            case .working: ["/b"]
            case .otherWorking: ["/c"]
            case .missing: ["/d"]
            }
        }

        var number: Int? {
            switch self {
            case .none, .missing: nil
            case .working: 2
            case .otherWorking: 3
            }
        }
    }

    @Test(
        "Each of two joined requests ends like its own alternatives, and the URL is requested once",
        arguments: pairs(Alternatives.allCases))
    func alternatives(first: Alternatives, second: Alternatives) async throws {
        let gate = TestGate()
        let server = try server(gate)
        let fixture = try ManagerFixture()
        let tasks = [first, second].map { alternatives in
            var request = ImageRequest(url: server.url("/a"))
            request.network.alternativeURLs = alternatives.paths.map { server.url($0) }
            return fixture.manager.load(request)
        }
        await fixture.manager.waitForLoads(2)
        gate.open()
        #expect(await tasks[0].number == first.number)
        #expect(await tasks[1].number == second.number)
        #expect(server.requests.count { $0.path == "/a" } == 1)
    }

    // MARK: - Servers

    @Test(
        "Of two joined requests, only the one that accepts 404 receives the image of a 404",
        arguments: [true, false])
    func statuses(acceptsFirst: Bool) async throws {
        let gate = TestGate()
        let response = LoopbackServer.Response(
            statusCode: 404, headers: Numbered.head(4).headers, body: Numbered.data(4))
        let server = try LoopbackServer { _ in response.with { $0.headGate = gate } }
        let fixture = try ManagerFixture()
        let tasks = [acceptsFirst, !acceptsFirst].map { accepts in
            var request = ImageRequest(url: server.url("/a"))
            if accepts { request.network.acceptableStatusCodes = [200, 404] }
            return fixture.manager.load(request)
        }
        await fixture.manager.waitForLoads(2)
        gate.open()
        let (accepting, refusing) = acceptsFirst ? (tasks[0], tasks[1]) : (tasks[1], tasks[0])
        #expect(await accepting.number == 4)
        #expect(await refusing.code == 2007)
    }

    /// Returns a server that returns its image only to the user `anna` and holds that response at `gate`.
    private func protected(_ gate: TestGate) throws -> LoopbackServer {
        let anna = "Basic " + Data("anna:secret".utf8).base64EncodedString()
        return try LoopbackServer { request in
            guard request.headers["Authorization"] == anna else {
                return LoopbackServer.Response.status(401).with { $0.headers["WWW-Authenticate"] = "Basic realm=\"r\"" }
            }
            return LoopbackServer.Response(headers: Numbered.head(5).headers, body: Numbered.data(5)).with {
                $0.bodyGate = gate
            }
        }
    }

    @Test("A request without credentials fails while a request with credentials loads the image")
    func credentials() async throws {
        let gate = TestGate()
        let server = try protected(gate)
        let fixture = try ManagerFixture()
        let store = CredentialStore()
        store.setCredentials(user: "anna", password: "secret", for: server.url("/a"))
        var request = ImageRequest(url: server.url("/a"))
        request.network.credentials = store
        let anna = fixture.manager.load(request)
        await server.waitForRequests(count: 2)
        let stranger = fixture.manager.load(server.url("/a"))
        await fixture.manager.waitForLoads(2)
        gate.open()
        #expect(await anna.number == 5)
        #expect(await stranger.number == nil)
    }

    @Test("A request with credentials succeeds while a request without credentials waits for its rejection")
    func credentialsSecond() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            guard request.headers["Authorization"] == nil else {
                return LoopbackServer.Response(headers: Numbered.head(5).headers, body: Numbered.data(5))
            }
            return LoopbackServer.Response.status(401).with {
                $0.headers["WWW-Authenticate"] = "Basic realm=\"r\""
                $0.headGate = gate
            }
        }
        let fixture = try ManagerFixture()
        let store = CredentialStore()
        store.setCredentials(user: "anna", password: "secret", for: server.url("/a"))
        let stranger = fixture.manager.load(server.url("/a"))
        await server.waitForRequests(count: 1)
        var request = ImageRequest(url: server.url("/a"))
        request.network.credentials = store
        let anna = fixture.manager.load(request)
        await fixture.manager.waitForLoads(2)
        gate.open()
        #expect(await anna.number == 5)
        #expect(await stranger.code != nil)
    }

    @Test("Concurrent requests with the cookies of different users receive different images")
    func cookies() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            let number = ["session=anna": 1, "session=berta": 2][request.headers["Cookie"] ?? ""] ?? 3
            return LoopbackServer.Response(headers: Numbered.head(number).headers, body: Numbered.data(number))
                .with { $0.bodyGate = gate }
        }
        let fixture = try ManagerFixture()
        let tasks = ["anna", "berta", nil].map { name in
            var request = ImageRequest(url: server.url("/a"))
            if let name {
                let jar = CookieJar()
                jar.set(Cookie(name: "session", value: name, domain: "127.0.0.1"))
                request.network.cookieJar = jar
            }
            return fixture.manager.load(request)
        }
        await fixture.manager.waitForLoads(3)
        gate.open()
        for (task, number) in zip(tasks, 1...3) { #expect(await task.number == number) }
    }
}
