// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// Files that only the current user may read.
enum OwnerOnlyFile {
    /// Writes a temporary file with mode 0600 and renames it, so a partial file is never visible. If the path is that
    /// of a symbolic link, its target is replaced.
    ///
    /// Files left over from killed processes cause no conflicts because their names are random.
    static func write(_ bytes: Data, to path: String) throws(ImageError) {
        try FileReplacement.write(
            CollectionOfOne(bytes), to: Array(path.utf8CString), named: path, mode: .ownerOnly)
    }
}
