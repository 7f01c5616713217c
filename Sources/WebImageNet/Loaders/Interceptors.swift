// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Stands between callers and the network: changes requests, answers them itself, refuses them, or looks at answers.
/// Interceptors run in the order of ``DownloaderConfiguration/interceptors``, the first one outermost, on Swift's
/// cooperative pool. Cancelling a load cancels the task that they run in.
public protocol LoadInterceptor: Sendable {
    /// Passes a request on to the next interceptor, the last one to the network. May be called any number of times.
    typealias Next = @Sendable (LoadRequest) async throws(ImageError) -> LoadResponse

    /// Answers `request`, commonly with what `next` gives for it or for a changed one.
    ///
    /// - Throws: whatever the load is to fail with.
    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse
}

/// Changes whole bodies, for example deciphers them. While there is one, parts of a body are not shown: previews
/// and progress begin with the changed body. What is stored is the changed body.
public protocol ResponseInterceptor: Sendable {
    /// The body that takes the place of `body`. Not asked for a 304. Runs on Swift's cooperative pool.
    ///
    /// - Throws: whatever the load is to fail with.
    func body(_ body: Data, head: ResponseHead?, request: LoadRequest) async throws(ImageError) -> Data
}

/// The interceptors of a downloader around its own work.
struct InterceptorChain: Sendable {
    let interceptors: [any LoadInterceptor]
    let responseInterceptors: [any ResponseInterceptor]
    let load: @Sendable (LoadRequest, LoadContext) async throws(ImageError) -> LoadResponse

    func run(_ request: LoadRequest, _ context: LoadContext) async throws(ImageError) -> LoadResponse {
        guard !interceptors.isEmpty || !responseInterceptors.isEmpty else { return try await load(request, context) }
        let inner = responseInterceptors.isEmpty ? context : Self.withholding(context)
        let response = try await run(request, inner, from: 0)
        try Self.check(response.body, request)
        guard !responseInterceptors.isEmpty, !response.isNotModified else { return response }
        return try await change(response, request, context)
    }

    private func run(
        _ request: LoadRequest, _ context: LoadContext, from index: Int
    ) async throws(ImageError) -> LoadResponse {
        guard !Task.isCancelled else { throw .request(.cancelled) }
        guard index < interceptors.count else { return try await load(request, context) }
        return try await interceptors[index].intercept(request) { (changed) async throws(ImageError) in
            try await run(changed, context, from: index + 1)
        }
    }

    private func change(
        _ response: LoadResponse, _ request: LoadRequest, _ context: LoadContext
    ) async throws(ImageError) -> LoadResponse {
        var response = response
        for interceptor in responseInterceptors {
            guard !Task.isCancelled else { throw .request(.cancelled) }
            response.body = try await interceptor.body(response.body, head: response.head, request: request)
            try Self.check(response.body, request)
        }
        context.report(.head(response.head, expected: response.body.count))
        context.report(.body(response.body))
        return response
    }

    /// What interceptors give is limited as what servers give is.
    private static func check(_ body: Data, _ request: LoadRequest) throws(ImageError) {
        guard body.count > request.maxBytes else { return }
        throw .limit(
            LimitError(
                .encodedBytes, limit: request.maxBytes, actual: body.count, detail: request.url.absoluteString))
    }

    /// A context that passes everything on but the answer, and takes the priority of `context`.
    private static func withholding(_ context: LoadContext) -> LoadContext {
        let inner = LoadContext(priority: context.priority) { report in
            switch report {
            case .waiting, .started: context.report(report)
            case .head, .body: break
            }
        }
        context.followPriority(from: inner.priority) { inner.priority = $0 }
        return inner
    }
}
