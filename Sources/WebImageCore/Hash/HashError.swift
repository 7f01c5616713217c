// SPDX-License-Identifier: MIT

/// Why a placeholder's text or bytes are not valid.
enum HashError: Error, Hashable, CustomStringConvertible {
    /// Too short or too long for what it says it contains, in characters (BlurHash) or bytes (ThumbHash).
    case length(expected: Int, actual: Int)
    /// A character that is no digit, and its place, from 0.
    case digit(Character, at: Int)
    /// A number that the format does not allow.
    case value(field: String, value: Int)

    /// A part of a sentence.
    var description: String {
        switch self {
        case .length(let expected, let actual): "its length is \(actual), not \(expected)"
        case .digit(let character, let place): "“\(character)” at \(place) is no digit"
        case .value(let field, let value): "\(value) is no \(field)"
        }
    }

    func error(_ format: String) -> ImageError {
        .decode(.corrupt(format: ImageFormat(rawValue: format), reason: description))
    }
}
