// SPDX-License-Identifier: MIT

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

    /// Returns the lowercase host of a URL with an authority (RFC 3986, section 3.2), or `nil` if the host is empty.
    static func host(_ url: String) -> String? {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        var authority = bytes[bytes.index(colon, offsetBy: 3)...].prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[authority.index(after: at)...] }
        if authority.first == UInt8(ascii: "[") {
            authority = authority.prefix { $0 != UInt8(ascii: "]") }.dropFirst()
        } else {
            authority = authority.prefix { $0 != UInt8(ascii: ":") }
        }
        let host = String(Substring(authority)).lowercased()
        return host.isEmpty ? nil : host
    }
}
