// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore

/// Functions that resolve the operands of a command.
package enum Inputs {
    /// Returns `text` as a URL, or the URL of the file at this path. If no such file exists and the text begins with a
    /// host name, as in `example.org/a.png`, the result is a URL with the scheme of ``scheme(forHostOf:)``.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)`` if `text` isn't a URL and no such file exists, or
    ///   ``ImageError/RequestFailure/invalidURL(_:)`` if `text` is empty or begins with a scheme but isn't a URL.
    package static func url(_ text: String) throws(ImageError) -> URL {
        if FileManager.default.fileExists(atPath: text) { return URL(filePath: text).absoluteURL }
        if hasScheme(text) {
            guard let url = URLText.url(text) else { throw .request(.invalidURL(InputLabel.redacted(text))) }
            return url
        }
        let plain = URLText.withoutIgnoredCharacters(text)
        if beginsWithHost(plain), let url = URLText.url("\(scheme(forHostOf: plain))://\(plain)") { return url }
        throw .request(plain.isEmpty ? .invalidURL(text) : .fileNotFound(path: InputLabel.redacted(text)))
    }

    /// Returns whether `text` looks like a URL without its scheme. A name of a single component with the extension of
    /// an image, such as `photo.png`, is a file name.
    private static func beginsWithHost(_ text: String) -> Bool {
        let text = InputLabel.withoutUser(text)
        if text.hasPrefix("[") { return beginsWithBracketedAddress(text) }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let authority = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let labels = authority[0].split(separator: ".", omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            !label.isEmpty && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
        }
        let hasPort = authority.count == 1 || authority[1].allSatisfy { $0.isASCII && $0.isNumber }
        guard areLabels, hasPort, labels.count > 1 || authority[0] == "localhost" else { return false }
        return parts.count > 1 || authority.count > 1 || !hasImageExtension(text)
    }

    /// Returns whether `text` begins with a URI scheme (RFC 3986, section 3.1) of at least two letters. Text such as
    /// `user:password@example.org`, which has no `//`, begins with user information. Whitespace that the parser of URLs
    /// ignores doesn't count.
    package static func hasScheme(_ text: String) -> Bool {
        let text = URLText.withoutIgnoredCharacters(text)
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        let scheme = text[..<colon]
        // A host name with a port, such as `localhost:8080/a.png`, isn't a scheme.
        let rest = text[text.index(after: colon)...].prefix { $0 != "/" && $0 != "\\" }
        let isPort = !rest.isEmpty && rest.allSatisfy { $0.isASCII && $0.isNumber }
        if isPort, scheme.contains(".") || scheme == "localhost" { return false }
        let hasUser = rest.prefix { $0 != "?" && $0 != "#" }.contains("@")
        if hasUser, scheme.lowercased() != "data" { return false }
        return scheme.count > 1
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// Returns the last path component, which is more informative than the beginning of the path.
    package static func lastPart(_ text: String) -> String {
        let text = URLCredentials.removed(from: text)
        let name = text.lowercased().hasPrefix("data:") ? "" : text.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? shortName(text) : name
    }

    /// Returns a short form of `text` for tables. Web URLs lose their scheme, and data URLs lose their data.
    package static func shortName(_ text: String) -> String {
        let text = URLCredentials.removed(from: text)
        if text.lowercased().hasPrefix("data:") { return String(text.prefix { $0 != "," }.prefix(40)) + ",…" }
        for prefix in ["https://", "http://"] where text.hasPrefix(prefix) {
            return String(text.dropFirst(prefix.count))
        }
        return text
    }
}
