// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport

@testable import WebImageCore

/// The target of URLs in text form.
enum URLs {
    static let targets = [
        FuzzTarget(
            text: "url-text", maxLength: 256,
            seeds: [
                "http://us er:p%40ss@host:80/a%20b c.png?u=%E2%82%AC&t=[1]#f", "https:\\\\b\u{FC}cher.example\\..\\a",
                "data:image/svg+xml,<svg a='%23b'/>", "file:///tmp/x%2Fy z.png", "//[::1]/%2e%2E/a", "x:/.//a",
            ],
            dictionary: [
                "http:", "file:", "data:", "//", "\\", "%2e", "..", "%", "@", ":", "[", "\t", "\u{E9}", "?", "#",
            ],
            run: url)
    ]

    private static func url(_ text: String) {
        if let plain = URLText.serialized(text) {
            require(URLText.serialized(plain) == plain, "A serialized URL denotes another URL.")
        }
        guard let url = URLText.url(text) else { return }
        let plain = url.absoluteString
        require(plain.utf8.allSatisfy { (33...126).contains($0) }, "A URL has invalid characters.")
        require(URLText.url(plain)?.absoluteString == plain, "A URL denotes another URL.")
        guard let base = URL(string: "http://a.example/b/c"), let resolved = URLText.url(text, relativeTo: base) else {
            return
        }
        require(resolved.scheme != nil, "A resolved URL has no scheme.")
    }
}
