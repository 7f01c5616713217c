// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Colours of decoded pictures")
struct ColorDecodingTests {
    @Test("there are fixtures with profiles and with numbers")
    func manifestIsThere() {
        #expect(ColorFixture.all.count > 40)
    }

    @Test("pictures come out in sRGB as an independent converter has them", arguments: ColorFixture.all)
    func matchesReference(_ fixture: ColorFixture) throws {
        let image = try fixture.decode()
        let pixels = image.pixels.packedBytes()
        let expected = try fixture.expected()
        if fixture.tolerance == 0 {
            #expect(pixels == expected)
        } else {
            #expect(difference(pixels, expected) <= fixture.tolerance)
            let worst = zip(pixels, expected).map { abs(Int($0) - Int($1)) }.max() ?? 0
            // Tables are sampled anew by the colour engine; HEVC is lossless only nearly.
            let allowed = fixture.format == .heif ? 16 : fixture.format != .png || fixture.profile == "scanner" ? 8 : 3
            #expect(worst <= allowed)
        }
    }

    @Test("the profile and the numbers are kept", arguments: ColorFixture.all)
    func metadata(_ fixture: ColorFixture) throws {
        let metadata = try fixture.decode().metadata
        if let name = fixture.profile, fixture.format != .jxl {
            #expect(metadata.iccProfile == (try ColorFixture.profile(name)))
        }
        if let cicp = fixture.cicp {
            #expect(metadata.codePoints == ColorCodePoints(primaries: cicp[0], transfer: cicp[1]))
        }
    }
}
