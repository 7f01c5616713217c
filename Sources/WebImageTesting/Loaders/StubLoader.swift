// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageConcurrency

/// A loader that returns predefined responses and records its requests. This class is thread-safe.
public final class StubLoader: ImageLoader {
    /// The predefined response for a URL.
    public struct Answer: Sendable {
        /// The response head, which is reported and returned, or `nil` if there is none.
        public var head: ResponseHead?
        /// The body, in the chunks in which it's reported.
        public var parts: [Data]
        /// The error that is thrown after the chunks instead of returning a response.
        public var error: ImageError?
        /// A gate to wait for before the head is reported.
        public var gate: Gate?
        /// A gate to wait for after the first chunk.
        public var bodyGate: Gate?

        /// Creates a response. By default, it has the status 200 and a body with a single chunk.
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

    /// Creates a loader.
    ///
    /// - Parameter fallback: A closure that returns the response for a URL without a predefined one.
    public init(fallback: (@Sendable (LoadRequest) -> Answer)? = nil) {
        self.fallback = fallback
    }

    /// Sets the responses for a URL.
    ///
    /// If there are several responses, the requests receive them in order. The last one repeats.
    public func set(_ answers: Answer..., for url: URL) {
        state.update { $0.answers[url] = answers }
    }

    /// All requests in the order of their arrival.
    public var requests: [LoadRequest] { state.value.requests }
    /// The number of loads that ended because they were canceled.
    public var cancelledCount: Int { state.value.cancelled }
    /// The number of loads that ended for any reason.
    public var finishedCount: Int { state.value.finished }

    /// Waits until `count` loads have started.
    public func waitForRequests(count: Int) async {
        await state.wait { $0.requests.count >= count }
    }

    /// Waits until `count` loads were canceled.
    public func waitForCancellations(count: Int) async {
        await state.wait { $0.cancelled >= count }
    }

    /// Returns `true` for every URL.
    public func canLoad(_ url: URL) -> Bool { true }

    /// Returns the predefined response.
    ///
    /// - Throws: The error of the response, or a ``NetworkError`` with the reason `cannotFindHost` (2002) if there is
    ///   no response for the URL.
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
