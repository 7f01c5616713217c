// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The scale that a file name specifies, in pixels per point.
package enum ImageScale {
    /// Returns 2 for `name@2x.png`, 3 for `name@3x.png`, and 1 for names without a suffix. Valid factors are 1 to 9.
    package static func from(key: String) -> Double {
        let bytes = Array(key.utf8)
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        guard end >= 3, bytes[end - 3] == UInt8(ascii: "@"), bytes[end - 1] == UInt8(ascii: "x"),
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[end - 2])
        else { return 1 }
        return Double(bytes[end - 2] - UInt8(ascii: "0"))
    }
}
