// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("Smart crops of WebImage and libvips", .timeLimit(.minutes(5)))
struct SmartCropPeerTests {
    /// An object with detail in an image without any.
    struct Scene: Sendable, CustomTestStringConvertible {
        let size: PixelSize
        let x: Int
        let y: Int
        var testDescription: String { "\(size), \(x), \(y)" }

        static let side = 40

        func pixels() throws -> PixelBuffer {
            try PixelPatterns.make(width: size.width, height: size.height, isOpaque: true) { column, row in
                let isInside = (x..<x + Self.side).contains(column) && (y..<y + Self.side).contains(row)
                guard isInside else { return SIMD4(128, 128, 128, 255) }
                return (column / 4 + row / 4).isMultiple(of: 2) ? SIMD4(230, 40, 40, 255) : SIMD4(20, 20, 20, 255)
            }
        }
    }

    private static let peers = Fixtures.directory.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Benchmarks/Peers").path(percentEncoded: false)

    private static func python(_ statements: String) -> [String] {
        ["/usr/bin/python3", "-B", "-c", "import sys; sys.path.insert(0, sys.argv[1]); \(statements)", peers]
    }

    private static let hasVips = (try? Tools.run(python("import vips"))) != nil

    private static let scenes = [0, 30, 100, 170, 260].flatMap { position in
        [
            Scene(size: PixelSize(width: 300, height: 100), x: position, y: 30),
            Scene(size: PixelSize(width: 100, height: 300), x: 30, y: position),
        ]
    }

    @Test(
        "Both crops contain the object, and attention selects nearly the same part",
        .enabled(if: hasVips, "requires python3 and libvips42"),
        arguments: StandardTransformer.SmartCropStrategy.allCases, scenes)
    func agrees(_ strategy: StandardTransformer.SmartCropStrategy, _ scene: Scene) throws {
        let pixels = try scene.pixels()
        let statements =
            "import vips; print(*vips.smart_crop(open('picture','rb').read(), 100, 100, '\(strategy.rawValue)'))"
        let data = try PixelPatterns.encode(pixels, as: .png)
        let text = String(bytes: try Tools.run(Self.python(statements), data), encoding: .utf8) ?? ""
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 2, "\(text)")
        let peer = (x: numbers[0], y: numbers[1])

        let part = try StandardTransformer.smartCrop(width: 100, height: 100, strategy: strategy)
            .transform(pixels, context: ImageProcessingContext())
        #expect(part.size == PixelSize(width: 100, height: 100))
        let own = try #require(origin(of: scene, in: part))
        for found in [own, peer] {
            #expect(found.x <= scene.x && scene.x + Scene.side <= found.x + 100)
            #expect(found.y <= scene.y && scene.y + Scene.side <= found.y + 100)
        }
        guard strategy == .attention else { return }
        // libvips finds positions with a precision of one thirty-second of the image.
        #expect(abs(own.x - peer.x) <= 20 && abs(own.y - peer.y) <= 20, "\(own), \(peer)")
    }

    /// Returns the position of `part` in the scene, which follows from the first pixel of the object.
    private func origin(of scene: Scene, in part: PixelBuffer) -> (x: Int, y: Int)? {
        for y in 0..<part.height {
            for x in 0..<part.width where part.color(x: x, y: y)?.green != 128 {
                return (scene.x - x, scene.y - y)
            }
        }
        return nil
    }
}
