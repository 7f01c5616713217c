// SPDX-License-Identifier: MIT

import Foundation

extension ImageError {
    /// A violation of a limit, with the kind and the value of the limit and the actual value. The error codes begin at
    /// 6001.
    public struct LimitFailure: Sendable, Hashable {
        /// The kinds of limits. The raw values are the stable error codes.
        public enum Kind: Int, Sendable, Hashable, CaseIterable {
            /// The limit ``ImageLimits/maxEncodedBytes``.
            case encodedSize = 6001
            /// The limit ``ImageLimits/maxPixels``.
            case pixelCount = 6002
            /// The limit ``ImageLimits/maxDimension``.
            case dimension = 6003
            /// The limit ``ImageLimits/maxFrames``.
            case frameCount = 6004
            /// The limit ``ImageLimits/maxAnimationPixels``.
            case animationPixelCount = 6005
            /// The limit ``ImageLimits/maxDecodedBytes``.
            case decodedSize = 6006
            /// The limit ``ImageLimits/maxDecodingTime``.
            case decodingTime = 6007
            /// The minimum file size for the declared image size. The limit is the size of the smallest possible file,
            /// in bytes.
            case implausibleSize = 6008
            /// The limit for a part of the file, such as a chunk, a profile, metadata, or the number of scans.
            case metadataSize = 6009
            /// The capacity of the work queue.
            case overloaded = 6010
            /// The limit ``ImageLimits/maxSourcePixels``.
            case sourcePixelCount = 6011
            /// The limit ``ImageLimits/maxEncodingTime``.
            case encodingTime = 6012
            /// The limit for a custom value that is stored with a cache entry, which is 1 MiB.
            case userDataSize = 6013
            /// The number of worker threads that are still busy with data of the same format, or with any data, long
            /// after its timeout. Such data is rejected until the threads respond.
            case unresponsiveThreadCount = 6014
            /// The limit ``ImageLimits/maxAnimationDecoders``.
            case animationDecoderCount = 6015
        }

        /// The kind of the limit.
        public let kind: Kind
        /// The value of the limit in bytes, pixels, or frames. For ``ImageError/LimitFailure/Kind/decodingTime``
        /// and ``ImageError/LimitFailure/Kind/encodingTime``, the unit is milliseconds.
        public let limit: Int
        /// The actual value, in the unit of `limit`.
        public let actual: Int
        /// Details that the kind alone doesn't convey, or an empty string.
        package let detail: String

        /// The freshness lifetime of the response in seconds, if the failure ended its download, or `nil` if the
        /// response states none or for other failures.
        package var freshFor: Double?
        /// The date at which the failure expires in the negative cache, or `nil` for a new failure.
        package var rememberedUntil: Date?

        /// Creates a violation of a limit, for custom coders and loaders.
        ///
        /// - Parameters:
        ///   - kind: The kind of the limit.
        ///   - limit: The value of the limit in bytes, pixels, frames, or milliseconds, as the kind says.
        ///   - actual: The actual value, in the unit of `limit`.
        public init(_ kind: Kind, limit: Int, actual: Int) {
            self.init(kind, limit: limit, actual: actual, detail: "")
        }

        /// Creates a violation of a limit with details for the message.
        package init(_ kind: Kind, limit: Int, actual: Int, detail: String) {
            self.kind = kind
            self.limit = limit
            self.actual = actual
            self.detail = detail
        }

        /// The beginning of the details if no encoding of an image is as small as requested.
        package static let smallestEncoding = "the smallest encoded"

        /// Whether no encoding of an image is as small as requested.
        package var concernsEncoding: Bool { kind == .encodedSize && detail.hasPrefix(Self.smallestEncoding) }

        /// The stable error code.
        package var code: Int { kind.rawValue }

        /// A message that describes the error and its remedy.
        package var message: String {
            let suffix = detail.isEmpty ? "" : " (\(SecretNames.removed(from: detail)))"
            return switch kind {
            case .encodedSize: "The encoded data has \(actual) bytes, but the limit is \(limit)\(suffix)."
            case .pixelCount:
                "The image has \(actual) pixels, but the limit is \(limit)\(suffix). "
                    + "Request a smaller size, or raise `maxPixels`."
            case .sourcePixelCount:
                "The image in the file has \(actual) pixels, but the limit is \(limit)\(suffix). "
                    + "To allow larger files, raise `maxSourcePixels`."
            case .dimension: "The longer side has \(actual) pixels, but the limit is \(limit)\(suffix)."
            case .frameCount: "The image has \(actual) frames, but the limit is \(limit)\(suffix)."
            case .animationPixelCount: "All frames together have \(actual) pixels, but the limit is \(limit)\(suffix)."
            case .decodedSize: "The decoded image needs \(actual) bytes, but the limit is \(limit)\(suffix)."
            case .decodingTime where !detail.isEmpty, .encodingTime where !detail.isEmpty:
                "The operation was abandoned after \(actual) ms because its limit is \(limit) ms of processor "
                    + "time\(suffix)."
            case .decodingTime, .encodingTime:
                "The operation used \(actual) ms of processor time, but the limit is \(limit) ms\(suffix)."
            case .implausibleSize:
                "The file has \(actual) bytes, but the declared size needs at least \(limit) bytes\(suffix)."
            case .metadataSize:
                detail.isEmpty
                    ? "A part of the file has the size or count \(actual), but the limit is \(limit)."
                    : "The file has \(actual) \(detail), but the limit is \(limit)."
            case .userDataSize:
                "The custom value has \(actual) bytes, but the limit is \(limit)\(suffix). "
                    + "Store larger data in an entry of its own."
            case .unresponsiveThreadCount:
                "\(actual) threads still work on images\(detail.isEmpty ? "" : " of the kind \(detail)") long after "
                    + "the timeout, and the maximum number is \(limit). Try again later."
            case .animationDecoderCount:
                "\(actual) decoders of animations are in use, but the limit is \(limit)\(suffix). "
                    + "Show fewer animations at the same time, or raise `maxAnimationDecoders`."
            case .overloaded where !detail.isEmpty:
                "The process is overloaded with \(actual) \(detail). The limit is \(limit). Try again later."
            case .overloaded:
                "The manager is overloaded with \(actual) requests. The limit is \(limit)\(suffix). Try again later."
            }
        }
    }
}
