// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// Everything that can go wrong, in six families. Each kind has a number that never changes.
public enum ImageError: Error, Sendable, Hashable {
    /// 1xxx: the request itself.
    case request(RequestError)
    /// 2xxx: the way to the server and back.
    case network(NetworkError)
    /// 3xxx: the stores.
    case cache(CacheError)
    /// 4xxx: bytes that do not become a picture. With what was tried on the network in vain before they came.
    case decode(DecodeError, attempts: [NetworkError] = [])
    /// 5xxx: transformers and encoders.
    case transform(TransformError)
    /// 6xxx: a limit of ``Limits`` or of the downloader.
    case limit(LimitError)

    /// The stable number: family × 1000 + kind.
    public var code: Int {
        switch self {
        case .request(let error): error.code
        case .network(let error): error.code
        case .cache(let error): error.code
        case .decode(let error, _): error.code
        case .transform(let error): error.code
        case .limit(let error): error.code
        }
    }

    /// A sentence a person can act on.
    public var message: String {
        switch self {
        case .request(let error): error.message
        case .network(let error): error.message
        case .cache(let error): error.message
        case .decode(let error, _): error.message
        case .transform(let error): error.message
        case .limit(let error): error.message
        }
    }

    /// The failure that is remembered, where this one was answered from memory; nil for what happened just now.
    public var remembered: ImageError? {
        if case .cache(.remembered(let cause, _, _)) = self { return cause }
        return nil
    }

    /// The failure itself: the remembered one if the error was answered from memory, otherwise this error.
    ///
    /// Programs that choose what to do by the case of an error switch over this property, because the first failure of a
    /// source and those that are answered from memory afterward differ in their case only.
    public var underlying: ImageError {
        var error = self
        while let cause = error.remembered { error = cause }
        return error
    }

    /// The HTTP status code of the response that caused the error, also for a remembered failure.
    ///
    /// The value is `nil` if no response caused the error.
    public var httpStatus: Int? {
        switch underlying {
        case .network(let error): error.status
        case .decode(.notAnImage(_, let status, _), _): status
        default: nil
        }
    }

    /// A Boolean value that indicates whether the same request may succeed later without any change.
    ///
    /// The value is `true` for failures of the network that pass, for responses with the status codes 408, 425, 429, 500, 502,
    /// 503, and 504, and if the manager is overloaded. For a remembered failure, the value is that of its cause. The request
    /// isn't sent again before the manager removes the failure.
    public var isRetryable: Bool {
        switch underlying {
        case .network(let error): error.isTransient
        case .limit(let error): error.kind == .overloaded
        case .cache(.suspended): true
        default: false
        }
    }

    /// All that was tried on the network in vain before the request was given up, in order, the last failure included:
    /// retries, then alternatives. Of bytes that do not become a picture, what was tried before they came. Of a remembered
    /// failure, what was tried when it was new. Empty for other failures.
    public var attempts: [NetworkError] {
        switch underlying {
        case .network(var last):
            let earlier = last.earlier
            last.earlier = []
            return earlier + [last]
        case .decode(_, let attempts): return attempts
        default: return []
        }
    }

    /// True for a request that its owner gave up.
    public var isCancelled: Bool {
        if case .request(.cancelled) = self { return true }
        return false
    }
}

extension ImageError: CancellableError {
    /// The error of a request that was canceled.
    package static var cancelled: ImageError { .request(.cancelled) }
}

extension ImageError: CustomStringConvertible {
    /// `message (code)`.
    public var description: String { "\(message) (\(code))" }
}
