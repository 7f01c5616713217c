// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// Values that the targets share.
enum Sample {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let later = now.addingTimeInterval(1_000)
    static let page = url("https://a.example/b/c")
    static let otherPage = url("https://b.example/b/c")

    private static func url(_ text: String) -> URL {
        guard let url = URL(string: text) else { fatalError("\(text) isn’t a URL.") }
        return url
    }

    /// Returns header fields from lines of the form `name: value`. Other lines are skipped.
    static func fields(_ text: some StringProtocol) -> HTTPHeaderFields {
        HTTPHeaderFields(
            text.split(separator: "\n").compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                return HTTPHeaderFields.Field(name: String(line[..<colon]), value: value)
            })
    }

    /// Returns whether text has a character that would end a header field or a C string.
    static func breaksHeader(_ text: String) -> Bool { text.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }
}
