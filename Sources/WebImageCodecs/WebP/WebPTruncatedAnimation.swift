// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A repair step that turns the complete frames of a truncated animated WebP file into a valid file. The compositor of
/// libwebp requires a valid file (RFC 9649, section 2.7).
enum WebPTruncatedAnimation {
    /// Returns the file up to the last complete frame, with a corrected length, or `nil` if there are fewer than two
    /// complete frames.
    static func wholeFrames(_ bytes: UnsafeBufferPointer<UInt8>) -> Data? {
        var reader = ByteReader(bytes)
        guard reader.skip(12) else { return nil }
        var frames = 0
        var end = 0
        while let name = reader.read(4).map(Array.init), let size = reader.uint32() {
            guard reader.skip(Int(size) + Int(size & 1)) else { break }
            guard name == Array("ANMF".utf8) else { continue }
            frames += 1
            end = reader.offset
        }
        guard frames > 1, end - 8 <= UInt32.max else { return nil }
        var cut = Data(bytes[..<end])
        for place in 0..<4 { cut[4 + place] = UInt8(truncatingIfNeeded: (end - 8) >> (place * 8)) }
        return cut
    }
}
