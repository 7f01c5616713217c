// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@Suite("Stub loader", .timeLimit(.minutes(5)))
struct StubLoaderTests {
    @Test("A stub sends its responses in order, reports chunks, throws, and counts cancellations")
    func stub() async throws {
        let url = try #require(URL(string: "stub:a"))
        let loader = StubLoader()
        let refusal = ImageError.network(
            ImageError.NetworkFailure(
                .unacceptableStatusCode, url: url, phase: .waitingForResponse, statusCode: 503))
        let gate = TestGate()
        loader.respond(
            to: url,
            with: .init(chunks: [Data("ab".utf8), Data("c".utf8)]),
            .init(httpResponse: nil, chunks: [], error: refusal),
            .init(body: Data("x".utf8), responseGate: gate))
        let reported = Shared((body: Data(), expected: Int?.none))
        let context = LoadContext { report in
            switch report {
            case .head(_, let expected): reported.update { $0.expected = expected }
            case .body(let part): reported.update { $0.body += part }
            default: break
            }
        }
        let response = try await loader.load(LoadRequest(url: url), context: context)
        #expect(response.body == Data("abc".utf8) && reported.value.body == response.body)
        #expect(reported.value.expected == 3)
        await #expect(throws: refusal) { try await loader.load(LoadRequest(url: url), context: LoadContext()) }
        let held = Task { try await loader.load(LoadRequest(url: url), context: LoadContext()) }
        await loader.waitForRequests(count: 3)
        held.cancel()
        await loader.waitForCancellations(count: 1)
        await #expect(throws: ImageError.cancelled) { try await held.value }
        let unknown = try #require(URL(string: "stub:b"))
        await #expect(throws: ImageError.self) {
            try await loader.load(LoadRequest(url: unknown), context: LoadContext())
        }
        #expect(loader.requests.count == 4 && loader.finishedCount == 4)
    }
}
