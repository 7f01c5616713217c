// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// Reads the orientation of `data` as of an EXIF block. libFuzzer calls it once per input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzExif(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    _ = Orientation.read(exif: Data(UnsafeRawBufferPointer(start: data, count: count)))
    return 0
}
