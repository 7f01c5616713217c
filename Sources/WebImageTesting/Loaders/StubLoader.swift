// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageConcurrency

/// A loader that returns predefined responses and records its requests. This class is thread-safe.
public final class StubLoader: ImageLoader {
    /// The predefined response for a URL.
    public struct Response: Sendable {
        /// The response head, which is reported and returned, or `nil` if there is none.
        public var httpResponse: HTTPResponseHead?
        /// The body, in the chunks in which it's reported.
        public var chunks: [Data]
        /// The error that is thrown after the chunks instead of returning a response.
        public var error: ImageError?
        /// A gate to wait for before the head is reported.
        public var responseGate: TestGate?
        /// A gate to wait for after the first chunk.
        public var bodyGate: TestGate?

        /// Creates a response with the status 200 and a body with a single chunk. The default body is empty.
        public init(_ body: Data = Data()) {
            self.init(body: body)
        }

        /// Creates a response that fails with `error` after its head, which has the status 200, and an empty body.
        public init(error: ImageError) {
            self.init(body: Data(), error: error)
        }

        /// Creates a response. By default, it has the status 200 and a body with a single chunk.
        package init(
            body: Data = Data(), httpResponse: HTTPResponseHead? = HTTPResponseHead(statusCode: 200),
            chunks: [Data]? = nil,
            error: ImageError? = nil, responseGate: TestGate? = nil, bodyGate: TestGate? = nil
        ) {
            self.httpResponse = httpResponse
            self.chunks = chunks ?? [body]
            self.error = error
            self.responseGate = responseGate
            self.bodyGate = bodyGate
        }
    }

    private struct State: Sendable {
        var responses: [URL: [Response]] = [:]
        var requests: [LoadRequest] = []
        var started = 0
        var cancelled = 0
        var finished = 0
    }

    private let state = AwaitableValue(State())
    private let fallback: (@Sendable (LoadRequest) -> Response)?

    /// Creates a loader.
    ///
    /// - Parameter fallback: A closure that returns the response for a URL without a predefined one.
    public init(fallback: (@Sendable (LoadRequest) -> Response)? = nil) {
        self.fallback = fallback
    }

    /// Sets the responses for a URL.
    ///
    /// If there are several responses, the requests receive them in order. The last one repeats.
    public func respond(to url: URL, with responses: Response...) {
        state.update { $0.responses[url] = responses }
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
    /// - Throws: The error of the response, or an ``ImageError/NetworkFailure`` with the reason `cannotFindHost` if
    ///   there is no response for the URL.
    public func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let stored = state.update { state -> Response? in
            state.requests.append(request)
            guard var responses = state.responses[request.url], let first = responses.first else { return nil }
            if responses.count > 1 {
                responses.removeFirst()
                state.responses[request.url] = responses
            }
            return first
        }
        defer { state.update { $0.finished += 1 } }
        guard let response = stored ?? fallback?(request) else {
            throw .network(
                ImageError.NetworkFailure(.cannotFindHost, url: request.url, phase: .nameResolution))
        }
        return try await deliver(response, request, context)
    }

    private func deliver(
        _ response: Response, _ request: LoadRequest, _ context: LoadContext
    ) async throws(ImageError) -> LoadResponse {
        let requestTime = Date()
        context.report(.started)
        await response.responseGate?.wait()
        try checkCancellation()
        let size = response.chunks.reduce(0) { $0 + $1.count }
        if response.httpResponse != nil || response.error == nil {
            context.report(.head(response.httpResponse, expected: size))
        }
        for (index, part) in response.chunks.enumerated() {
            if index == 1 { await response.bodyGate?.wait() }
            try checkCancellation()
            context.report(.body(part))
        }
        if response.chunks.count < 2 { await response.bodyGate?.wait() }
        try checkCancellation()
        if let error = response.error { throw error }
        return LoadResponse(
            httpResponse: response.httpResponse, body: response.chunks.reduce(into: Data()) { $0.append($1) },
            url: request.url,
            requestDate: requestTime, responseDate: Date())
    }

    private func checkCancellation() throws(ImageError) {
        guard Task.isCancelled else { return }
        state.update { $0.cancelled += 1 }
        throw .cancelled
    }
}
