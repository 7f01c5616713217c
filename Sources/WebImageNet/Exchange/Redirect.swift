// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The rules of redirects (RFC 9110 15.4; Fetch 4.4): where to, with which method and fields. Pure.
struct Redirect {
    /// Why a redirect is not followed.
    enum Refusal: Error, Equatable {
        /// No redirect, or one without a usable Location: the answer is what it is.
        case none
        /// A place that is not allowed.
        case refused(String)
    }

    /// Where to.
    let url: URL
    /// Whether the place has another origin.
    let isCrossOrigin: Bool
    /// Whether the method changes to GET.
    let becomesGet: Bool

    private static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// Fields that may go to another origin. Everything else could be a secret.
    private static let harmless: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "pragma", "user-agent", "range", "if-range",
        "if-none-match", "if-modified-since",
    ]

    /// What `head`, the answer to `method` at `url`, leads to. `strictTransport` makes https of it where it knows the
    /// host, before anything else is judged (RFC 6797 8.3).
    init(
        _ head: ResponseHead, method: String, from url: URL, allowsDowngrade: Bool,
        strictTransport: StrictTransport? = nil
    ) throws(Refusal) {
        guard Self.statuses.contains(head.status), let location = head.fields["Location"], !location.isEmpty else {
            throw .none
        }
        guard let told = URL(string: Self.encoded(location), relativeTo: url)?.absoluteURL else { throw .none }
        let target = strictTransport?.secured(told) ?? told
        let scheme = target.scheme?.lowercased() ?? ""
        let shown = location.contains("@") ? told.withoutUserInfo.absoluteString : location
        guard scheme == "http" || scheme == "https", target.host()?.isEmpty == false else {
            throw .refused("a redirect to \(shown)")
        }
        let isDowngrade = url.scheme?.lowercased() == "https" && scheme == "http"
        guard allowsDowngrade || !isDowngrade else { throw .refused("a redirect from https to \(shown)") }
        isCrossOrigin = Origin(target) != Origin(url)
        // libcurl would send them as credentials: a server's redirect must not choose what another one receives.
        self.url = isCrossOrigin ? target.withoutUserInfo : target
        let isPostTurned = (head.status == 301 || head.status == 302) && method == "POST"
        becomesGet = isPostTurned || (head.status == 303 && method != "GET" && method != "HEAD")
    }

    /// The fields that go along.
    func fields(_ fields: HTTPFields) -> HTTPFields {
        isCrossOrigin ? Self.withoutSecrets(fields) : fields
    }

    /// The fields that may go to any origin.
    static func withoutSecrets(_ fields: HTTPFields) -> HTTPFields {
        HTTPFields(fields.lines.filter { harmless.contains($0.name.lowercased()) })
    }

    /// What a URL cannot hold is percent-encoded, byte by byte. Foundation would do so too, but would then encode
    /// the percent signs of what is encoded already. A host beyond ASCII is left to Foundation, which makes
    /// punycode of it; UTF-8 then, nearly always.
    private static func encoded(_ location: String) -> String {
        let bytes = location.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let start = pathStart(bytes)
        let host = String(decoding: bytes[..<start], as: UTF8.self)
        let hex = Array("0123456789ABCDEF".unicodeScalars)
        return bytes[start...].reduce(into: host) { text, byte in
            if (33...126).contains(byte), !Self.forbidden.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text.unicodeScalars.append(contentsOf: ["%", hex[Int(byte >> 4)], hex[Int(byte & 15)]])
            }
        }
    }

    /// Not allowed in paths, queries and fragments (RFC 3986).
    private static let forbidden = Set("\"<>[\\]^`{|}".utf8)

    /// Where the path begins behind `//host`; 0 where no host is told.
    private static func pathStart(_ bytes: [UInt8]) -> Int {
        let slash = UInt8(ascii: "/")
        guard
            let first = bytes.firstIndex(where: { $0 == slash || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }),
            bytes[first] == slash, first + 1 < bytes.count, bytes[first + 1] == slash,
            first == 0 || bytes[first - 1] == UInt8(ascii: ":")
        else { return 0 }
        return bytes[(first + 2)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
    }
}
