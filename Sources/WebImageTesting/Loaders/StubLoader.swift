// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageConcurrency

/// A loader that answers from a table and remembers what it was asked. Thread-safe.
public final class StubLoader: ImageLoader {
    /// What a URL is answered with.
    public struct Answer: Sendable {
        /// Reported and returned; nil for none.
        public var head: ResponseHead?
        /// The body, in the parts in which it is reported.
        public var parts: [Data]
        /// Thrown in place of a response, after the parts.
        public var error: ImageError?
        /// Waited for before the head is reported.
        public var gate: Gate?
        /// Waited for after the first part.
        public var bodyGate: Gate?

        /// Creates an answer; a 200 with the body in one part unless told otherwise.
        public init(
            body: Data = Data(), head: ResponseHead? = ResponseHead(status: 200), parts: [Data]? = nil,
            error: ImageError? = nil, gate: Gate? = nil, bodyGate: Gate? = nil
        ) {
            self.head = head
            self.parts = parts ?? [body]
            self.error = error
            self.gate = gate
            self.bodyGate = bodyGate
        }
    }

    private struct State: Sendable {
        var answers: [URL: [Answer]] = [:]
        var requests: [LoadRequest] = []
        var started = 0
        var cancelled = 0
        var finished = 0
    }

    private let state = Watched(State())
    private let fallback: (@Sendable (LoadRequest) -> Answer)?

    /// Creates a loader; `fallback` answers what the table does not have.
    public init(fallback: (@Sendable (LoadRequest) -> Answer)? = nil) {
        self.fallback = fallback
    }

    /// Sets what `url` is answered with. Several answers are given in turn, the last one again and again.
    public func set(_ answers: Answer..., for url: URL) {
        state.update { $0.answers[url] = answers }
    }

    /// Everything that was asked, in order.
    public var requests: [LoadRequest] { state.value.requests }
    /// Loads that ended by cancellation.
    public var cancelledCount: Int { state.value.cancelled }
    /// Loads that ended in any way.
    public var finishedCount: Int { state.value.finished }

    /// Waits until `count` loads have begun.
    public func waitForRequests(count: Int) async {
        await state.wait { $0.requests.count >= count }
    }

    /// Waits until `count` loads were cancelled.
    public func waitForCancellations(count: Int) async {
        await state.wait { $0.cancelled >= count }
    }

    /// Takes every URL.
    public func canLoad(_ url: URL) -> Bool { true }

    /// Answers from the table; a URL that is not in it is not found (2002).
    public func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let stored = state.update { state -> Answer? in
            state.requests.append(request)
            guard var answers = state.answers[request.url], let first = answers.first else { return nil }
            if answers.count > 1 {
                answers.removeFirst()
                state.answers[request.url] = answers
            }
            return first
        }
        defer { state.update { $0.finished += 1 } }
        guard let answer = stored ?? fallback?(request) else {
            throw .network(NetworkError(.cannotFindHost, url: request.url.absoluteString, phase: .resolve))
        }
        return try await give(answer, request, context)
    }

    private func give(
        _ answer: Answer, _ request: LoadRequest, _ context: LoadContext
    ) async throws(ImageError) -> LoadResponse {
        let requestTime = Date()
        context.report(.started)
        await answer.gate?.wait()
        try checkCancellation()
        let size = answer.parts.reduce(0) { $0 + $1.count }
        if answer.head != nil || answer.error == nil { context.report(.head(answer.head, expected: size)) }
        for (index, part) in answer.parts.enumerated() {
            if index == 1 { await answer.bodyGate?.wait() }
            try checkCancellation()
            context.report(.body(part))
        }
        if answer.parts.count < 2 { await answer.bodyGate?.wait() }
        try checkCancellation()
        if let error = answer.error { throw error }
        return LoadResponse(
            head: answer.head, body: answer.parts.reduce(into: Data()) { $0.append($1) }, finalURL: request.url,
            requestTime: requestTime, responseTime: Date())
    }

    private func checkCancellation() throws(ImageError) {
        guard Task.isCancelled else { return }
        state.update { $0.cancelled += 1 }
        throw .request(.cancelled)
    }
}
