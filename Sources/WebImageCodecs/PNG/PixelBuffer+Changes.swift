// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

extension PixelBuffer {
    /// Returns the smallest region with all pixels that differ from those of `before`, or `nil` if no pixel differs.
    /// Both buffers must have the same size.
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

    /// Returns the pixels of a region with straight alpha. The region must lie within the image.
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

    /// Returns the pixels of a region like ``straight(_:)``, with transparent black for pixels that are equal in
    /// `before`, so that the result can be blended over it. Returns `nil` if blending wouldn't reproduce this image
    /// because a translucent pixel covers a visible one, or if no pixel would become transparent.
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
