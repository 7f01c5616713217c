// SPDX-License-Identifier: MIT

#if JPEG2000
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTestBasics

    /// The fixtures have 41 × 31 pixels. The encoder of OpenJPEG stored them without loss, with five resolutions. A
    /// sample is the remainder of 7x + 13y + 50c, where c is its component.
    @Suite("JPEG 2000")
    struct JPEG2000Tests {
        private static let size = PixelSize(width: 41, height: 31)

        private func data(_ file: String) throws -> Data {
            try Data(contentsOf: Fixtures.directory.appending(path: "jpeg2000").appending(path: file))
        }

        private func decode(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws
            -> DecodedImage
        {
            try ImageCoderRegistry.standard.decode(data, options: options)
        }

        private func sample(_ x: Int, _ y: Int, _ component: Int, bits: Int = 8) -> Int {
            (x * 7 + y * 13 + component * 50) & (1 << bits - 1)
        }

        @Test(
            "Every pixel of an RGB image matches, in a JP2 file and in a codestream", arguments: ["rgb.jp2", "rgb.j2k"])
        func colors(_ file: String) throws {
            let image = try decode(data(file))
            #expect(image.size == Self.size && image.format == .jpeg2000 && image.isOpaque)
            #expect(try ImageInfo(data: data(file)).size == Self.size)
            var expected: [UInt8] = []
            for y in 0..<31 {
                for x in 0..<41 { expected += (0..<3).map { UInt8(sample(x, y, $0)) } + [255] }
            }
            #expect(image.pixels.packedBytes() == expected)
        }

        @Test("The colors are multiplied by alpha")
        func alpha() throws {
            let image = try decode(data("alpha.jp2"))
            #expect(image.metadata.hasAlpha && !image.isOpaque)
            var expected: [UInt8] = []
            for y in 0..<31 {
                for x in 0..<41 { expected += (0..<4).map { UInt8(sample(x, y, $0)) } }
            }
            #expect(difference(image.pixels.packedBytes(), premultiplied(expected)) < 0.5)
        }

        /// Returns a file with other bytes in the box that defines its channels.
        private func changingChannels(_ change: (inout Data, Int) -> Void) throws -> Data {
            var file = try data("alpha.jp2")
            let place = try #require(file.range(of: Data("cdef".utf8))).lowerBound
            change(&file, place)
            return file
        }

        @Test("A component in addition to the colors is alpha, although no box defines the channels")
        func undeclaredAlpha() throws {
            let file = try changingChannels { file, place in
                file.replaceSubrange(place..<place + 4, with: Data("free".utf8))
            }
            #expect(try ImageInfo(data: file).hasAlpha)
            let image = try decode(file)
            #expect(image.metadata.hasAlpha)
            #expect(try image.pixels.packedBytes() == decode(data("alpha.jp2")).pixels.packedBytes())
        }

        @Test("Colors that are multiplied by alpha never exceed it")
        func premultipliedColors() throws {
            // The last of four definitions has the type of the component with alpha.
            let file = try changingChannels { file, place in file[place + 4 + 2 + 3 * 6 + 3] = 2 }
            let bytes = try decode(file).pixels.packedBytes()
            let isLimited = stride(from: 0, to: bytes.count, by: 4).allSatisfy { pixel in
                bytes[pixel..<pixel + 3].allSatisfy { $0 <= bytes[pixel + 3] }
            }
            #expect(isLimited)
        }

        @Test("Gray samples of 12 bits keep their precision on request")
        func deep() throws {
            let image = try decode(data("gray12.jp2"), ImageDecodingOptions(preservesBitDepth: true))
            #expect(image.pixels.format == .rgba16 && image.metadata.bitDepth == 12)
            let words = image.pixels.packedBytes()
            let place = (30 * 41 + 40) * 8
            let value = Int(words[place]) | Int(words[place + 1]) << 8
            #expect(abs(value - sample(40, 30, 0, bits: 12) * 65_535 / 4_095) <= 1)
        }

        @Test("Subsampled sYCC is converted to RGB")
        func sYCC() throws {
            let pixels = try decode(data("sycc420.jp2")).pixels.packedBytes()
            // The first pixel is Y 0, Cb 50, and Cr 100.
            #expect(pixels[0] == 0 && abs(Int(pixels[1]) - 47) <= 1 && pixels[2] == 0 && pixels[3] == 255)
        }

        @Test("A smaller size is decoded from a smaller resolution, also if the file has too few of them")
        func reduced() throws {
            for target in [
                TargetSize.fit(width: 5, height: 5), .fit(width: 10, height: 10), .fill(width: 4, height: 3),
            ] {
                let image = try decode(data("rgb.jp2"), ImageDecodingOptions(size: target))
                #expect(image.size == (try target.plan(for: Self.size).output))
                #expect(image.metadata.storedSize == Self.size)
            }
        }

        @Test("Files for which OpenJPEG would allocate far more memory than for the image are rejected")
        func allocations() throws {
            let unsupported: (any Error) -> Bool = { ($0 as? ImageError)?.code == 4007 }
            for file in ["rgb.jp2", "rgb.j2k"] {
                let whole = try data(file)
                let style = try #require(whole.firstRange(of: Data([0xFF, 0x52]))).lowerBound
                // Code blocks of 4 × 4 samples.
                var blocks = whole
                blocks[style + 10] = 0
                blocks[style + 11] = 0
                #expect { try decode(blocks) } throws: { unsupported($0) }
                // One precinct per sample.
                var precincts = whole
                precincts[style + 4] |= 1
                let length = Int(precincts[style + 2]) << 8 | Int(precincts[style + 3])
                let levels = Int(precincts[style + 9])
                precincts.insert(contentsOf: [UInt8](repeating: 0, count: levels + 1), at: style + 2 + length)
                precincts[style + 3] += UInt8(levels + 1)
                #expect { try decode(precincts) } throws: { unsupported($0) }
                // A marker after which OpenJPEG searches for the next one.
                var unknown = whole
                unknown.insert(contentsOf: [0xFF, 0x42, 0, 2], at: style)
                #expect { try decode(unknown) } throws: { unsupported($0) }
            }
            // A palette of 255 columns, in the header and outside it.
            let palette = Data([0, 0, 0, 11]) + Data("pclr".utf8) + Data([0, 1, 255])
            var whole = try data("rgb.jp2")
            let stream = try #require(whole.firstRange(of: Data("jp2c".utf8))).lowerBound - 4
            whole.insert(contentsOf: palette, at: stream)
            #expect(throws: ImageError.self) { try ImageInfo(data: whole) }
            #expect(throws: ImageError.self) { try decode(whole) }
        }

        @Test("The memory estimate includes the components and the columns of a palette")
        func requirements() throws {
            let info = ImageInfo(format: .jpeg2000, storedSize: PixelSize(width: 8_000, height: 4_000))
            let options = ImageDecodingOptions(size: .fit(width: 500))
            let found = try #require(JPEG2000Coder().requirements(for: info, options: options, isIncremental: false))
            // Five components and five columns with 32 bits.
            let area = try #require(found.size.area)
            #expect(found.byteCount >= area * (40 + 4))
        }

        @Test("Truncated, mutated, and limited data results in an image or a typed error")
        func hostile() throws {
            var generator = SeededGenerator(3)
            for file in ["rgb.jp2", "rgb.j2k", "alpha.jp2", "gray12.jp2", "sycc420.jp2"] {
                let whole = try data(file)
                for count in stride(from: 1, to: whole.count, by: 61) {
                    #expect(throws: ImageError.self) { try decode(whole.prefix(count)) }
                }
                for _ in 0..<60 {
                    var bytes = whole
                    for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] = generator.next().byte }
                    do { _ = try decode(bytes) } catch { #expect(error is ImageError) }
                }
                var limits = ImageLimits.desktop
                limits.maxDimension = 40
                #expect {
                    try ImageCoderRegistry.standard.decode(whole, context: ImageProcessingContext(limits: limits))
                } throws: { ($0 as? ImageError)?.code == 6003 }
            }
        }
    }

    extension UInt64 {
        fileprivate var byte: UInt8 { UInt8(truncatingIfNeeded: self) }
    }
#endif
