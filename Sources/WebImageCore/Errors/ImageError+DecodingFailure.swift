// SPDX-License-Identifier: MIT

extension ImageError {
    /// A failure to decode data as an image. The error codes begin at 4001.
    public enum DecodingFailure: Sendable, Hashable {
        /// 4001: Empty data.
        case noData
        /// 4002: Data of an unknown format.
        case unknownFormat
        /// 4003: Data that isn't an image, such as HTML, JSON, or video. If the data came from a server, the error
        /// includes the status code and the content type of the response.
        case notAnImage(ImageFormat, status: Int? = nil, contentType: String? = nil)
        /// 4004: An image for which no coder is registered.
        case noDecoder(ImageFormat)
        /// 4005: Truncated data, with the number of received bytes and, if known, the number of expected bytes.
        case truncated(format: ImageFormat, receivedBytes: Int, expectedBytes: Int?)
        /// 4006: Data that violates the rules of its format.
        case corrupted(format: ImageFormat, reason: String)
        /// 4007: A feature of the format that the decoder doesn't support.
        case unsupportedFeature(format: ImageFormat, feature: String)
        /// 4008: The failures of all coders that accept the data, in the order of the attempts.
        case allDecodersFailed([ImageError.DecodingFailure])
        /// 4009: A decoder result that contradicts the image header.
        case contradictsHeader(format: ImageFormat, reason: String)
        /// 4010: A failed allocation of memory for the pixels.
        case outOfMemory(byteCount: Int)

        /// The stable error code.
        package var code: Int {
            switch self {
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
            }
        }

        /// A message that describes the error and its remedy.
        package var message: String {
            switch self {
            case .noData: "The data is empty."
            case .unknownFormat: "The data isn't in a known image format."
            case .notAnImage(let format, let status, let type):
                "The data is \(format), not an image"
                    + (status.map { " (HTTP status \($0), \(type ?? "no Content-Type"))." } ?? ".")
            case .noDecoder(let format):
                "No registered coder decodes \(format). "
                    + "Enable the package trait for the format or register a coder."
            case .truncated(let format, let received, let expected):
                "The \(format) data is truncated after \(received)"
                    + (expected.map { " of \($0) bytes." } ?? " bytes.")
            case .corrupted(let format, let reason): "The \(format) data is corrupt: \(reason)."
            case .unsupportedFeature(let format, let feature):
                "The \(format) data uses an unsupported feature: \(feature)."
            case .allDecodersFailed(let errors): errors.map(\.message).joined(separator: " ")
            case .contradictsHeader(let format, let reason):
                "The result of the \(format) decoder contradicts the header: \(reason)."
            case .outOfMemory(let bytes): "Can't allocate \(bytes) bytes for the decoded pixels."
            }
        }
    }
}
