// SPDX-License-Identifier: MIT

import WebImageCore

extension CoderRegistry {
    /// All coders that are always there: JPEG, PNG, GIF, WebP, BMP.
    public static let standard = CoderRegistry([
        BMPCoder(), WebPCoder(), GIFCoder(), PNGCoder(), JPEGCoder(),
    ])
}
