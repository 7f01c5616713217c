// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageStore

@Suite("Image headers stored with entries")
struct StoredProbeTests {
    private static let probes = [
        ImageProbe(format: .png, rawSize: PixelSize(width: 3, height: 4)),
        ImageProbe(
            format: .avif, rawSize: PixelSize(width: 300, height: 4), orientation: .left, depth: 12, hasAlpha: true,
            frameCount: 7, frameCountIsExact: false, loopCount: 0, hasICCProfile: true, isProgressive: true,
            smallestFile: 99, cleanAperture: PixelSize(width: 290, height: 3),
            codePoints: ColorCodePoints(primaries: 9, transfer: 16)),
        ImageProbe(
            format: .heif, rawSize: PixelSize(width: 8, height: 8), cleanAperture: PixelSize(width: 7, height: 6)),
        ImageProbe(
            format: .apng, rawSize: PixelSize(width: 8, height: 8),
            codePoints: ColorCodePoints(primaries: 12, transfer: 13)),
    ]

    @Test("A stored header is read back unchanged", arguments: probes)
    func comesBack(_ probe: ImageProbe) {
        let bytes = probe.encoded()
        #expect(bytes.withUnsafeBytes { ImageProbe(encoded: $0) } == probe)
        for count in 0..<bytes.count {
            #expect(bytes.prefix(count).withUnsafeBytes { ImageProbe(encoded: $0) } == nil)
        }
        #expect((bytes + [0]).withUnsafeBytes { ImageProbe(encoded: $0) } == nil)
    }
}
