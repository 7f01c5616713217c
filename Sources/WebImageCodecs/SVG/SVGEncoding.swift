// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import WebImageCore

    /// The conversion of XML in any supported encoding to UTF-8 without a byte order mark.
    enum SVGEncoding {
        private static let encodings: [String: String.Encoding] = [
            "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso-8859-2": .isoLatin2, "us-ascii": .ascii,
            "ascii": .ascii, "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251,
            "windows-1252": .windowsCP1252, "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
            "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC,
        ]

        /// Throws an ``ImageError/DecodingFailure`` if the encoding is unknown or the text isn't valid.
        static func utf8(_ data: Data) throws(ImageError) -> [UInt8] {
            var bytes = [UInt8](data)
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
            if let isBigEndian = utf16Order(bytes) {
                bytes = try fromUTF16(bytes, isBigEndian: isBigEndian)
            } else if let name = declaredName(bytes), name != "utf-8", name != "utf8" {
                guard let encoding = encodings[name] else { throw SVGBounds.unsupported("the encoding \(name)") }
                guard let text = String(data: Data(bytes), encoding: encoding) else { throw invalid }
                bytes = Array(text.utf8)
            }
            guard String(validating: bytes, as: UTF8.self) != nil else { throw invalid }
            guard !bytes.contains(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) else {
                throw SVGBounds.corrupt("it contains control characters")
            }
            return bytes
        }

        private static var invalid: ImageError { SVGBounds.corrupt("the text isn't valid in its encoding") }

        private static func utf16Order(_ bytes: [UInt8]) -> Bool? {
            if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0x00, 0x3C]) { return true }
            if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0x3C, 0x00]) { return false }
            return nil
        }

        private static func fromUTF16(_ bytes: [UInt8], isBigEndian: Bool) throws(ImageError) -> [UInt8] {
            guard bytes.count.isMultiple(of: 2) else { throw invalid }
            let units = stride(from: 0, to: bytes.count, by: 2).map { place in
                let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
                return isBigEndian ? first << 8 | second : second << 8 | first
            }
            guard let text = String(validating: units.drop { $0 == 0xFEFF }, as: UTF16.self) else { throw invalid }
            return Array(text.utf8)
        }

        /// Returns the name in the XML declaration in lowercase letters.
        private static func declaredName(_ bytes: [UInt8]) -> String? {
            let start = String(decoding: bytes.prefix(256), as: UTF8.self)
            guard start.hasPrefix("<?xml"), let end = start.range(of: "?>") else { return nil }
            let declaration = start[..<end.lowerBound]
            guard let key = declaration.range(of: "encoding") else { return nil }
            let rest = declaration[key.upperBound...].drop { $0 == " " || $0 == "=" }
            guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
            return rest.dropFirst().prefix { $0 != quote }.lowercased()
        }
    }
#endif
