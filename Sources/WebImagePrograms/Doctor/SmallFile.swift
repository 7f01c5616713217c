// SPDX-License-Identifier: MIT

import Foundation

/// Functions that read small text files of the system.
package enum SmallFile {
    /// Returns the text of a file without surrounding whitespace, or `nil` if the file can’t be read. Blocks.
    package static func text(_ path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
