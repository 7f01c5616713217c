// SPDX-License-Identifier: MIT

import Foundation

extension URL {
    /// The absolute path of a file URL, without a slash at its end. For any other URL, the value isn't an absolute
    /// path.
    package var absoluteFilePath: String {
        guard isFileURL else { return absoluteString }
        let path = absoluteURL.path(percentEncoded: false)
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
