// SPDX-License-Identifier: MIT

import Glibc
import WebImageCore

/// A rectangle that grows to include every pixel added to it.
struct ChangedRegion {
    private var left = Int.max
    private var right = Int.min
    private var top = Int.max
    private var bottom = Int.min

    mutating func add(row: Int, _ first: Int, _ last: Int) {
        left = min(left, first)
        right = max(right, last)
        top = min(top, row)
        bottom = max(bottom, row)
    }

    mutating func add(_ other: ChangedRegion) {
        guard let part = other.rect else { return }
        add(row: part.y, part.x, part.x + part.width - 1)
        add(row: part.y + part.height - 1, part.x, part.x)
    }

    /// The smallest rectangle with all added pixels, or `nil` if none were added.
    var rect: PixelRect? {
        guard left <= right else { return nil }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
}

/// Returns the smallest rectangle that contains all pixels for which `differs` returns `true`. Both frames have
/// `stride` pixels from one row to the next.
func changedPart(
    _ before: UnsafePointer<UInt32>, _ after: UnsafePointer<UInt32>, stride: Int, size: PixelSize,
    differs: (UInt32, UInt32) -> Bool = { $0 != $1 }
) -> ChangedRegion {
    var part = ChangedRegion()
    for row in 0..<size.height {
        let old = before + row * stride
        let new = after + row * stride
        // Most rows of most frames don't change.
        if memcmp(old, new, size.width * 4) == 0 { continue }
        guard let first = (0..<size.width).first(where: { differs(old[$0], new[$0]) }),
            let last = (first..<size.width).last(where: { differs(old[$0], new[$0]) })
        else { continue }
        part.add(row: row, first, last)
    }
    return part
}
