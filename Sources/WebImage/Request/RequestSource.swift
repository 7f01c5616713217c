// SPDX-License-Identifier: MIT

import Foundation

/// What a URL says of the source behind it.
struct RequestSource: Sendable {
    /// The URL's text without its fragment: what identifies the bytes, except those of a file.
    let text: String
    /// Whether it is a file, which may change behind its name.
    let isFile: Bool
    /// Files, data URLs and what is in memory are at hand already: a copy on disk would only double them.
    let isOnThisMachine: Bool
    /// Whether the name may end with a scale (`@2x`).
    let mayTellScale: Bool

    init(_ url: URL) {
        var whole = url.absoluteString
        var fragment: Int?
        var mayTellScale = false
        whole.withUTF8 { bytes in
            for (index, byte) in bytes.enumerated() {
                if byte == UInt8(ascii: "#") {
                    fragment = index
                    break
                }
                // An escape may stand for the sign.
                if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "%") { mayTellScale = true }
            }
        }
        self.mayTellScale = mayTellScale
        isFile = Self.has("file:", whole)
        isOnThisMachine = isFile || Self.has("data:", whole) || Self.has("memory:", whole)
        text = fragment.map { String(decoding: whole.utf8.prefix($0), as: UTF8.self) } ?? whole
    }

    /// Whether `text` begins with `scheme` in any case (RFC 3986 3.1).
    private static func has(_ scheme: StaticString, _ text: String) -> Bool {
        scheme.withUTF8Buffer { scheme in
            text.utf8.count >= scheme.count && zip(text.utf8, scheme).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
    }

    /// What identifies the bytes now: for files their size and time of change too, so that an edited file is another
    /// source.
    func identity(of url: URL) -> String {
        guard isFile else { return text }
        var status = stat()
        guard stat(url.path, &status) == 0 else { return text }
        return "\(text)|\(status.st_size)|\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }
}

/// What identifies the bytes behind a URL.
package enum SourceIdentity {
    /// The URL without its fragment; for files their size and time of change too, so that an edited file is another
    /// source.
    package static func of(_ url: URL) -> String { RequestSource(url).identity(of: url) }
}
