// SPDX-License-Identifier: MIT

/// A refusal by a limit: which, how high it is, and what was met. Codes 6001 and up.
public struct LimitError: Sendable, Hashable {
    /// The limits there are. Raw values are the stable numbers.
    public enum Kind: Int, Sendable, Hashable, CaseIterable {
        /// ``Limits/maxEncodedBytes``.
        case encodedBytes = 6001
        /// ``Limits/maxPixels``.
        case pixels = 6002
        /// ``Limits/maxSide``.
        case side = 6003
        /// ``Limits/maxFrames``.
        case frames = 6004
        /// ``Limits/maxTotalPixels``.
        case totalPixels = 6005
        /// ``Limits/maxDecodedBytes``.
        case decodedBytes = 6006
        /// ``Limits/maxSeconds``.
        case seconds = 6007
        /// The file is too small for the size it declares; limit is the smallest possible file in bytes.
        case plausibility = 6008
        /// A part of the file (chunk, profile, metadata, scan count) beyond its bound.
        case structure = 6009
        /// The work queue is full.
        case overloaded = 6010
    }

    /// Which limit.
    public var kind: Kind
    /// Its value; bytes, pixels, frames, or milliseconds for seconds.
    public var limit: Int
    /// What was met, in the same unit.
    public var actual: Int
    /// What exactly, where the kind alone does not say it.
    public var detail: String

    /// Creates a refusal.
    public init(_ kind: Kind, limit: Int, actual: Int, detail: String = "") {
        self.kind = kind
        self.limit = limit
        self.actual = actual
        self.detail = detail
    }

    /// The stable number.
    public var code: Int { kind.rawValue }

    /// A sentence a person can act on.
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
