// SPDX-License-Identifier: MIT

import Testing
import WebImageCodecs
import WebImageCore

@Suite("Colours of previews")
struct ColorPreviewTests {
    static let fixtures = ColorFixture.all.filter { fixture in
        // Ink is shown by the plain formula until all is there.
        [.jpeg, .png, .webp, .jxl].contains(fixture.format) && fixture.profile != "cmyk"
    }

    @Test("a whole preview looks as the picture does", arguments: fixtures)
    func whole(_ fixture: ColorFixture) throws {
        // Files that are worth no preview give none.
        guard var feeding = try Feeding(fixture.data()), let preview = try feeding.finish() else { return }
        #expect(preview.isComplete)
        // Of 16 bits only 8 are looked at.
        let worstMean = fixture.cicp?[1] == 16 || fixture.cicp?[1] == 18 || fixture.profile == "linear" ? 3.0 : 1.0
        #expect(difference(preview.image.pixels.packedBytes(), try fixture.expected()) <= worstMean)
        #expect(preview.image.metadata.codePoints == (try fixture.decode().metadata.codePoints))
    }
}
