// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Target sizes")
struct TargetSizeTests {
    private static let image = PixelSize(width: 400, height: 200)

    @Test(
        "The output size follows the aspect ratio, the crop, and the limits of the target",
        arguments: [
            (TargetSize.fit(width: 100, height: 100), PixelSize(width: 100, height: 50)),
            (TargetSize.fit(height: 20), PixelSize(width: 40, height: 20)),
            (TargetSize.fit(width: 4_000), PixelSize(width: 400, height: 200)),
            (TargetSize.fill(width: 100, height: 100), PixelSize(width: 100, height: 100)),
            (TargetSize.stretch(width: 50, height: 900), PixelSize(width: 50, height: 200)),
            (TargetSize.exact(width: 800, height: 10), PixelSize(width: 800, height: 10)),
            (TargetSize.scaled(width: 0.5, height: 0.5), PixelSize(width: 200, height: 100)),
            (TargetSize.scaled(width: 0.5, height: 1.25), PixelSize(width: 200, height: 250)),
            (TargetSize.scaled(width: 3, height: 3), PixelSize(width: 1_200, height: 600)),
            (TargetSize.scaled(width: 1e-9, height: 1e-9), PixelSize(width: 1, height: 1)),
            (TargetSize.fitting(byteCount: 80_000), PixelSize(width: 200, height: 100)),
            (TargetSize.fitting(byteCount: 1), PixelSize(width: 1, height: 1)),
        ])
    func output(_ target: TargetSize, _ expected: PixelSize) throws {
        #expect(try target.outputSize(for: Self.image) == expected)
    }

    @Test("The scale multiplies lengths in points and doesn't change lengths in pixels")
    func scale() throws {
        let points = TargetSize.fit(width: 50, unit: .points)
        #expect(try points.outputSize(for: Self.image, scale: 2) == PixelSize(width: 100, height: 50))
        #expect(try points.outputSize(for: Self.image) == PixelSize(width: 50, height: 25))
        let pixels = TargetSize.fit(width: 50)
        #expect(try pixels.outputSize(for: Self.image, scale: 2) == PixelSize(width: 50, height: 25))
    }

    @Test("Invalid lengths and empty images throw `invalidSize`")
    func invalid() {
        let targets: [TargetSize] = [
            .fit(width: 0), .fit(height: -1), .fill(width: .nan, height: 1), .exact(width: .infinity, height: 1),
            .scaled(width: 0, height: 1), .scaled(width: 1, height: 1e8), .fitting(byteCount: 0),
        ]
        for target in targets {
            #expect { try target.outputSize(for: Self.image) } throws: { ($0 as? ImageError)?.code == 1004 }
        }
        for size in [PixelSize(width: 0, height: 4), PixelSize(width: 4, height: -1)] {
            #expect(throws: ImageError.request(.invalidSize("\(size)"))) {
                try TargetSize.fit(width: 10).outputSize(for: size)
            }
        }
    }
}
