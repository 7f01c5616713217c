// SPDX-License-Identifier: MIT

/// A namespace for names of files as text.
///
/// The names of files consist of any bytes, but a `String` contains only Unicode. Each byte that isn't valid UTF-8 becomes
/// a character from U+10FE80 to U+10FEFF, which is reserved for private use. Such text can be split and compared like
/// other names, and ``cString(_:)`` returns the original bytes.
package enum FileNameText {
    /// The sum of this number and a byte is the number of its character.
    private static let base: UInt32 = 0x10_FE00

    /// Returns the text of the bytes of a name.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self), !hasEscapes(text) { return text }
        var scalars = String.UnicodeScalarView()
        var position = 0
        while position < bytes.count {
            let scalar = scalar(in: bytes, at: position)
            scalars.append(scalar ?? escape(bytes[position]))
            position += scalar.map { UTF8.width($0) } ?? 1
        }
        return String(scalars)
    }

    /// Returns the text of a name that ends with a zero byte.
    package static func text(of cString: UnsafePointer<CChar>) -> String {
        var bytes: [UInt8] = []
        var next = cString
        while next.pointee != 0 {
            bytes.append(UInt8(bitPattern: next.pointee))
            next += 1
        }
        return text(of: bytes)
    }

    /// Returns the bytes of a name, which end with a zero byte.
    package static func cString(_ text: String) -> [CChar] {
        guard hasEscapes(text) else { return Array(text.utf8CString) }
        var bytes: [CChar] = []
        for scalar in text.unicodeScalars {
            if isEscape(scalar) {
                bytes.append(CChar(truncatingIfNeeded: scalar.value - base))
            } else {
                for byte in UTF8.encode(scalar) ?? .init() { bytes.append(CChar(bitPattern: byte)) }
            }
        }
        return bytes + [0]
    }

    /// Returns whether text contains a byte that isn't valid UTF-8.
    package static func hasEscapes(_ text: String) -> Bool {
        // All escapes begin with this byte, which is rare.
        text.utf8.contains(0xF4) && text.unicodeScalars.contains(where: isEscape)
    }

    /// Returns whether a character represents a byte that isn't valid UTF-8.
    static func isEscape(_ scalar: Unicode.Scalar) -> Bool { (base + 0x80...base + 0xFF).contains(scalar.value) }

    private static func escape(_ byte: UInt8) -> Unicode.Scalar {
        // Bytes below 0x80 are valid. The numbers of all others are those of characters.
        Unicode.Scalar(base + UInt32(byte)) ?? "\u{FFFD}"
    }

    /// Returns the character that begins at a position, or `nil` if its byte must be escaped.
    private static func scalar(in bytes: [UInt8], at position: Int) -> Unicode.Scalar? {
        let length: Int
        switch bytes[position] {
        case ..<0x80: length = 1
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF4: length = 4
        default: return nil
        }
        guard position + length <= bytes.count,
            let text = String(validating: bytes[position..<position + length], as: UTF8.self),
            let scalar = text.unicodeScalars.first, !isEscape(scalar)
        else { return nil }
        return scalar
    }
}
