// SPDX-License-Identifier: MIT

/// The parts of a URL in text form, percent-encoded except for the host.
///
/// The parser follows the URL Standard (WHATWG, section 4.4). ``URLText`` lists the differences.
struct URLTextParts {
    /// The scheme in lowercase, or `nil` for a relative reference without a base.
    private var scheme: String?
    /// The user information, the host as written, and the port, or `nil` if there is no authority.
    private var authority: [UInt8]?
    private var path: [UInt8] = []
    private var query: [UInt8]?
    private var fragment: [UInt8]?

    private init(scheme: String? = nil) { self.scheme = scheme }

    var text: String {
        var bytes: [UInt8] = []
        if let scheme { bytes += Array("\(scheme):".utf8) }
        if let authority {
            bytes += Array("//".utf8) + authority
        } else if path.starts(with: "//".utf8) {
            // Without a dot, the path would begin with an authority.
            bytes += Array("/.".utf8)
        }
        return String(decoding: bytes + rest, as: UTF8.self)
    }

    /// The path, the query, and the fragment.
    private var rest: [UInt8] {
        var bytes = path
        if let query { bytes += [UInt8(ascii: "?")] + query }
        if let fragment { bytes += [UInt8(ascii: "#")] + fragment }
        return bytes
    }

    /// Parses a text, which doesn't need to be valid UTF-8. The result is `nil` if the text is empty or isn't a valid
    /// URL. `base` is the URL that a relative reference refers to.
    static func parse(_ text: [UInt8], relativeTo base: URLTextParts? = nil) -> URLTextParts? {
        let bytes = withoutIgnoredBytes(text)[...]
        guard !bytes.isEmpty else { return nil }
        guard let colon = schemeEnd(bytes) else {
            guard let base else { return reference(bytes) }
            return reference(bytes, to: base)
        }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let rest = bytes[(colon + 1)...]
        let kind = Kind(scheme)
        guard kind != .web else {
            if let base, base.scheme == scheme, !rest.starts(with: "//".utf8) { return reference(rest, to: base) }
            return hierarchical(scheme, kind, rest.drop(while: kind.isSlash))
        }
        let slashCount = rest.prefix(2).prefix(while: kind.isSlash).count
        if slashCount == 2 { return hierarchical(scheme, kind, rest.dropFirst(2)) }
        var parts = URLTextParts(scheme: scheme)
        if kind == .file, slashCount == 1 { parts.authority = [] }
        parts.setRest(rest, kind)
        return parts
    }

    /// Returns bytes without those that the URL Standard ignores: control characters and spaces at the ends, and tabs and
    /// line breaks.
    static func withoutIgnoredBytes(_ bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 })
        else { return [] }
        return bytes[first...last].filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    }

    /// Returns a path, a query, and a fragment of a `http` or `https` URL in their encodings. Dot segments remain.
    static func encodedRest(_ text: [UInt8]) -> [UInt8] {
        let (path, query, fragment) = split(text[...])
        var parts = URLTextParts()
        parts.path = URLPartEncoding.path.encoded(path)
        parts.query = query.map(Kind.web.query.encoded)
        parts.fragment = fragment.map(URLPartEncoding.fragment.encoded)
        return parts.rest
    }
}

// MARK: - Schemes

extension URLTextParts {
    /// The kinds of schemes, which have different rules.
    fileprivate enum Kind {
        /// A special scheme whose URLs have a host.
        case web
        case file
        /// Any other scheme, or none.
        case other

        init(_ scheme: String?) {
            switch scheme {
            case "http", "https", "ws", "wss", "ftp": self = .web
            case "file": self = .file
            default: self = .other
            }
        }

        var query: URLPartEncoding { self == .other ? .query : .specialQuery }

        /// Returns whether a byte separates the segments of a path. In the URLs of special schemes, a backslash does.
        func isSlash(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "/") || (self != .other && byte == UInt8(ascii: "\\"))
        }
    }

    /// Returns the index of the colon after the scheme, or `nil` if the text has no scheme.
    private static func schemeEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, isLetter(first), let end = bytes.firstIndex(where: { !isSchemeByte($0) }),
            bytes[end] == UInt8(ascii: ":")
        else { return nil }
        return end
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "+-.".utf8.contains(byte)
    }
}

// MARK: - Authorities

