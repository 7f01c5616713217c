// SPDX-License-Identifier: MIT

import WebImageCore

/// A type that wraps the manager to change, serve, retry, or reject requests.
///
/// Interceptors run in the order of ``ImageManager/Configuration/interceptors``. The first one is the outermost. They
/// run before any cache lookup, on Swift's cooperative thread pool, so the manager delivers images in memory
/// asynchronously. If an interceptor doesn't need to see requests that an image in memory serves, implement
/// ``appliesToMemoryHits``. Canceling a request cancels the Swift task in which they run.
///
/// To serve a request with an image, return an ``ImageResponse`` without calling `next`. The manager delivers the image
/// unchanged and doesn't store it. To serve a request with data, pass a request with this data to `next`:
///
/// ```swift
/// var local = ImageRequest(data: data)
/// local.decoding = request.decoding
/// local.transformers = request.transformers
/// local.usesDefaultTransformers = request.usesDefaultTransformers
/// return try await next(local)
/// ```
///
/// Interceptors also wrap requests for original data, such as those of ``ImageManager/data(for:)-(ImageRequest)``. For
/// them, the manager decodes nothing. ``ImageResponse/originalData`` of its response is the data, and
/// ``ImageResponse/image`` is a transparent placeholder of one pixel. If an interceptor returns a response without data,
/// the result is its image in the PNG format.
///
/// To change only options of requests, use ``ImageManager/Configuration/requestModifier``. It doesn't delay images in
/// memory.
///
/// For network aspects, such as signing every transfer, use ``DownloadInterceptor``. It runs only if something is
/// loaded.
public protocol ImageRequestInterceptor: Sendable {
    /// A closure that passes a request to the next interceptor. The last interceptor passes it to the manager.
    ///
    /// You can call it any number of times. The events of all calls go to the same task. To retry a failed request, set
    /// ``ImageRequest/CachingOptions/bypassesFailureCache``.
    typealias Next = @Sendable (ImageRequest) async throws(ImageError) -> ImageResponse

    /// A Boolean value that indicates whether the interceptor also wraps requests that an image in memory serves.
    ///
    /// If the value is `false`, the manager doesn't call ``intercept(_:next:)`` for a request if an image in memory
    /// serves it without contacting the server. If the value is `false` for all interceptors of a manager, it delivers
    /// such images synchronously, as without interceptors. A stale image doesn't count if the request would revalidate
    /// it, also in the background. Requests for original data always pass through the interceptor.
    ///
    /// The default is `true`. Keep it for interceptors that restrict the access to images or that change requests in a
    /// way that selects other images. The manager reads the value once, when it's created.
    var appliesToMemoryHits: Bool { get }

    /// Serves a request, typically by calling `next` with the request or a changed copy.
    ///
    /// The default implementation returns the response of `next`.
    ///
    /// - Parameters:
    ///   - request: The request to serve.
    ///   - next: A closure that passes a request to the next interceptor.
    /// - Returns: The response to the request.
    /// - Throws: The error with which the request fails, for example ``ImageError/RequestFailure/rejected(reason:)``.
    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse
}

extension ImageRequestInterceptor {
    /// `true` because an interceptor may restrict the access to images.
    public var appliesToMemoryHits: Bool { true }

    /// Returns the response of `next`.
    public func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        try await next(request)
    }
}
