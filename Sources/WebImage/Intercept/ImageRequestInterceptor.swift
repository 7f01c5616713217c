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
/// run before any cache lookup, on Swift's cooperative thread pool. Canceling a request cancels the Swift task in which
/// they run.
///
/// For network aspects, such as signing every transfer, use ``DownloadInterceptor``. It runs only if something is
/// loaded.
public protocol ImageRequestInterceptor: Sendable {
    /// A closure that passes a request to the next interceptor. The last interceptor passes it to the manager.
    ///
    /// You can call it any number of times. The events of all calls go to the same task. To retry a failed request, set
    /// ``ImageRequest/bypassesFailureCache``.
    typealias Next = @Sendable (ImageRequest) async throws(ImageError) -> RequestAnswer

    /// A Boolean value that indicates whether ``intercept(_:next:)`` does anything.
    ///
    /// If it's `true` for any interceptor, the manager delivers images in memory asynchronously. The default is `true`.
    var interceptsLoads: Bool { get }

    /// Returns the request to use instead of `request`.
    ///
    /// The manager calls this method for every request, including memory lookups, and before ``intercept(_:next:)`` of
    /// any interceptor. It runs on the caller's thread and must not block. The default implementation returns the
    /// request unchanged.
    func prepare(_ request: ImageRequest) -> ImageRequest

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
    /// The default value, which is `true`.
    public var interceptsLoads: Bool { true }

    /// Returns the request unchanged.
    public func prepare(_ request: ImageRequest) -> ImageRequest { request }

    /// Returns the result of `next`.
    public func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> RequestAnswer {
        try await next(request)
    }
}

/// An interceptor that changes the options of every request, for example depending on its host.
public struct OptionsProcessor: ImageRequestInterceptor {
    private let change: @Sendable (inout ImageRequest) -> Void

    /// Creates an interceptor that changes every request with `change` on the caller's thread.
    public init(_ change: @escaping @Sendable (inout ImageRequest) -> Void) { self.change = change }

    /// The value `false`, so the manager delivers images in memory synchronously.
    public var interceptsLoads: Bool { false }

    /// Returns the changed request.
    public func prepare(_ request: ImageRequest) -> ImageRequest {
        var request = request
        change(&request)
        return request
    }
}

extension ImageRequestInterceptor where Self == OptionsProcessor {
    /// Returns an interceptor that changes the options of every request.
    public static func options(_ change: @escaping @Sendable (inout ImageRequest) -> Void) -> OptionsProcessor {
        OptionsProcessor(change)
    }
}