extension URLTextParts {
    /// Parses an authority and the parts after it.
    private static func hierarchical(_ scheme: String?, _ kind: Kind, _ bytes: ArraySlice<UInt8>) -> URLTextParts? {
        let end =
            bytes.firstIndex(where: { kind.isSlash($0) || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
            ?? bytes.endIndex
        guard let authority = encodedAuthority(bytes[..<end], kind) else { return nil }
        var parts = URLTextParts(scheme: scheme)
        parts.authority = authority
        parts.setRest(bytes[end...], kind)
        return parts
    }

    /// Returns an authority with encoded user information, or `nil` if the host or the port isn't valid.
    private static func encodedAuthority(_ bytes: ArraySlice<UInt8>, _ kind: Kind) -> [UInt8]? {
        let at = bytes.lastIndex(of: UInt8(ascii: "@"))
        let location = at.map { bytes[($0 + 1)...] } ?? bytes
        guard let hostEnd = hostEnd(location) else { return nil }
        let hasPort = hostEnd < location.endIndex
        let host = location[..<hostEnd]
        guard isHost(host) else { return nil }
        // The URLs of files have neither user information nor a port.
        let isHostOnly = at == nil && !hasPort
        guard isHostOnly || (kind != .file && !host.isEmpty), kind != .web || !host.isEmpty else { return nil }
        var text = at.map { encodedUserInfo(bytes[..<$0]) } ?? []
        text += host
        let digits = location[hostEnd...].dropFirst()
        if !digits.isEmpty {
            guard let port = port(digits) else { return nil }
            text += Array(":\(port)".utf8)
        }
        return text
    }

    /// Returns the index after the host, or `nil` if the brackets of an IP address aren't valid.
    private static func hostEnd(_ location: ArraySlice<UInt8>) -> Int? {
        guard location.first == UInt8(ascii: "[") else {
            return location.firstIndex(of: UInt8(ascii: ":")) ?? location.endIndex
        }
        guard let bracket = location.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let end = bracket + 1
        return end == location.endIndex || location[end] == UInt8(ascii: ":") ? end : nil
    }

    /// Returns whether no byte is invalid in every host. Foundation and ``HostName`` check the rest.
    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        let isAddress = host.first == UInt8(ascii: "[")
        return host.allSatisfy { byte in
            let isBracket = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
            return byte > 0x20 && byte != 0x7F && !"<>\\^|".utf8.contains(byte) && (isAddress || !isBracket)
        }
    }

    private static func port(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard isDigit(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
            guard number <= 65_535 else { return nil }
        }
        return number
    }

    /// Returns a user name and a password with the at sign after them, or an empty text if both are empty.
    private static func encodedUserInfo(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let user = URLPartEncoding.userInfo.encoded(bytes[..<(colon ?? bytes.endIndex)])
        let password = colon.map { URLPartEncoding.userInfo.encoded(bytes[($0 + 1)...]) } ?? []
        guard !user.isEmpty || !password.isEmpty else { return [] }
        return user + (password.isEmpty ? [] : [UInt8(ascii: ":")] + password) + [UInt8(ascii: "@")]
    }
}

// MARK: - Paths, queries, and fragments

extension URLTextParts {
    private static func reference(_ bytes: ArraySlice<UInt8>) -> URLTextParts? {
        if bytes.starts(with: "//".utf8) { return hierarchical(nil, .other, bytes.dropFirst(2)) }
        var parts = URLTextParts()
        let (path, query, fragment) = split(bytes)
        parts.path = URLPartEncoding.path.encoded(path)
        parts.query = query.map(URLPartEncoding.query.encoded)
        parts.fragment = fragment.map(URLPartEncoding.fragment.encoded)
        return parts
    }

    private static func reference(_ bytes: ArraySlice<UInt8>, to base: URLTextParts) -> URLTextParts? {
        let kind = Kind(base.scheme)
        guard base.authority != nil || base.path.first == UInt8(ascii: "/") else { return nil }
        let slashCount = bytes.prefix(2).prefix(while: kind.isSlash).count
        if slashCount == 2 {
            let rest = kind == .web ? bytes.drop(while: kind.isSlash) : bytes.dropFirst(2)
            return hierarchical(base.scheme, kind, rest)
        }
        var parts = base
        let (path, query, fragment) = split(bytes)
        if !path.isEmpty || query != nil { parts.query = query.map(kind.query.encoded) }
        if !path.isEmpty {
            var whole = Array(path)
            if slashCount == 0 {
                let directory = base.path.lastIndex(of: UInt8(ascii: "/")).map { Array(base.path[...$0]) }
                whole = (directory ?? [UInt8(ascii: "/")]) + whole
            }
            parts.path = normalized(whole[...], kind)
        }
        parts.fragment = fragment.map(URLPartEncoding.fragment.encoded)
        return parts
    }

    /// Sets the path, the query, and the fragment. A path that doesn't begin with a slash is opaque.
    private mutating func setRest(_ bytes: ArraySlice<UInt8>, _ kind: Kind) {
        let (path, query, fragment) = Self.split(bytes)
        let isOpaque = path.first.map { !kind.isSlash($0) } ?? true
        self.path = isOpaque ? URLPartEncoding.path.encoded(path) : Self.normalized(path, kind)
        self.query = query.map(kind.query.encoded)
        self.fragment = fragment.map(URLPartEncoding.fragment.encoded)
    }

    private static func split(
        _ bytes: ArraySlice<UInt8>
    ) -> (path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?, fragment: ArraySlice<UInt8>?) {
        let hash = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[..<hash].firstIndex(of: UInt8(ascii: "?")) ?? hash
        let query = mark < hash ? bytes[(mark + 1)..<hash] : nil
        let fragment = hash < bytes.endIndex ? bytes[(hash + 1)...] : nil
        return (bytes[..<mark], query, fragment)
    }

    /// Returns an encoded path, which begins with a slash, without dot segments.
    private static func normalized(_ path: ArraySlice<UInt8>, _ kind: Kind) -> [UInt8] {
        let all = path.dropFirst().split(omittingEmptySubsequences: false, whereSeparator: kind.isSlash)
        var segments: [ArraySlice<UInt8>] = []
        for (index, segment) in all.enumerated() {
            let dots = dotCount(segment)
            if dots == 0 {
                segments.append(segment)
            } else {
                if dots == 2 { _ = segments.popLast() }
                // A dot segment at the end denotes a directory.
                if index == all.count - 1 { segments.append([]) }
            }
        }
        return segments.reduce(into: []) { text, segment in
            text.append(UInt8(ascii: "/"))
            text += URLPartEncoding.path.encoded(segment)
        }
    }

    /// Returns 1 for a segment with the meaning `.`, 2 for `..`, and 0 for all others. The dots can be percent-encoded.
    private static func dotCount(_ segment: ArraySlice<UInt8>) -> Int {
        var rest = segment
        var count = 0
        while let first = rest.first {
            if first == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.starts(with: "%2e".utf8) || rest.starts(with: "%2E".utf8) {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
            if count > 2 { return 0 }
        }
        return count
    }
}
