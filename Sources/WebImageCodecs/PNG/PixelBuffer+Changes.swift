// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

extension PixelBuffer {
    /// The smallest part that holds all pixels that are not those of `before`, which has the same size; nil where there
    /// are none.
    func changes(from before: PixelBuffer) -> PixelRect? {
        withUnsafeBytes { new in
            before.withUnsafeBytes { old in
                guard let new = new.bindMemory(to: UInt32.self).baseAddress,
                    let old = old.bindMemory(to: UInt32.self).baseAddress
                else { return nil }
                return changedPart(old, new, stride: bytesPerRow / 4, size: size).rect
            }
        }
    }

    /// The pixels of `part`, which must lie within the picture, with alpha not multiplied in.
    func straight(_ part: PixelRect) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: part.width * part.height * 4) { target, count in
            guard let start = target.baseAddress else { return }
            withUnsafeBytes { bytes in
                guard let source = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                for row in 0..<part.height {
                    wi_unpremultiply_rgba8(
                        source + (part.y + row) * bytesPerRow + part.x * 4, start + row * part.width * 4, part.width)
                }
            }
            count = part.width * part.height * 4
        }
    }

    /// As ``straight(_:)``, with transparent black where `before` has the same pixel: to be laid over it. Nil where that
    /// would not give this picture, as one of its half transparent pixels lies over something, or would change nothing.
    func straightChanges(from before: PixelBuffer, _ part: PixelRect) -> [UInt8]? {
        var rows = straight(part)
        var isSame = true
        let isPossible = withUnsafeBytes { new in
            before.withUnsafeBytes { old in
                for row in 0..<part.height {
                    let line = (part.y + row) * bytesPerRow + part.x * 4
                    for column in 0..<part.width {
                        let pixel = new.loadUnaligned(fromByteOffset: line + column * 4, as: UInt32.self)
                        let below = old.loadUnaligned(fromByteOffset: line + column * 4, as: UInt32.self)
                        let place = (row * part.width + column) * 4
                        if pixel == below {
                            if rows[place + 3] != 0 { isSame = false }
                            for channel in place..<place + 4 { rows[channel] = 0 }
                        } else if rows[place + 3] != 255, below != 0 {
                            return false
                        }
                    }
                }
                return true
            }
        }
        return isPossible && !isSame ? rows : nil
    }
}
