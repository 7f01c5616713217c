// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// A transport that records the priority of each request and delays responses.
private final class WatchingTransport: HTTPTransport {
    let priorities = Shared<[RequestPriority]>([])
    let gate = TestGate()

    func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse {
        priorities.update { $0.append(context.priority) }
        context.onPriorityChange { [priorities] priority in priorities.update { $0.append(priority) } }
        await gate.wait()
        let fields = HTTPHeaderFields([.init(name: "Cache-Control", value: "max-age=0, stale-while-revalidate=86400")])
        return TransferResponse(
            head: HTTPResponseHead(statusCode: 200, headers: fields), body: Data("x".utf8), requestTime: Date(),
            responseTime: Date())
    }
}

@Suite("Priorities of the HTTP client", .timeLimit(.minutes(5)))
struct ClientPriorityTests {
    private let transport = WatchingTransport()

    private func request(_ priority: RequestPriority) throws -> HTTPClient.Request {
        var request = HTTPClient.Request(url: try #require(URL(string: "http://example.org/")))
        request.priority = priority
        return request
    }

    @Test("A request that joins another one raises its priority")
    func joining() async throws {
        let client = HTTPClient(configuration: HTTPClient.Configuration(), transport: transport)
        let (low, high) = (try request(.low), try request(.high))
        let first = Task { try await client.fetch(low) }
        await untilTrue { transport.priorities.value == [.low] }
        let second = Task { try await client.fetch(high) }
        await untilTrue { transport.priorities.value == [.low, .high] }
        transport.gate.open()
        _ = try await (first.value, second.value)
        #expect(transport.priorities.value == [.low, .high])
    }

    @Test("A revalidation in the background has a low priority")
    func background() async throws {
        let client = HTTPClient(configuration: HTTPClient.Configuration(), transport: transport)
        transport.gate.open()
        #expect(try await client.fetch(try request(.veryHigh)).source == .network)
        #expect(try await client.fetch(try request(.veryHigh)).source == .stale)
        await client.shutdown()
        #expect(transport.priorities.value == [.veryHigh, .low])
    }
}
