// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Managers and images for tests of views.
    enum Sources {
        static func url(_ name: String) -> URL { URL(string: "https://pictures.test/\(name)") ?? URL(filePath: name) }

        /// Returns a manager that loads with `loader` and caches images only in memory.
        static func manager(_ loader: any ImageLoader) -> ImageManager {
            ImageManager { configuration in
                configuration.diskCache = nil
                configuration.cachePolicy = .cacheFirst
                configuration.loaders.append(loader)
                configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
            }
        }

        /// Returns an image of one color.
        static func image(_ color: [UInt8], width: Int = 40, height: Int = 30) throws -> DecodedImage {
            DecodedImage(pixels: try pixels(color, width: width, height: height))
        }

        static func pixels(_ color: [UInt8], width: Int = 40, height: Int = 30) throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
            let row = canvas.bytesPerRow
            canvas.withUnsafeMutableBytes { bytes in
                guard let first = bytes.baseAddress else { return }
                for x in 0..<width {
                    for channel in 0..<3 { bytes[4 * x + channel] = color[channel] }
                    bytes[4 * x + 3] = 255
                }
                for y in 1..<max(1, height) { memcpy(first + y * row, first, 4 * width) }
            }
            return canvas.finish(isOpaque: true)
        }

        static func png(_ color: [UInt8], width: Int = 40, height: Int = 30) throws -> Data {
            try ImageCoderRegistry.standard.encode(
                image(color, width: width, height: height), as: .png, context: ImageProcessingContext())
        }

        /// Returns the color of the image with a number. Numbers up to 4,095 have different colors, whose components
        /// differ by at least 16.
        static func color(of number: Int) -> [UInt8] {
            [UInt8(8 + 16 * (number & 15)), UInt8(8 + 16 * (number >> 4 & 15)), UInt8(8 + 16 * (number >> 8 & 15))]
        }

        /// Returns a loader that responds to `…/<number>` with an image in the color of that number.
        static func numbered(width: Int = 16, height: Int = 16) -> StubLoader {
            StubLoader { request in
                let number = Int(request.url.lastPathComponent) ?? 0
                return StubLoader.Response(body: (try? png(color(of: number), width: width, height: height)) ?? Data())
            }
        }
    }

    /// An animation whose frames have one color each and are created on demand.
    struct ColorFrames: AnimationDecoder {
        let colors: [[UInt8]]
        let timeline: AnimationTimeline
        var cost: Int { 0 }

        init(_ colors: [[UInt8]], milliseconds: Int = 100, loopCount: Int = 0) {
            self.colors = colors
            timeline = AnimationTimeline(
                loopCount: loopCount, durations: [Int](repeating: milliseconds, count: colors.count))
        }

        func frame(at index: Int) throws(ImageError) -> PixelBuffer {
            do {
                return try Sources.pixels(colors[index])
            } catch {
                throw .request(.frameNotFound(index: index, frameCount: colors.count))
            }
        }

        func image() throws -> DecodedImage {
            DecodedImage(pixels: try Sources.pixels(colors[0]), animation: ImageAnimation(self))
        }
    }
#endif
