// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCore

/// Functions that resolve the operands of a command.
package enum Inputs {
    /// Returns the operands with `-` and `@FILE` replaced by the lines of these files. Empty lines and lines that begin
    /// with `#` are skipped.
    ///
    /// - Throws: An ``ImageError`` if a file can't be read.
    package static func expanded(_ operands: [String]) throws(ImageError) -> [String] {
        var inputs: [String] = []
        for operand in operands {
            let isList = operand.hasPrefix("@") && !FileManager.default.fileExists(atPath: operand)
            guard operand == "-" || isList else {
                inputs.append(operand)
                continue
            }
            let data = try Files.read(operand == "-" ? "-" : String(operand.dropFirst()), limit: 64 << 20)
            inputs += String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        }
        return inputs
    }

    /// Returns `text` as a URL, or the URL of the file at this path.
    ///
    /// - Throws: Error 1006 if `text` looks like a path but no file exists there, or 1002 if it's neither a URL nor a
    ///   path.
    package static func url(_ text: String) throws(ImageError) -> URL {
        if hasScheme(text) {
            guard let url = URL(string: text) else { throw .request(.invalidURL(text)) }
            return url
        }
        if FileManager.default.fileExists(atPath: text) { return URL(filePath: text).absoluteURL }
        throw .request(text.contains("/") || text.contains(".") ? .fileNotFound(path: text) : .invalidURL(text))
    }

    /// Returns a Boolean value that indicates whether `text` begins with a URI scheme (RFC 3986, section 3.1) of at
    /// least two letters.
    package static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        let scheme = text[..<colon]
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
