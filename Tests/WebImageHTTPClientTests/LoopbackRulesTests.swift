// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPCases
import WebImageHTTPClient
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// The scripted server over sockets. The manual calendar sets the dates of its responses.
private final class SocketServer: ScriptedServer, HTTPTransport {
    private struct State {
        var reply: CacheCase.Reply?
        var seen: [RequestHead] = []
    }

    private let state: Shared<State>
    private let calendar: ManualCalendar
    private let server: LoopbackServer
    private let network = CurlTransport(HTTPClient.Configuration().network)

    init(_ calendar: ManualCalendar) throws {
        let state = Shared(State())
        self.state = state
        self.calendar = calendar
        server = try LoopbackServer { request in
            let reply = state.update { state in
                state.seen.append(RequestHead(method: request.method, headers: request.headers))
                return state.reply
            }
            guard let reply else { return .raw(Data()) }
            return LoopbackServer.Response(
                statusCode: reply.status, headers: reply.headers, body: request.method == "HEAD" ? Data() : reply.body)
        }
    }

    var transport: any HTTPTransport { self }
    func url(_ path: String) -> URL { server.url(path) }
    func prepare(_ reply: CacheCase.Reply?) { state.value = State(reply: reply) }
    var seen: [RequestHead] { state.value.seen }

    func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse {
        let response = try await network.send(request, context: context)
        return response.with(requestTime: calendar.now, responseTime: calendar.now)
    }
}

@Suite("Rules of the HTTP client's cache over sockets")
struct LoopbackRulesTests {
    /// The rules that the loopback server or the transport can't reproduce.
    ///
    /// They require header fields of the connection itself, a second Content-Length, methods in lowercase, or an
    /// unrequested 206 response. The transport rejects such a response.
    private static let unplayable = [
        "Connection header fields", "get invalidates", "A 304 never changes Content-Length",
        "Parts without a known position",
    ]

    /// Every third rule.
    static let sample = CacheRulesTests.all.enumerated().filter { index, subject in
        index % 3 == 0 && !unplayable.contains { subject.name.hasPrefix($0) }
    }.map(\.element)

    @Test("Every excluded prefix matches a rule, and the sample contains at least 40 rules")
    func names() {
        #expect(Self.sample.count >= 40)
        for beginning in Self.unplayable { #expect(CacheRulesTests.all.contains { $0.name.hasPrefix(beginning) }) }
    }

    @Test("A sample of the rules holds with a server over sockets", arguments: sample)
    func overSockets(_ subject: CacheCase) async throws {
        let calendar = ManualCalendar()
        // The runner checks each step, so a rule without steps would check nothing.
        #expect(!subject.steps.isEmpty)
        await CaseRunner(subject.policy, try SocketServer(calendar), calendar).run(subject)
    }
}
