// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// A type that intercepts requests before they reach the network.
///
/// An interceptor can change the method, the URL, the header fields, and the other properties of a request. It can also
/// respond to the request, reject it, or inspect the response. ``LoadRequest/userInfo`` and ``LoadRequest/cacheKey``
/// identify the image request. If the downloader rejects a response, `next` throws an ``ImageError/NetworkFailure``
/// that contains the status and the header fields of the response.
///
/// Interceptors run on Swift's cooperative pool in the order of ``ImageDownloader/Configuration/interceptors``, with the
/// outermost first. Canceling a load cancels the task in which they run.
public protocol DownloadInterceptor: Sendable {
    /// A closure that passes a request on to the next interceptor or, after the last one, to the network. It can be
    /// called any number of times.
    typealias Next = @Sendable (LoadRequest) async throws(ImageError) -> LoadResponse

    /// Returns the response to a request, usually by calling `next` with the request or a changed one.
    ///
    /// - Throws: The error with which the load fails.
    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse
}

/// A type that transforms complete bodies, for example to decrypt them.
///
/// If a downloader has such interceptors, previews and progress begin with the transformed body, and the cache stores
/// the transformed body.
public protocol ResponseBodyModifier: Sendable {
    /// Returns the body that replaces `body`. This method runs on Swift's cooperative pool and isn't called for a 304
    /// response.
    ///
    /// - Throws: The error with which the load fails.
    func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError) -> Data
}

/// The interceptors that wrap the work of a downloader.
struct InterceptorChain: Sendable {
    let interceptors: [any DownloadInterceptor]
    let responseInterceptors: [any ResponseBodyModifier]
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
        guard !Task.isCancelled else { throw .cancelled }
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
            guard !Task.isCancelled else { throw .cancelled }
            response.body = try await interceptor.modify(response.body, of: response.httpResponse, for: request)
            try Self.check(response.body, request)
        }
        context.report(.head(response.httpResponse, expected: response.body.count))
        context.report(.body(response.body))
        return response
    }

    /// Applies the size limit of the request to bodies from interceptors.
    private static func check(_ body: Data, _ request: LoadRequest) throws(ImageError) {
        guard body.count > request.maxByteCount else { return }
        throw .limitExceeded(
            ImageError.LimitFailure(
                .encodedSize, limit: request.maxByteCount, actual: body.count,
                detail: SecretNames.removed(from: request.url.absoluteString)))
    }

    /// Returns a context that passes on all reports except the head and the body, and follows the priority of
    /// `context`.
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
