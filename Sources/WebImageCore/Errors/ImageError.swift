// SPDX-License-Identifier: MIT

/// An error of a request.
///
/// The errors form six families and ``cancelled``. The code of each kind never changes.
public enum ImageError: Error, Sendable, Hashable {
    /// 1001: A canceled request.
    case cancelled
    /// 1xxx: An error in the request itself.
    case request(ImageError.RequestFailure)
    /// 2xxx: A failure of the network transfer.
    case network(ImageError.NetworkFailure)
    /// 3xxx: A failure of a cache.
    case cache(ImageError.CacheFailure)
    /// 4xxx: A failure to decode the data.
    case decoding(ImageError.DecodingFailure)
    /// 5xxx: A failure of a transformer or an encoder.
    case processing(ImageError.ProcessingFailure)
    /// 6xxx: A value that exceeds a limit of ``ImageLimits`` or of the downloader.
    case limitExceeded(ImageError.LimitFailure)

    /// The stable error code: the number of the family times 1,000, plus the number of the kind.
    public var code: Int {
        switch self {
        case .cancelled: 1001
        case .request(let error): error.code
        case .network(let error): error.code
        case .cache(let error): error.code
        case .decoding(let error): error.code
        case .processing(let error): error.code
        case .limitExceeded(let error): error.code
        }
    }

    /// A message that describes the error and its remedy.
    public var message: String {
        switch self {
        case .cancelled: "The request was canceled."
        case .request(let error): error.message
        case .network(let error): error.message
        case .cache(let error): error.message
        case .decoding(let error): error.message
        case .processing(let error): error.message
        case .limitExceeded(let error): error.message
        }
    }

    /// The original failure if this error comes from the negative cache, or `nil` for a new failure.
    public var remembered: ImageError? {
        if case .cache(.remembered(let cause, _, _)) = self { return cause }
        return nil
    }

    /// The failure itself: the original one if this error comes from the negative cache, otherwise this error.
    ///
    /// To choose an action by error case, switch over this property. The first failure of a source and the failures
    /// that the negative cache returns afterward differ only in their case.
    public var underlying: ImageError {
        var error = self
        while let cause = error.remembered { error = cause }
        return error
    }

    /// The HTTP status code of the response that caused the error, or `nil` if no response caused it.
    ///
    /// For an error from the negative cache, the value is that of the original failure.
    public var httpStatusCode: Int? {
        switch underlying {
        case .network(let error): error.statusCode
        case .decoding(let error): error.statusCode
        default: nil
        }
    }

    /// A Boolean value that indicates whether the same request may succeed later without any change.
    ///
    /// The value is `true` for transient network failures and for responses with the status codes 408, 425, 429, 500,
    /// 502, 503, and 504. It's also `true` if the disk cache suspends writing and if the manager is overloaded.
    ///
    /// For an error from the negative cache, the value is that of the original failure. In this case, the manager
    /// doesn't send the request again before the cache entry expires or is removed.
    public var isTransient: Bool {
        switch underlying {
        case .network(let error): error.isTransient
        case .limitExceeded(let error): error.kind == .overloaded
        case .cache(.writesSuspended): true
        default: false
        }
    }

    /// All failed network attempts of the request in order, including the last failure: retries first, and then
    /// alternatives.
    ///
    /// For a decoding failure, the array contains the attempts that preceded the download. For an error from the
    /// negative cache, it contains the attempts of the original request. For other failures, it's empty.
    public var attempts: [ImageError.NetworkFailure] {
        switch underlying {
        case .network(var last):
            let earlier = last.earlier
            last.earlier = []
            return earlier + [last]
        case .decoding(let error): return error.attempts
        default: return []
        }
    }
}

extension ImageError: CustomStringConvertible {
    /// The message, followed by the error code in parentheses.
    public var description: String { "\(message) (\(code))" }
}
