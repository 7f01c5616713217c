// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP

@testable import WebImageNet

@Suite("Alternatives of a request")
struct AlternativeSequenceTests {
    private func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

    private func sequence(_ alternatives: [String]) -> AlternativeSequence {
        var request = LoadRequest(url: url("https://a.example/0"))
        request.headers = HTTPHeaderFields([.init(name: "X-Key", value: "1"), .init(name: "Accept", value: "image/*")])
        request.network.alternativeURLs = alternatives.map(url)
        return AlternativeSequence(request) { $0.scheme == "https" }
    }

    private func failure(_ number: Int, attempt: Int = 1, detail: String = "") -> ImageError.NetworkFailure {
        ImageError.NetworkFailure(
            .unacceptableStatusCode, url: url("https://a.example/\(number)"), phase: .waitingForResponse,
            statusCode: 404,
            curlCode: nil, attempt: attempt, details: detail)
    }

    private func thrown(_ body: () throws(ImageError) -> Void) -> ImageError? {
        do { try body() } catch { return error }
        return nil
    }

    @Test("Sources are tried in order, without unsupported ones, and without secrets at other origins")
    func order() throws {
        var sequence = sequence(["mailto:a@b", "https://a.example/1", "https://b.example/2"])
        #expect(sequence.current.url == url("https://a.example/0") && sequence.current.network.alternativeURLs.isEmpty)
        try sequence.advance(after: .network(failure(0)))
        #expect(sequence.current.url == url("https://a.example/1") && sequence.current.headers["X-Key"] == "1")
        try sequence.advance(after: .network(failure(1)))
        #expect(sequence.current.url == url("https://b.example/2"))
        #expect(sequence.current.headers["X-Key"] == nil && sequence.current.headers["Accept"] == "image/*")
    }

    @Test("Only failures of the network and of local sources lead to an alternative")
    func otherErrors() {
        var sequence = sequence(["https://a.example/1"])
        for error in [ImageError.cancelled, .request(.rejected(reason: "no")), .request(.managerShutDown)] {
            #expect(thrown { () throws(ImageError) in try sequence.advance(after: error) } == error)
            #expect(sequence.current.url == url("https://a.example/0"))
        }
    }

    @Test("The failure of a local source is recorded, and the last network failure is thrown with all other failures")
    func localFailures() throws {
        var sequence = sequence(["https://a.example/1", "https://a.example/2", "https://a.example/3"])
        let missing = ImageError.request(.fileNotFound(path: "/a"))
        try sequence.advance(after: missing)
        try sequence.advance(after: .network(failure(1, attempt: 2).telling([failure(1)])))
        try sequence.advance(after: .request(.sourceFailed(reason: "empty")))
        let error = try #require(
            thrown { () throws(ImageError) in try sequence.advance(after: .request(.invalidDataURL("no comma"))) })
        #expect(error.network?.statusCode == 404 && error.network?.url == url("https://a.example/1"))
        #expect(error.network?.attempt == 3)
        #expect(error.attempts.map(\.attempt) == [1, 2, 4, 5, 3])
        #expect(
            error.attempts.map(\.reason) == [.other, .unacceptableStatusCode, .other, .other, .unacceptableStatusCode])
    }

    @Test("Without a network failure, the error of the first source is thrown")
    func onlyLocalFailures() throws {
        var sequence = sequence(["https://a.example/1"])
        let first = ImageError.request(.fileNotFound(path: "/a"))
        try sequence.advance(after: first)
        let last = thrown { () throws(ImageError) in
            try sequence.advance(after: .request(.fileUnreadable(path: "/b", errno: 13)))
        }
        #expect(last == first)
        var alone = self.sequence([])
        #expect(thrown { () throws(ImageError) in try alone.advance(after: first) } == first)
    }

    @Test("The last failure contains all previous failures, numbered over all sources")
    func failures() throws {
        var sequence = sequence(["https://a.example/1"])
        let second = failure(0, attempt: 2).telling([failure(0)])
        #expect(second.details.isEmpty && second.message.hasSuffix("]. Earlier failures: status 404."))
        try sequence.advance(after: .network(second))
        let last = failure(1, attempt: 2, detail: "words").telling([failure(1)])
        let error = try #require(
            thrown { () throws(ImageError) in try sequence.advance(after: .network(last)) }?.network)
        #expect(error.attempt == 4 && error.earlier.map(\.attempt) == [1, 2, 3])
        #expect(error.earlier.allSatisfy { $0.earlier.isEmpty && $0.details.isEmpty })
        let reported = "status 404 at https://a.example/0 (2 times)"
        #expect(error.details == "words" && error.message.hasSuffix("]. Earlier failures: \(reported), status 404."))
    }

    @Test("A response counts the attempts at all sources")
    func response() throws {
        var sequence = sequence(["https://a.example/1"])
        var response = LoadResponse(
            body: Data(), url: sequence.current.url, requestDate: Date(), responseDate: Date())
        #expect(sequence.completing(response).metrics == response.metrics)
        try sequence.advance(after: .network(failure(0, attempt: 2).telling([failure(0)])))
        response.metrics.attemptCount = 2
        response.metrics.failures = [failure(1)]
        let metrics = sequence.completing(response).metrics
        #expect(metrics.attemptCount == 4 && metrics.failures.map(\.attempt) == [1, 2, 3])
    }
}
