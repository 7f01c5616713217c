// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Managers and pictures for tests of views.
    enum Sources {
        static func url(_ name: String) -> URL { URL(string: "https://pictures.test/\(name)") ?? URL(filePath: name) }

        /// A manager that loads through `loader` and keeps what it got in memory only.
        static func manager(_ loader: any ImageLoader) -> ImageManager {
            ImageManager { configuration in
                configuration.cache.usesDisk = false
                configuration.cachePolicy = .cacheFirst
                configuration.loaders.append(loader)
                configuration.memoryPressure = MemoryPressureSource(readsSystem: false)
            }
        }

        /// A picture of one colour.
        static func image(_ color: [UInt8], width: Int = 40, height: Int = 30) throws -> Image {
            Image(pixels: try pixels(color, width: width, height: height))
        }

        static func pixels(_ color: [UInt8], width: Int = 40, height: Int = 30) throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
            let row = canvas.bytesPerRow
            canvas.withUnsafeMutableBytes { bytes in
                for y in 0..<height {
                    for x in 0..<width {
                        for channel in 0..<3 { bytes[y * row + 4 * x + channel] = color[channel] }
                        bytes[y * row + 4 * x + 3] = 255
                    }
                }
            }
            return canvas.finish(isOpaque: true)
        }

        static func png(_ color: [UInt8], width: Int = 40, height: Int = 30) throws -> Data {
            try CoderRegistry.standard.encode(
                image(color, width: width, height: height), as: .png(), context: CodingContext())
        }

        /// The colour of the picture that has a number; each number up to 4,095 has its own, 16 apart.
        static func color(of number: Int) -> [UInt8] {
            [UInt8(8 + 16 * (number & 15)), UInt8(8 + 16 * (number >> 4 & 15)), UInt8(8 + 16 * (number >> 8 & 15))]
        }

        /// Answers `…/<number>` with a picture in the number's colour.
        static func numbered(width: Int = 16, height: Int = 16) -> StubLoader {
            StubLoader { request in
                let number = Int(request.url.lastPathComponent) ?? 0
                return StubLoader.Answer(body: (try? png(color(of: number), width: width, height: height)) ?? Data())
            }
        }
    }

    /// An animation whose frames are of one colour each, made when they are asked for.
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
                throw .request(.noSuchFrame(index: index, count: colors.count))
            }
        }

        func image() throws -> Image {
            Image(pixels: try Sources.pixels(colors[0]), animation: ImageAnimation(self))
        }
    }
#endif
