// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The checks of a request before it's sent. All functions are pure.
enum RequestChecks {
    /// Checks a method.
    ///
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)`` if the method isn't a token.
    static func check(method: String) throws(ImageError) {
        guard !method.isEmpty, method.utf8.allSatisfy(ResponseHeadParser.isTokenByte) else {
            throw .request(.invalidOption(name: "method", value: method))
        }
    }

    /// Checks header fields. A line break in a value would inject another header field or request.
    ///
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)`` if a name or a value isn't valid in HTTP.
    static func check(_ fields: HTTPHeaderFields) throws(ImageError) {
        for field in fields.lines {
            let isValid =
                !field.name.isEmpty && field.name.utf8.allSatisfy(ResponseHeadParser.isTokenByte)
                && isHeaderValue(field.value)
            guard isValid else {
                throw .request(.invalidOption(name: "header field \(field.name)", value: field.value))
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

    /// Returns the URL to send, without its fragment.
    ///
    /// Foundation has already encoded the host, the path, and the query, so a remaining non-ASCII character means an
    /// invalid URL.
    ///
    /// - Throws: ``ImageError/RequestFailure/invalidURL(_:)`` if the URL has no host or a non-ASCII character.
    static func asciiURL(_ url: URL) throws(ImageError) -> String {
        let text = url.absoluteString
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let host = url.host(), !host.isEmpty, bytes[..<end].allSatisfy({ (33...126).contains($0) }) else {
            throw .request(.invalidURL(text))
        }
        return end == bytes.endIndex ? text : String(text[..<end])
    }

    /// Returns whether the policy allows an IP address in the URL. With a proxy, the connection doesn't reveal this
    /// address.
    static func allows(_ url: URL, _ policy: ImageDownloader.Configuration.AddressPolicy) -> Bool {
        guard policy != .any, let address = IPAddress(host: url.host() ?? "") else { return true }
        return policy.allows(address)
    }
}
