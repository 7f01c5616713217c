// SPDX-License-Identifier: MIT

import WebImageCore

extension EmbeddedMetadata {
    /// Calls `body` with the three blocks. Missing blocks are empty. The pointers are valid only during the call.
    func withBytes<Result>(
        _ body: (
            _ iccProfile: UnsafeBufferPointer<UInt8>, _ exif: UnsafeBufferPointer<UInt8>,
            _ xmp: UnsafeBufferPointer<UInt8>
        ) -> Result
    ) -> Result {
        (iccProfile ?? []).withUnsafeBufferPointer { iccProfile in
            (exif ?? []).withUnsafeBufferPointer { exif in
                (xmp ?? []).withUnsafeBufferPointer { xmp in body(iccProfile, exif, xmp) }
            }
        }
    }
}
