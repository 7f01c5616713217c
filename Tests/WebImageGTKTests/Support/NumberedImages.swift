// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Images that show a number on a background color that depends on it, so that people can distinguish them in
    /// screenshots.
    enum NumberedImages {
        /// The rows of each digit, with three bits each. The highest bit is on the left.
        private static let digits: [[UInt8]] = [
            [7, 5, 5, 5, 7], [2, 6, 2, 2, 7], [7, 1, 7, 4, 7], [7, 1, 7, 1, 7], [5, 5, 7, 1, 1], [7, 4, 7, 1, 7],
            [7, 4, 7, 5, 7], [7, 1, 1, 1, 1], [7, 5, 7, 5, 7], [7, 5, 7, 1, 7],
        ]

        /// Returns a background color. Consecutive numbers have very different colors.
        static func color(_ number: Int) -> [UInt8] {
            [UInt8(40 + number * 67 % 160), UInt8(40 + number * 101 % 160), UInt8(40 + number * 151 % 160)]
        }

        static func pixels(_ number: Int, width: Int, height: Int) throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
            let row = canvas.bytesPerRow
            let text = String(number).compactMap(\.wholeNumberValue)
            let dot = max(1, min(width / (4 * text.count + 1), height / 7))
            let (left, top) = ((width - dot * (4 * text.count - 1)) / 2, (height - dot * 5) / 2)
            canvas.withUnsafeMutableBytes { bytes in
                func fill(_ x: Int, _ y: Int, _ side: (width: Int, height: Int), _ color: [UInt8]) {
                    for y in y..<y + side.height {
                        for x in x..<x + side.width {
                            for channel in 0..<3 { bytes[y * row + 4 * x + channel] = color[channel] }
                            bytes[y * row + 4 * x + 3] = 255
                        }
                    }
                }
                fill(0, 0, (width, height), color(number))
                for (place, digit) in text.enumerated() {
                    for (y, bits) in digits[digit].enumerated() {
                        for x in 0..<3 where bits >> (2 - x) & 1 == 1 {
                            fill(left + (place * 4 + x) * dot, top + y * dot, (dot, dot), [255, 255, 255])
                        }
                    }
                }
            }
            return canvas.finish(isOpaque: true)
        }

        static func png(_ number: Int, width: Int, height: Int) throws -> Data {
            try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: pixels(number, width: width, height: height)), as: .png,
                context: ImageProcessingContext()
            )
        }

        /// Returns a GIF whose frames show their indices.
        static func gif(frames: Int, milliseconds: Int, width: Int = 160, height: Int = 120) throws -> Data {
            let frames = try (0..<frames).map { index in
                (pixels: try pixels(index, width: width, height: height), duration: Duration.milliseconds(milliseconds))
            }
            return try ImageCoderRegistry.standard.encode(
                DecodedImage(animation: ImageAnimation(frames: frames)), as: .gif, context: ImageProcessingContext())
        }

        /// Returns a window that loads a GIF of three numbered frames, and its view.
        @MainActor
        static func playing(milliseconds: Int) throws -> (TestWindow, WebImageView) {
            let loader = StubLoader()
            loader.respond(
                to: Sources.url("a"), with: StubLoader.Response(body: try gif(frames: 3, milliseconds: milliseconds)))
            let picture = try XCTUnwrap(gtk_picture_new())
            let window = try TestWindow(picture)
            let view = try XCTUnwrap(WebImageView(for: picture, manager: Sources.manager(loader)))
            view.load(Sources.url("a"))
            window.show()
            return (window, view)
        }

        /// Returns a loader that responds to `…/<number>` with the image of that number.
        static func loader(width: Int, height: Int) -> StubLoader {
            StubLoader { request in
                let number = Int(request.url.lastPathComponent) ?? 0
                return StubLoader.Response(body: (try? png(number, width: width, height: height)) ?? Data())
            }
        }
    }
#endif
