// SPDX-License-Identifier: MIT

extension ImageError {
    /// A failure of a transformer or an encoder. The error codes begin at 5001.
    public enum ProcessingFailure: Sendable, Hashable {
        /// 5001: A parameter that's NaN, infinite, negative, or out of range.
        case invalidParameter(transformer: String, parameter: String, value: String)
        /// 5002: A requested area that's outside the image.
        case regionOutsideImage(transformer: String)
        /// 5003: A failure of a custom transformer.
        case transformerFailed(transformer: String, reason: String)
        /// 5004: A format that no coder encodes.
        case noEncoder(ImageFormat)
        /// 5005: A failure of an encoder.
        case encodingFailed(format: ImageFormat, reason: String)

        /// The stable error code.
        package var code: Int {
            switch self {
            case .invalidParameter: 5001
            case .regionOutsideImage: 5002
            case .transformerFailed: 5003
            case .noEncoder: 5004
            case .encodingFailed: 5005
            }
        }

        /// A message that describes the error and its remedy.
        package var message: String {
            switch self {
            case .invalidParameter(let transformer, let parameter, let value):
                "\(transformer): \(value) isn't valid for \(parameter)."
            case .regionOutsideImage(let transformer):
                "\(transformer): the requested area contains no pixels of the image."
            case .transformerFailed(let transformer, let reason): "\(transformer) failed: \(reason)."
            case .noEncoder(let format):
                "No registered coder encodes \(format). "
                    + "Enable the package trait for the format or register a coder."
            case .encodingFailed(let format, let reason): "Encoding as \(format) failed: \(reason)."
            }
        }
    }
}
