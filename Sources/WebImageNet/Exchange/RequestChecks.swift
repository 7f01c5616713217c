// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The checks of a request before it's sent. All functions are pure.
enum RequestChecks {
    /// `CONNECT` is rejected because it would turn the connection into a tunnel, whose data isn't HTTP.
    static func check(method: String) throws(ImageError) {
        guard !method.isEmpty, method.utf8.allSatisfy(ResponseHeadParser.isTokenByte),
            method.uppercased() != "CONNECT"
        else {
            throw .request(.invalidOption(name: "method", value: method))
        }
    }

    /// Returns whether only the transport may set a header field, because it describes the framing of the message, the
    /// connection, or the host (RFC 9110 7.2, 7.6.1, RFC 9112 6). A caller could smuggle requests with it.
    static func isReserved(_ name: String) -> Bool {
        let name = name.lowercased()
        return reservedNames.contains(name) || name.hasPrefix("proxy-")
    }

    private static let reservedNames: Set<String> = [
        "connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// A line break in a value would inject another header field or request.
    ///
    /// If only the transport may set the header field, the value of the invalid option in the error is `reserved`.
    static func check(_ fields: HTTPHeaderFields) throws(ImageError) {
        for field in fields.lines {
            guard !isReserved(field.name) else {
                throw .request(.invalidOption(name: "header field \(field.name)", value: "reserved"))
            }
            let isValid =
                !field.name.isEmpty && field.name.utf8.allSatisfy(ResponseHeadParser.isTokenByte)
                && isHeaderValue(field.value)
            guard isValid else {
                // The value can be a secret, even if it's invalid.
                let value = HTTPHeaderFields.identifiesUser(field.name) ? "<redacted>" : field.value
                throw .request(.invalidOption(name: "header field \(field.name)", value: value))
            }
        }
    }

    /// Returns whether a value contains only visible ASCII characters, spaces, tabs, and the upper half of Latin-1.
    private static func isHeaderValue(_ text: String) -> Bool {
        if text.utf8.allSatisfy({ (32...126).contains($0) }) { return true }
        return text.unicodeScalars.allSatisfy {
            ($0.value >= 32 || $0 == "\t") && $0.value != 127 && $0.value < 256
        }
    }

    /// libcurl receives the form of the host that was compared with the rules for hosts, so it can't interpret another
    /// spelling differently. Foundation has already encoded the host, the path, and the query, so a remaining non-ASCII
    /// character means an invalid URL. Fragments aren't sent.
    static func asciiURL(_ url: URL) throws(ImageError) -> String {
        guard let host = HostName(of: url), let text = HostName.normalizing(url: url.absoluteString),
            HostName(ofURL: text) == host
        else { throw .request(.invalidURL(URLCredentials.removed(from: url.absoluteString))) }
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard bytes[..<end].allSatisfy({ (33...126).contains($0) }) else {
            throw .request(.invalidURL(URLCredentials.removed(from: text)))
        }
        return end == bytes.endIndex ? text : String(text[..<end])
    }

    /// Returns `nil` if the address policy allows the URL before its name is resolved.
    ///
    /// With a proxy, the connection doesn't reveal the address of the host. So hosts are checked before they're sent to
    /// a proxy, and a proxy that doesn't enforce the policy itself isn't used.
    static func refusal(_ url: URL, _ configuration: ImageDownloader.Configuration) -> String? {
        guard configuration.addressPolicy != .any, let host = HostName(of: url) else { return nil }
        guard configuration.addressPolicy.allows(host) else { return host.text }
        guard case .url(_, enforcesAddressPolicy: false) = configuration.proxy else { return nil }
        return "the proxy isn't declared to enforce the address policy"
    }

    /// Every port is allowed if `ports` is `nil`.
    static func allows(_ url: URL, ports: Set<Int>?) -> Bool { ports?.contains(port(of: url)) ?? true }

    static func portDetail(_ url: URL) -> String { "the port \(port(of: url)) isn't allowed" }

    private static func port(of url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
}
