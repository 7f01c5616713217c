// SPDX-License-Identifier: MIT

/// What can be wrong with a request itself. Codes 1001 and up.
public enum RequestError: Sendable, Hashable {
    /// 1001: the request was cancelled by whoever made it.
    case cancelled
    /// 1002: the text is no usable URL.
    case invalidURL(String)
    /// 1003: no loader takes this scheme.
    case unsupportedScheme(String)
    /// 1004: a length is NaN, infinite, zero, negative or beyond reason.
    case invalidSize(String)
    /// 1005: a `data:` URL that cannot be read.
    case invalidDataURL(String)
    /// 1006: no such file.
    case fileNotFound(path: String)
    /// 1007: a file that cannot be read.
    case fileUnreadable(path: String, errno: Int32)
    /// 1008: the picture has fewer frames.
    case noSuchFrame(index: Int, count: Int)
    /// 1009: an option's value is out of its range.
    case invalidOption(name: String, value: String)
    /// 1010: the manager was shut down.
    case managerClosed
    /// 1011: an interceptor of the app does not allow the request.
    case refused(reason: String)
    /// 1012: the app's own source of the request ended with an error of its own.
    case sourceFailed(reason: String)
    /// 1013: the request makes its picture itself: there are no original bytes.
    case noOriginal

    /// What an app's own function threw, as one of these errors.
    package static func source(_ error: any Error) -> ImageError {
        switch error {
        case let error as ImageError: error
        case is CancellationError: .request(.cancelled)
        default: .request(.sourceFailed(reason: "\(error)"))
        }
    }

    /// The stable number.
    public var code: Int {
        switch self {
        case .cancelled: 1001
        case .invalidURL: 1002
        case .unsupportedScheme: 1003
        case .invalidSize: 1004
        case .invalidDataURL: 1005
        case .fileNotFound: 1006
        case .fileUnreadable: 1007
        case .noSuchFrame: 1008
        case .invalidOption: 1009
        case .managerClosed: 1010
        case .refused: 1011
        case .sourceFailed: 1012
        case .noOriginal: 1013
        }
    }

    /// A sentence a person can act on.
    public var message: String {
        switch self {
        case .cancelled: "The request was cancelled."
        case .invalidURL(let text): "“\(URLCredentials.removed(from: text))” is not a usable URL."
        case .unsupportedScheme(let scheme): "No loader takes URLs of the scheme “\(scheme)”."
        case .invalidSize(let text): "The size \(text) is not a positive, finite length."
        case .invalidDataURL(let reason): "The data URL cannot be read: \(reason)."
        case .fileNotFound(let path): "There is no file at \(path)."
        case .fileUnreadable(let path, let errno): "The file \(path) cannot be read (errno \(errno))."
        case .noSuchFrame(let index, let count): "Frame \(index) was asked for, but the picture has \(count)."
        case .invalidOption(let name, let value): "The value \(value) is not allowed for \(name)."
        case .managerClosed: "The manager was shut down."
        case .refused(let reason): "The request was refused: \(reason)."
        case .sourceFailed(let reason): "The request's own source failed: \(reason)."
        case .noOriginal: "The request makes its picture itself; it has no original bytes. Ask for it encoded."
        }
    }
}
