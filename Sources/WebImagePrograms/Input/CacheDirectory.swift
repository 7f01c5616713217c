// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The directory of the programs' disk cache.
package enum CacheDirectory {
    /// Returns `path` as an absolute path, or the default directory of the tool if `path` is `nil`.
    package static func path(_ path: String?) -> String {
        path.map { URL(filePath: $0).absoluteURL.path(percentEncoded: false) }
            ?? DiskCache.Configuration.defaultDirectory(for: "webimage").absoluteFilePath
    }
}
