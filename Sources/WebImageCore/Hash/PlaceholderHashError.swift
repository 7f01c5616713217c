// SPDX-License-Identifier: MIT

/// A problem with the text or the bytes of a placeholder.
enum PlaceholderHashError: Error, Hashable, CustomStringConvertible {
    /// A length that doesn't match the declared content, in characters (BlurHash) or bytes (ThumbHash).
    case length(expected: Int, actual: Int)
    /// A character that isn't a digit, and its position, counted from 0.
    case digit(Character, at: Int)
    case invalidValue(name: String, value: Int)

    /// A description that becomes part of a sentence.
    var description: String {
        switch self {
        case .length(let expected, let actual): "its length is \(actual), not \(expected)"
        case .digit(let character, let place): "“\(character)” at position \(place) isn't a digit"
        case .invalidValue(let field, let value): "\(value) isn't a valid \(field)"
        }
    }

    func error(_ format: String) -> ImageError {
        .decoding(.corrupted(format: ImageFormat(rawValue: format), reason: description))
    }
}
