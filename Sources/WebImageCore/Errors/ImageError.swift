// SPDX-License-Identifier: MIT

import Foundation

/// An error of a request.
///
/// The errors form six families and ``cancelled``. The code of each kind never changes.
public indirect enum ImageError: Error, Sendable, Hashable {
    // The cases are indirect because every function of a request reserves space for its error.

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

    /// A Boolean value that indicates whether the request was canceled. Users usually needn't see such an error.
    public var isCancelled: Bool { self == .cancelled }

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

    /// A message that describes the error and its remedy, in one line without control characters.
    ///
    /// For a failure from the negative cache, the message also contains ``rememberedUntil``.
    public var message: String {
        let message =
            switch self {
            case .cancelled: "The request was canceled."
            case .request(let error): error.message
            case .network(let error): error.message
            case .cache(let error): error.message
            case .decoding(let error): error.message
            case .processing(let error): error.message
            case .limitExceeded(let error): error.message
            }
        // The texts of other failures than decoding failures can come from libraries, servers, and custom code, too.
        let printable = PrintableText.text(message)
        guard let rememberedUntil else { return printable }
        return "\(printable) The manager makes no new attempt before \(rememberedUntil.formatted(.iso8601))."
    }

    /// The date at which the manager removes this failure from its negative cache, or `nil` for a failure that has just
    /// happened.
    ///
    /// If the value isn't `nil`, the same request failed recently, and the manager returned its failure from the
    /// negative cache without a new attempt. The case, the code, and all other properties are those of the first
    /// failure. Only network failures, decoding failures, and limits that ended a download are remembered.
    public var rememberedUntil: Date? {
        switch self {
        case .network(let error): error.rememberedUntil
        case .decoding(let error): error.rememberedUntil
        case .limitExceeded(let error): error.rememberedUntil
        case .cancelled, .request, .cache, .processing: nil
        }
    }

    /// The HTTP status code of the response that caused the error, or `nil` if no response caused it.
    public var httpStatusCode: Int? {
        switch self {
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
    /// If ``rememberedUntil`` isn't `nil`, the manager doesn't send the request again before that date.
    public var isTransient: Bool {
        switch self {
        case .network(let error): error.isTransient
        case .cache(.writesSuspended): true
        default: isOverloaded
        }
    }

    /// A Boolean value that indicates whether the manager rejected the request because too many requests were in
    /// flight.
    public var isOverloaded: Bool {
        if case .limitExceeded(let error) = self { error.kind == .overloaded } else { false }
    }

    /// All failed network attempts of the request in order, including the last failure: retries first, and then
    /// alternatives.
    ///
    /// For a decoding failure, the array contains the attempts that preceded the download. For an error from the
    /// negative cache, it contains the attempts of the original request. For other failures, it's empty.
    public var attempts: [ImageError.NetworkFailure] {
        switch self {
        case .network(var last):
            let earlier = last.earlier
            last.earlier = []
            last.rememberedUntil = nil
            return earlier + [last]
        case .decoding(let error): return error.attempts
        default: return []
        }
    }
}

extension ImageError {
    /// Whether the negative cache can contain the error.
    package var isRememberable: Bool {
        switch self {
        case .network, .decoding: true
        // Other limits can be those of the machine, or their data is stored.
        case .limitExceeded(let failure): failure.freshFor != nil
        case .cancelled, .request, .cache, .processing: false
        }
    }

    /// Returns an error that the negative cache can contain as the negative cache returns it, or other errors unchanged.
    ///
    /// - Parameter date: The date at which the failure expires, or `nil` for the failure as it happened.
    package func remembered(until date: Date?) -> ImageError {
        switch self {
        case .network(var failure):
            failure.rememberedUntil = date
            return .network(failure)
        case .decoding(var failure):
            failure.rememberedUntil = date
            return .decoding(failure)
        case .limitExceeded(var failure) where isRememberable:
            failure.rememberedUntil = date
            return .limitExceeded(failure)
        case .limitExceeded, .cancelled, .request, .cache, .processing: return self
        }
    }
}

extension ImageError: CustomStringConvertible {
    /// The message, followed by the error code in parentheses.
    public var description: String { "\(message) (\(code))" }
}

extension ImageError: LocalizedError {
    /// The message, so that `localizedDescription` is the message, too.
    public var errorDescription: String? { message }
}

extension ImageError: CustomNSError {
    /// The domain of the error as an `NSError`: `WebImage.ImageError`.
    public static var errorDomain: String { "WebImage.ImageError" }

    /// The stable error code.
    public var errorCode: Int { code }

    /// A dictionary with the message as the localized description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}
