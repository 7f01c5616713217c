// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The properties of a source that follow from its URL.
struct SourceKind: Sendable {
    /// The text of the URL without its fragment, with the host in its normal form. It identifies the data unless the
    /// source is a file.
    let text: String
    let isFile: Bool
    /// Whether the data is already on this machine (files, data URLs, and data in memory), so that storing it on disk
    /// would only duplicate it.
    let isOnThisMachine: Bool
    /// Whether the file name can end with a scale suffix such as `@2x`.
    let mayHaveScaleSuffix: Bool

    init(_ url: URL) {
        var whole = HostName.keyText(ofURL: url.absoluteString)
        var fragment: Int?
        var mayTellScale = false
        whole.withUTF8 { bytes in
            for (index, byte) in bytes.enumerated() {
                if byte == UInt8(ascii: "#") {
                    fragment = index
                    break
                }
                // The sign can be percent-encoded.
                if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "%") { mayTellScale = true }
            }
        }
        self.mayHaveScaleSuffix = mayTellScale
        isFile = Self.has("file:", whole)
        isOnThisMachine = isFile || Self.has("data:", whole) || Self.has("memory:", whole)
        text = fragment.map { String(decoding: whole.utf8.prefix($0), as: UTF8.self) } ?? whole
    }

    /// Returns whether `text` begins with `scheme`. Schemes are case-insensitive (RFC 3986 3.1).
    private static func has(_ scheme: StaticString, _ text: String) -> Bool {
        scheme.withUTF8Buffer { scheme in
            text.utf8.count >= scheme.count && zip(text.utf8, scheme).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
    }

    /// Returns the current identity of the data. For a file, it includes the size and the modification time, so an
    /// edited file is a different source.
    func identity(of url: URL) -> String {
        guard isFile else { return text }
        var status = stat()
        guard stat(url.path, &status) == 0 else { return text }
        return "\(text)|\(status.st_size)|\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }
}

/// The identity of the data at a URL.
package enum SourceKey {
    /// Returns the URL without its fragment. For a file, the result includes the size and the modification time, so an
    /// edited file is a different source.
    package static func of(_ url: URL) -> String { SourceKind(url).identity(of: url) }
}
