// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// What a request must be before anything of it is sent. Pure functions.
enum RequestChecks {
    /// - Throws: 1009 for a method that isn't a token.
    static func check(method: String) throws(ImageError) {
        guard !method.isEmpty, method.utf8.allSatisfy(HeadParser.isTokenByte) else {
            throw .request(.invalidOption(name: "method", value: method))
        }
    }

    /// Line breaks in a field would begin another one, or another request.
    ///
    /// - Throws: 1009 for a name or a value that HTTP can't carry.
    static func check(_ fields: HTTPFields) throws(ImageError) {
        for field in fields.lines {
            let isValid =
                !field.name.isEmpty && field.name.utf8.allSatisfy(HeadParser.isTokenByte) && isFieldValue(field.value)
            guard isValid else {
                throw .request(.invalidOption(name: "header field \(field.name)", value: field.value))
            }
        }
    }

    /// Visible ASCII, blanks and tabs, and the upper half of Latin-1.
    private static func isFieldValue(_ text: String) -> Bool {
        if text.utf8.allSatisfy({ (32...126).contains($0) }) { return true }
        return text.unicodeScalars.allSatisfy {
            ($0.value >= 32 || $0 == "\t") && $0.value != 127 && $0.value < 256
        }
    }

    /// The URL as it is sent, without fragment. Foundation has encoded host, path and query; what isn't ASCII even so
    /// isn't a URL.
    ///
    /// - Throws: 1002 for a URL without host, or with anything but ASCII.
    static func asciiURL(_ url: URL) throws(ImageError) -> String {
        let text = url.absoluteString
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let host = url.host(), !host.isEmpty, bytes[..<end].allSatisfy({ (33...126).contains($0) }) else {
            throw .request(.invalidURL(text))
        }
        return end == bytes.endIndex ? text : String(text[..<end])
    }

    /// With a proxy the connection doesn't show where it leads: an address in the URL itself is judged here.
    static func allows(_ url: URL, _ policy: AddressPolicy) -> Bool {
        guard policy != .any, let address = IPAddress(host: url.host() ?? "") else { return true }
        return policy.allows(address)
    }
}
