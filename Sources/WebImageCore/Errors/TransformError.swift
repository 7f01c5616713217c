// SPDX-License-Identifier: MIT

/// Why a transformer or an encoder gave nothing. Codes 5001 and up.
public enum TransformError: Sendable, Hashable {
    /// 5001: a parameter is NaN, infinite, negative or out of range.
    case invalidParameter(transformer: String, parameter: String, value: String)
    /// 5002: the wanted part lies outside the picture.
    case outsidePicture(transformer: String)
    /// 5003: an app's own transformer failed.
    case failed(transformer: String, reason: String)
    /// 5004: no coder encodes this format.
    case noEncoder(ImageFormat)
    /// 5005: the encoder refused.
    case encodingFailed(format: ImageFormat, reason: String)

    /// The stable number.
    public var code: Int {
        switch self {
        case .invalidParameter: 5001
        case .outsidePicture: 5002
        case .failed: 5003
        case .noEncoder: 5004
        case .encodingFailed: 5005
        }
    }

    /// A sentence a person can act on.
    public var message: String {
        switch self {
        case .invalidParameter(let transformer, let parameter, let value):
            "\(transformer): \(parameter) must not be \(value)."
        case .outsidePicture(let transformer): "\(transformer): the wanted part lies outside the picture."
        case .failed(let transformer, let reason): "\(transformer) failed: \(reason)."
        case .noEncoder(let format): "No coder encodes \(format)."
        case .encodingFailed(let format, let reason): "Encoding as \(format) failed: \(reason)."
        }
    }
}
