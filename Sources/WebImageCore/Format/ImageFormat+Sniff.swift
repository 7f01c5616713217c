// SPDX-License-Identifier: MIT

import Foundation

extension ImageFormat {
    /// The format of `data` by its first bytes alone; nil where they belong to nothing known.
    public static func sniff(_ data: Data) -> ImageFormat? {
        nil
    }
}

extension ImageProbe {
    /// Reads the header of a whole file.
    ///
    /// - Throws: family 4xxx.
    public init(reading data: Data) throws(ImageError) {
        throw .decode(.unknownFormat)
    }
}
