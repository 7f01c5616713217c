// SPDX-License-Identifier: MIT

import WebImageCore

extension CacheKey {
    /// Returns the fields of a key's text.
    ///
    /// Text that doesn't have the form of ``canonical`` ends the list.
    package static func components(ofKey canonical: String) -> [String] {
        var rest = canonical.utf8[...]
        var fields: [String] = []
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")),
            let length = Int(Substring(rest[..<colon])), (0..<rest.count).contains(length),
            let end = rest.index(colon, offsetBy: length + 1, limitedBy: rest.endIndex)
        {
            fields.append(String(Substring(rest[rest.index(after: colon)..<end])))
            rest = rest[end...]
        }
        return fields
    }

    /// Returns the first field that is a URL with an authority or a `file` URL, or `nil` if there is no such field.
    static func source(ofKey canonical: String) -> String? {
        components(ofKey: canonical).lazy.compactMap { field in
            if hasAuthority(field) { return field }
            // The field may itself be the text of a key.
            return components(ofKey: field).first(where: hasAuthority)
        }.first
    }

    private static func hasAuthority(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.utf8.startIndex else {
            return false
        }
        // RFC 3986, section 3.1: a letter, followed by letters, digits, `+`, `-`, or `.`.
        let isScheme = text.utf8[..<colon].enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                index > 0
            default: false
            }
        }
        return isScheme && text.utf8[colon...].starts(with: "://".utf8)
    }

    /// Returns the normal form of the host of a URL with an authority (RFC 3986, section 3.2), or `nil` if it has no
    /// valid host.
    static func host(_ url: String) -> String? { HostName(ofURL: url)?.text }
}
