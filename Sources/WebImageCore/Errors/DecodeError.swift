// SPDX-License-Identifier: MIT

/// Why bytes do not become a picture. Codes 4001 and up.
public enum DecodeError: Sendable, Hashable {
    /// 4001: no bytes at all.
    case empty
    /// 4002: the bytes are of no known format.
    case unknownFormat
    /// 4003: the bytes are something else than a picture: HTML, JSON, a film. With the status and Content-Type under
    /// which they came, where a server sent them.
    case notAnImage(ImageFormat, status: Int? = nil, contentType: String? = nil)
    /// 4004: a picture, but no coder for it is present.
    case noCoder(ImageFormat)
    /// 4005: the data ends too early. `received` of `expected` bytes where that is known.
    case truncated(format: ImageFormat, received: Int, expected: Int?)
    /// 4006: the data breaks its format's rules.
    case corrupt(format: ImageFormat, reason: String)
    /// 4007: allowed by the format, not by this decoder.
    case unsupported(format: ImageFormat, feature: String)
    /// 4008: every coder that claimed the data failed; their errors in order.
    case allCodersFailed([DecodeError])
    /// 4009: a decoder's result contradicts the header it was given.
    case inconsistent(format: ImageFormat, reason: String)
    /// 4010: memory for the pixels could not be had.
    case outOfMemory(bytes: Int)

    /// The stable number.
    public var code: Int {
        switch self {
        case .empty: 4001
        case .unknownFormat: 4002
        case .notAnImage: 4003
        case .noCoder: 4004
        case .truncated: 4005
        case .corrupt: 4006
        case .unsupported: 4007
        case .allCodersFailed: 4008
        case .inconsistent: 4009
        case .outOfMemory: 4010
        }
    }

    /// A sentence a person can act on.
    public var message: String {
        switch self {
        case .empty: "There is no data."
        case .unknownFormat: "The data is of no known picture format."
        case .notAnImage(let format, let status, let type):
            "The data is \(format), not a picture"
                + (status.map { " (status \($0), \(type ?? "no Content-Type"))." } ?? ".")
        case .noCoder(let format): "No coder for \(format) is present."
        case .truncated(let format, let received, let expected):
            "The \(format) data ends too early, after \(received)"
                + (expected.map { " of \($0) bytes." } ?? " bytes.")
        case .corrupt(let format, let reason): "The \(format) data is damaged: \(reason)."
        case .unsupported(let format, let feature): "This \(format) uses \(feature), which is not supported."
        case .allCodersFailed(let errors): errors.map(\.message).joined(separator: " ")
        case .inconsistent(let format, let reason): "The \(format) decoder contradicts the header: \(reason)."
        case .outOfMemory(let bytes): "\(bytes) bytes for the pixels could not be had."
        }
    }
}
