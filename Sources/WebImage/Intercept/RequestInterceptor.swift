// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// What a request ends with on its way back through the interceptors.
public enum RequestAnswer: Sendable {
    /// What the manager, or an interceptor further in, answers. Interceptors may change it before they pass it on.
    case response(ImageResponse)
    /// A picture that takes the answer's place, as it is. Not stored.
    case image(Image)
    /// Bytes in place of those of the source: checked against the limits, decoded and transformed as the request says.
    /// Not stored.
    case data(Data)
}

/// Stands between callers and the manager: changes requests, answers them itself, tries them again, or refuses them.
/// Interceptors run in the order of ``ImageManagerConfiguration/interceptors``, the first one outermost, before any
/// cache is looked at, on Swift's cooperative pool. Cancelling a request cancels the Swift task that they run in.
///
/// What concerns the network alone, a signature of every transfer for example, is the work of ``LoadInterceptor``:
/// that one is asked only when something is loaded.
public protocol RequestInterceptor: Sendable {
    /// Passes a request on to the next interceptor, the last one to the manager. May be called any number of times;
    /// events of all calls go to the one task. A second try of what failed wants ``ImageRequest/ignoresFailures``.
    typealias Next = @Sendable (ImageRequest) async throws(ImageError) -> RequestAnswer

    /// Whether ``intercept(_:next:)`` does anything. While an interceptor that does is in the chain, pictures in memory
    /// are delivered soon instead of at once. Default true.
    var interceptsLoads: Bool { get }

    /// The request in place of `request`. Called for everything that is asked of the manager, looks into memory included,
    /// before ``intercept(_:next:)`` of any interceptor; on the caller's thread, and must not block. Default as it is.
    func prepare(_ request: ImageRequest) -> ImageRequest

    /// Answers `request`, commonly with what `next` gives for it or for a changed one. Default that.
    ///
    /// - Throws: whatever the request is to fail with, ``RequestError/refused(reason:)`` for example.
    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> RequestAnswer
}

extension RequestInterceptor {
    /// True.
    public var interceptsLoads: Bool { true }

    /// `request`.
    public func prepare(_ request: ImageRequest) -> ImageRequest { request }

    /// What `next` gives.
    public func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> RequestAnswer {
        try await next(request)
    }
}

/// Changes the options of every request, for example by its host.
public struct OptionsProcessor: RequestInterceptor {
    private let change: @Sendable (inout ImageRequest) -> Void

    /// An interceptor that has every request changed by `change`, on the caller's thread.
    public init(_ change: @escaping @Sendable (inout ImageRequest) -> Void) { self.change = change }

    /// False: pictures in memory are delivered at once.
    public var interceptsLoads: Bool { false }

    /// The changed request.
    public func prepare(_ request: ImageRequest) -> ImageRequest {
        var request = request
        change(&request)
        return request
    }
}

extension RequestInterceptor where Self == OptionsProcessor {
    /// Changes the options of every request.
    public static func options(_ change: @escaping @Sendable (inout ImageRequest) -> Void) -> OptionsProcessor {
        OptionsProcessor(change)
    }
}
