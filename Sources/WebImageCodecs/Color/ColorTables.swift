// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Converts to sRGB through a profile's tables: CMYK, and RGB of scanners and printers.
final class ColorTables: Sendable {
    /// What the samples are: RGB or CMYK.
    let space: ColorSpaceModel
    private let narrow: ICCTransform
    private let profile: ICCProfile
    private let wide = Lock(Wide())

    private struct Wide {
        var transform: ICCTransform?
        var isMade = false
    }

    /// Nil where the tables are damaged. Takes some milliseconds.
    init?(_ profile: ICCProfile) {
        guard profile.space != .gray, let narrow = profile.transform(bytesPerSample: 1) else { return nil }
        self.space = profile.space
        self.narrow = narrow
        self.profile = profile
    }

    /// Converts 8-bit pixels in place: straight R, G, B, A, or C, M, Y, K, which become opaque.
    func convert(_ row: UnsafeMutablePointer<UInt8>, count: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count * 4) { scratch in
            guard let copy = scratch.baseAddress else { return }
            copy.initialize(from: row, count: count * 4)
            narrow.run(from: copy, to: row, count: count)
        }
        if space == .cmyk { for pixel in 0..<count { row[pixel * 4 + 3] = 255 } }
    }

    /// Converts straight 16-bit pixels of R, G, B, A in place.
    func convert(_ row: UnsafeMutablePointer<UInt16>, count: Int) {
        guard let transform = wideTransform() else { return }
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count * 4) { scratch in
            guard let copy = scratch.baseAddress else { return }
            copy.initialize(from: row, count: count * 4)
            transform.run(from: copy, to: row, count: count)
        }
    }

    /// Made when it is asked for first: few pictures with tables have 16 bits.
    private func wideTransform() -> ICCTransform? {
        wide.withLock { wide in
            if !wide.isMade {
                wide.transform = profile.transform(bytesPerSample: 2)
                wide.isMade = true
            }
            return wide.transform
        }
    }
}
