// SPDX-License-Identifier: MIT

/// A violation of a limit, with the kind and the value of the limit and the actual value. The error codes begin at
/// 6001.
public struct LimitError: Sendable, Hashable {
    /// The kinds of limits. The raw values are the stable error codes.
    public enum Kind: Int, Sendable, Hashable, CaseIterable {
        /// The limit ``Limits/maxEncodedBytes``.
        case encodedBytes = 6001
        /// The limit ``Limits/maxPixels``.
        case pixels = 6002
        /// The limit ``Limits/maxSide``.
        case side = 6003
        /// The limit ``Limits/maxFrames``.
        case frames = 6004
        /// The limit ``Limits/maxTotalPixels``.
        case totalPixels = 6005
        /// The limit ``Limits/maxDecodedBytes``.
        case decodedBytes = 6006
        /// The limit ``Limits/maxSeconds``.
        case seconds = 6007
        /// The minimum file size for the declared image size. The limit is the size of the smallest possible file, in
        /// bytes.
        case plausibility = 6008
        /// The limit for a part of the file, such as a chunk, a profile, metadata, or the number of scans.
        case structure = 6009
        /// The capacity of the work queue.
        case overloaded = 6010
    }

    /// The kind of the limit.
    public var kind: Kind
    /// The value of the limit in bytes, pixels, or frames. For ``Kind/seconds``, the unit is milliseconds.
    public var limit: Int
    /// The actual value, in the unit of `limit`.
    public var actual: Int
    /// Details that the kind alone doesn't convey, or an empty string.
    public var detail: String

    /// Creates a limit error.
    public init(_ kind: Kind, limit: Int, actual: Int, detail: String = "") {
        self.kind = kind
        self.limit = limit
        self.actual = actual
        self.detail = detail
    }

    /// The stable error code.
    public var code: Int { kind.rawValue }

    /// A message that describes the error and its remedy.
    public var message: String {
        let suffix = detail.isEmpty ? "" : " (\(detail))"
        return switch kind {
        case .encodedBytes: "\(actual) encoded bytes are more than the limit of \(limit)\(suffix)."
        case .pixels: "\(actual) pixels are more than the limit of \(limit)\(suffix)."
        case .side: "A side of \(actual) pixels is longer than the limit of \(limit)\(suffix)."
        case .frames: "\(actual) frames are more than the limit of \(limit)\(suffix)."
        case .totalPixels: "\(actual) pixels over all frames are more than the limit of \(limit)\(suffix)."
        case .decodedBytes: "\(actual) decoded bytes are more than the limit of \(limit)\(suffix)."
        case .seconds: "Decoding took \(actual) ms, more than the limit of \(limit) ms\(suffix)."
        case .plausibility:
            "A file of \(actual) bytes cannot hold a picture of the declared size (at least \(limit))\(suffix)."
        case .structure: "\(actual) is more than the limit of \(limit)\(suffix)."
        case .overloaded: "\(actual) requests are waiting, the limit is \(limit)\(suffix)."
        }
    }
}
