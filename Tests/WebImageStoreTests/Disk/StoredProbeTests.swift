// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageStore

@Suite("Image headers stored with entries")
struct StoredProbeTests {
    private static let probes = [
        ImageInfo(format: .png, storedSize: PixelSize(width: 3, height: 4)),
        ImageInfo(
            format: .avif, storedSize: PixelSize(width: 300, height: 4), orientation: .left, bitDepth: 12,
            hasAlpha: true,
            frameCount: 7, frameCountIsExact: false, loopCount: 0, hasICCProfile: true, isProgressive: true,
            smallestFile: 99, cleanAperture: PixelSize(width: 290, height: 3),
            codePoints: ColorCodePoints(primaries: 9, transfer: 16)),
        ImageInfo(
            format: .heif, storedSize: PixelSize(width: 8, height: 8), cleanAperture: PixelSize(width: 7, height: 6)),
        ImageInfo(
            format: .apng, storedSize: PixelSize(width: 8, height: 8),
            codePoints: ColorCodePoints(primaries: 12, transfer: 13)),
        ImageInfo(format: .webp, storedSize: PixelSize(width: 8, height: 8), isLosslessWebP: true),
        ImageInfo(
            format: .tiff, storedSize: PixelSize(width: 8, height: 9), cleanAperture: PixelSize(width: 7, height: 6),
            rowsPerUnit: 4),
    ]

    @Test("A stored header is read back unchanged", arguments: probes)
    func comesBack(_ probe: ImageInfo) {
        let bytes = probe.encoded()
        #expect(bytes.withUnsafeBytes { ImageInfo(encoded: $0) } == probe)
        for count in 0..<bytes.count {
            #expect(bytes.prefix(count).withUnsafeBytes { ImageInfo(encoded: $0) } == nil)
        }
        #expect((bytes + [0]).withUnsafeBytes { ImageInfo(encoded: $0) } == nil)
    }
}
