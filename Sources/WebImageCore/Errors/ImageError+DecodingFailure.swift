// SPDX-License-Identifier: MIT

import Foundation

extension ImageError {
    /// A failure to decode data as an image. The error codes begin at 4001.
    public struct DecodingFailure: Sendable, Hashable {
        /// The kinds of decoding failures.
        public enum Reason: Sendable, Hashable {
            /// 4001: Empty data.
            case noData
            /// 4002: Data of an unknown format.
            case unknownFormat
            /// 4003: Data that isn't an image, such as HTML, JSON, or video. If the data came from a server,
            /// ``ImageError/httpStatusCode`` is the status code of the response.
            case notAnImage
            /// 4004: An image for which no coder is registered.
            case noDecoder
            /// 4005: Truncated data, with the number of received bytes and, if known, the number of expected bytes.
            case truncated(receivedBytes: Int, expectedBytes: Int?)
            /// 4006: Data that violates the rules of its format, with the violation.
            case corrupted(String)
            /// 4007: A feature of the format that the decoder doesn't support.
            case unsupportedFeature(String)
            /// 4008: The failures of all coders that accept the data, in the order of the attempts.
            case allDecodersFailed([DecodingFailure])
            /// 4009: A decoder result that contradicts the image header, with the contradiction.
            case contradictsHeader(String)
            /// 4010: A failed allocation of memory for the pixels.
            case outOfMemory(byteCount: Int)
            /// 4011: A crash of the decoder in its helper process, or a response of the helper that violates the rules,
            /// with a description. Other requests aren't affected.
            case decoderCrashed(String)
            /// 4012: Data that may only be decoded in a helper process, with the reason why no helper is available.
            case isolationUnavailable(String)
            /// 4013: Data of a format whose decoder crashed in helper processes too often within a minute, with the number
            /// of crashes and the number of seconds after which the format is decoded again.
            case decoderSuspended(crashCount: Int, seconds: Int)
        }

        /// The kind of the failure. Its texts contain no control characters.
        public let reason: Reason
        /// The format of the data, or `nil` if it's unknown.
        public let format: ImageFormat?
        /// The status code of the response that contained the data, or `nil` if it's unknown. Only failures with the
        /// reason ``Reason/notAnImage`` have it.
        package var statusCode: Int?
        /// The content type of the response that contained the data.
        package var contentType: String?
        /// The response that contained the data. Only failures with ``isForeignData`` have it. It has no effect on
        /// whether two failures are equal.
        package var response = FailedResponse()
        /// The failed network attempts that preceded the download of the data.
        package var attempts: [NetworkFailure] = []
        /// The date at which the failure expires in the negative cache, or `nil` for a new failure.
        package var rememberedUntil: Date?

        /// Creates a decoding failure, for custom coders and tests.
        ///
        /// The initializer replaces control characters and characters that reorder text in the texts of `reason`, because
        /// the messages of libraries can contain parts of hostile files.
        ///
        /// - Parameters:
        ///   - reason: The kind of the failure.
        ///   - format: The format of the data, or `nil` if it's unknown.
        public init(_ reason: Reason, format: ImageFormat? = nil) {
            self.reason = reason.printable
            self.format = format
        }

        /// Whether the data isn't in any image format.
        package var isForeignData: Bool {
            switch reason {
            case .unknownFormat, .notAnImage: true
            default: false
            }
        }

        /// The stable error code.
        package var code: Int {
            switch reason {
            case .noData: 4001
            case .unknownFormat: 4002
            case .notAnImage: 4003
            case .noDecoder: 4004
            case .truncated: 4005
            case .corrupted: 4006
            case .unsupportedFeature: 4007
            case .allDecodersFailed: 4008
            case .contradictsHeader: 4009
            case .outOfMemory: 4010
            case .decoderCrashed: 4011
            case .isolationUnavailable: 4012
            case .decoderSuspended: 4013
            }
        }

