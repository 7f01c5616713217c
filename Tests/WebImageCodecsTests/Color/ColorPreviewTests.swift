// SPDX-License-Identifier: MIT

import Testing
import WebImageCodecs
import WebImageCore

@Suite("Colors of previews")
struct ColorPreviewTests {
    static let fixtures = ColorFixture.all.filter { fixture in
        // Previews convert CMYK with the simple formula until the data is complete.
        [.jpeg, .png, .webp, .jxl].contains(fixture.format) && fixture.profile != "cmyk"
    }

    @Test("A complete preview has the same colors as the image", arguments: fixtures)
    func whole(_ fixture: ColorFixture) throws {
        // Some files are too small for previews.
        guard var feeding = try Feeding(fixture.data()), let preview = try feeding.finish() else { return }
        #expect(preview.isComplete)
        // Previews use only 8 of 16 bits.
        let worstMean = fixture.cicp?[1] == 16 || fixture.cicp?[1] == 18 || fixture.profile == "linear" ? 3.0 : 1.0
        #expect(difference(preview.image.pixels.packedBytes(), try fixture.expected()) <= worstMean)
        #expect(preview.image.metadata.codePoints == (try fixture.decode().metadata.codePoints))
    }

    @Test("A profile that arrives in pieces applies to the previews", arguments: fixtures.filter { $0.format == .webp })
    func profileInPieces(_ fixture: ColorFixture) throws {
        for count in [1, 100] {
            var feeding = try #require(try Feeding(fixture.data()))
            let preview = try #require(try feeding.finish { count })
            let image = try fixture.decode()
            #expect(preview.isComplete && preview.image.metadata.iccProfile == image.metadata.iccProfile)
            // The order of the conversion and the multiplication by alpha changes the rounding.
            #expect(difference(preview.image.pixels.packedBytes(), image.pixels.packedBytes()) <= 1)
        }
    }
}
