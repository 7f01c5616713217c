// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The result of a request as it passes back through the interceptors.
public enum RequestAnswer: Sendable {
    /// The response of the manager or of an inner interceptor. Interceptors can change it before they return it.
    case response(ImageResponse)
    /// An image that replaces the response. The manager delivers it unchanged and doesn't store it.
    case image(DecodedImage)
    /// Data that replaces the data of the source. The manager checks it against the limits and decodes and transforms
    /// it as requested, but doesn't store it.
    case data(Data)
}

/// A type that wraps the manager to change, serve, retry, or reject requests.
///
/// Interceptors run in the order of ``ImageManager/Configuration/interceptors``. The first one is the outermost. They
/// run before any cache lookup, on Swift's cooperative thread pool, so the manager delivers images in memory
/// asynchronously. Canceling a request cancels the Swift task in which they run.
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
    typealias Next = @Sendable (ImageRequest) async throws(ImageError) -> RequestAnswer

    /// Serves a request, typically by calling `next` with the request or a changed copy.
    ///
    /// The default implementation returns the result of `next`.
    ///
    /// - Parameters:
    ///   - request: The request to serve.
    ///   - next: A closure that passes a request to the next interceptor.
    /// - Returns: The result of the request.
    /// - Throws: The error with which the request fails, for example ``ImageError/RequestFailure/rejected(reason:)``.
    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> RequestAnswer
}

extension ImageRequestInterceptor {
    /// Returns the result of `next`.
    public func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> RequestAnswer {
        try await next(request)
    }
}
