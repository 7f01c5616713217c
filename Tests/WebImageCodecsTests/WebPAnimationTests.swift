// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("WebP animations")
struct WebPAnimationTests {
    @Test(
        "A truncated animation returns its complete frames", arguments: ["animated.webp", "animated-none.webp"])
    func cut(_ file: String) throws {
        let fixture = try Fixture.named(file)
        let data = try fixture.data()
        let expected = try fixture.expectedFrames()
        var counts: Set<Int> = []
        for part in 8..<40 {
            let cut = data.prefix(data.count * part / 40)
            func decode(_ partial: Bool) throws -> DecodedImage {
                try WebPCoder().decode(
                    cut, info: nil, options: ImageDecodingOptions(allowsPartialData: partial),
                    context: ImageProcessingContext())
            }
            #expect(throws: ImageError.self) { try decode(false) }
            guard let image = try? decode(true) else { continue }
            #expect(image.metadata.isPartial)
            counts.insert(image.frameCount)
            for place in 0..<image.frameCount {
                guard let frame = try image.animation?.frame(at: place) else { continue }
                #expect(frame.packedBytes() == expected[place], "\(part)/40, \(place)")
            }
        }
        #expect(counts.contains(1))
        #expect(counts.count >= fixture.frames - 1)
        #expect(!counts.contains(fixture.frames))
    }
}
