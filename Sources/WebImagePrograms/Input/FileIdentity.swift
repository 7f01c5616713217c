// SPDX-License-Identifier: MIT

import Foundation

/// The identity of an existing file, which is the same for all paths that lead to the file.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Creates the identity of the file at a path after symbolic links. Returns `nil` if there's no such file. Blocks.
    package init?(path: String) {
        guard let status = Files.status(path) else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }

    /// Creates the identity of the file at a URL. Returns `nil` if the URL isn't that of an existing file. Blocks.
    package init?(_ url: URL) {
        guard url.isFileURL else { return nil }
        self.init(path: url.path(percentEncoded: false))
    }
}
