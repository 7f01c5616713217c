// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Where the disk cache of the programs is.
package enum CacheFolder {
    /// `path` as an absolute one; the tool's own folder for nil.
    package static func path(_ path: String?) -> String {
        path.map { URL(filePath: $0).absoluteURL.path(percentEncoded: false) }
            ?? DiskCacheConfiguration.defaultDirectory(application: "webimage")
    }
}
