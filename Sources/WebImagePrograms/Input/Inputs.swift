// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCore

/// What the operands of a command stand for.
package enum Inputs {
    /// `-` and `@FILE` replaced by the lines they hold; blank lines and those that begin with # are left out.
    ///
    /// - Throws: what reading throws.
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

    /// The URL that `text` is, or that of the file it names.
    ///
    /// - Throws: 1002 where it is neither, 1006 where it looks like a path.
    package static func url(_ text: String) throws(ImageError) -> URL {
        if hasScheme(text) {
            guard let url = URL(string: text) else { throw .request(.invalidURL(text)) }
            return url
        }
        if FileManager.default.fileExists(atPath: text) { return URL(filePath: text).absoluteURL }
        throw .request(text.contains("/") || text.contains(".") ? .fileNotFound(path: text) : .invalidURL(text))
    }

    /// Whether `text` begins with a scheme (RFC 3986 3.1) of at least two letters.
    package static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        let scheme = text[..<colon]
        return scheme.count > 1
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// The last part of the path, which says more than its beginning.
    package static func lastPart(_ text: String) -> String {
        let text = URLCredentials.removed(from: text)
        let name = text.lowercased().hasPrefix("data:") ? "" : text.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? shortName(text) : name
    }

    /// What stands for `text` in tables: web addresses without their scheme, data URLs without their data.
    package static func shortName(_ text: String) -> String {
        let text = URLCredentials.removed(from: text)
        if text.lowercased().hasPrefix("data:") { return String(text.prefix { $0 != "," }.prefix(40)) + ",…" }
        for prefix in ["https://", "http://"] where text.hasPrefix(prefix) {
            return String(text.dropFirst(prefix.count))
        }
        return text
    }
}