        /// A message that describes the error and its remedy.
        package var message: String {
            let data = format.map { "\($0) data" } ?? "data"
            return switch reason {
            case .noData: "The data is empty."
            case .unknownFormat: "The data isn't in a known image format."
            case .notAnImage:
                (format.map { "The data is \($0), not an image" } ?? "The data isn't an image")
                    + (statusCode.map { " (HTTP status \($0), \(contentType ?? "no Content-Type"))." } ?? ".")
            case .noDecoder:
                "No registered coder decodes \(format.map { "\($0)" } ?? "the data"). "
                    + "Enable the package trait for the format or register a coder."
            case .truncated(let received, let expected):
                "The \(data) is truncated after \(received)" + (expected.map { " of \($0) bytes." } ?? " bytes.")
            case .corrupted(let reason): "The \(data) is corrupt: \(reason)."
            case .unsupportedFeature(let feature): "The \(data) uses an unsupported feature: \(feature)."
            case .allDecodersFailed(let errors): errors.map(\.message).joined(separator: " ")
            case .contradictsHeader(let reason):
                "The result of the \(format.map { "\($0) " } ?? "")decoder contradicts the header: \(reason)."
            case .outOfMemory(let bytes): "Can't allocate \(bytes) bytes for the decoded pixels."
            case .decoderCrashed(let reason): "The decoder of the \(data) crashed in its helper process: \(reason)."
            case .isolationUnavailable(let reason):
                "The \(data) may only be decoded in a helper process, but \(reason). "
                    + "Install `webimage-decoder` next to the program, or set the path of the helper."
            case .decoderSuspended(let count, let seconds):
                "The decoder of the \(data) crashed \(count == 1 ? "again" : "\(count) times within a minute"), so it "
                    + "isn't used for another \(seconds) s. Retry later."
            }
        }
    }
}

extension ImageError.DecodingFailure.Reason {
    fileprivate var printable: Self {
        switch self {
        case .corrupted(let text): .corrupted(PrintableText.text(text))
        case .unsupportedFeature(let text): .unsupportedFeature(PrintableText.text(text))
        case .contradictsHeader(let text): .contradictsHeader(PrintableText.text(text))
        case .decoderCrashed(let text): .decoderCrashed(PrintableText.text(text))
        case .isolationUnavailable(let text): .isolationUnavailable(PrintableText.text(text))
        case .noData, .unknownFormat, .notAnImage, .noDecoder, .truncated, .allDecodersFailed, .outOfMemory,
            .decoderSuspended:
            self
        }
    }
}

/// Short forms for the decoders, so that `throw .decoding(.corrupted(format: .png, reason: "…"))` stays readable.
extension ImageError.DecodingFailure {
    package static let noData = Self(.noData)
    package static let unknownFormat = Self(.unknownFormat)

    package static func notAnImage(_ format: ImageFormat, status: Int? = nil, contentType: String? = nil) -> Self {
        var failure = Self(.notAnImage, format: format)
        failure.statusCode = status
        failure.contentType = contentType
        return failure
    }

    package static func noDecoder(_ format: ImageFormat) -> Self { Self(.noDecoder, format: format) }

    package static func truncated(format: ImageFormat, receivedBytes: Int, expectedBytes: Int?) -> Self {
        Self(.truncated(receivedBytes: receivedBytes, expectedBytes: expectedBytes), format: format)
    }

    package static func corrupted(format: ImageFormat, reason: String) -> Self {
        Self(.corrupted(reason), format: format)
    }

    package static func unsupportedFeature(format: ImageFormat, feature: String) -> Self {
        Self(.unsupportedFeature(feature), format: format)
    }

    package static func allDecodersFailed(_ failures: [Self]) -> Self {
        Self(.allDecodersFailed(failures), format: failures.first?.format)
    }

    package static func contradictsHeader(format: ImageFormat, reason: String) -> Self {
        Self(.contradictsHeader(reason), format: format)
    }

    package static func outOfMemory(byteCount: Int) -> Self { Self(.outOfMemory(byteCount: byteCount)) }
}

extension ImageError {
    /// Whether the data is truncated.
    package var isTruncation: Bool {
        guard case .decoding(let failure) = self, case .truncated = failure.reason else { return false }
        return true
    }
}
