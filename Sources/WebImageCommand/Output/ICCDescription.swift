// SPDX-License-Identifier: MIT

/// A parser for the name of an ICC color profile, which is stored in the tag `desc` (ICC.1:2022, section 9.2.41). The
/// type of the tag is `desc` (ICC.1:2001-04, section 6.5.17) or `mluc` (ICC.1:2022, section 10.15). Profiles are
/// untrusted input, so every offset is checked.
package enum ICCDescription {
    /// Returns the name of a profile, in English if it's available. Returns `nil` if the profile has no name or is
    /// corrupt.
    package static func text(of profile: [UInt8]) -> String? {
        guard let count = number(profile, at: 128), count <= 200 else { return nil }
        for index in 0..<count {
            let entry = 132 + 12 * index
            guard let signature = number(profile, at: entry) else { return nil }
            guard signature == 0x6465_7363 else { continue }
            guard let offset = number(profile, at: entry + 4), let size = number(profile, at: entry + 8),
                let tag = slice(profile, offset, size)
            else { return nil }
            return cleaned(name(inTag: tag))
        }
        return nil
    }

    private static func name(inTag tag: [UInt8]) -> String? {
        switch number(tag, at: 0) {
        case 0x6465_7363:
            guard let length = number(tag, at: 8), let bytes = slice(tag, 12, length) else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        case 0x6D6C_7563: return localizedName(tag)
        default: return nil
        }
    }

    private static func localizedName(_ tag: [UInt8]) -> String? {
        guard let count = number(tag, at: 8), let recordSize = number(tag, at: 12), recordSize >= 12, count <= 1_000
        else { return nil }
        var first: String?
        for index in 0..<count {
            let record = 16 + index * recordSize
            guard let language = slice(tag, record, 2), let length = number(tag, at: record + 4),
                let offset = number(tag, at: record + 8), let bytes = slice(tag, offset, length)
            else { return first }
            let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            let text = String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
            if language == Array("en".utf8) { return text }
            first = first ?? text
        }
        return first
    }

    private static func cleaned(_ name: String?) -> String? {
        guard let name, !name.isEmpty else { return nil }
        return DisplayText.safe(String(name.prefix(200)))
    }

    /// Returns a big-endian 32-bit number, or `nil` past the end.
    private static func number(_ bytes: [UInt8], at offset: Int) -> Int? {
        slice(bytes, offset, 4).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    private static func slice(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> [UInt8]? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return Array(bytes[offset..<(offset + count)])
    }
}
