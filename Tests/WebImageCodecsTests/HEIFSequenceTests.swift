// SPDX-License-Identifier: MIT

#if HEIF
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore

    /// The sequences consist of still images that the HEIF coder encodes, so the tests need an HEVC encoder.
    @Suite(
        "HEIC image sequences",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.heif), "libheif has no HEVC encoder"))
    struct HEIFSequenceTests {
        /// A size that the HEVC encoder doesn't pad.
        private static let size = PixelSize(width: 128, height: 64)
        private static let colors: [PixelColor] = [
            PixelColor(red: 220, green: 20, blue: 20), PixelColor(red: 20, green: 220, blue: 20),
            PixelColor(red: 20, green: 20, blue: 220),
        ]

        private func big(_ value: Int) -> Data { Data(PNGParts.big(UInt32(value))) }

        private func box(_ name: String, _ content: Data...) -> Data {
            let content = content.reduce(Data(), +)
            return big(content.count + 8) + Data(name.utf8) + content
        }

        /// Returns the content of the first box with a name, wherever it is.
        private func content(of name: String, in file: Data) throws -> Data {
            let found = try #require(file.firstRange(of: Data(name.utf8)))
            let count = file[found.lowerBound - 4..<found.lowerBound].reduce(0) { $0 << 8 | Int($1) }
            return Data(file[found.upperBound..<found.lowerBound - 4 + count])
        }

        /// Returns a sequence with one sample per color, 100 ms each.
        ///
        /// - Parameter sync: The numbers of the sync samples, counted from 1, or `nil` for all samples.
        private func sequence(sync: [Int]? = nil) throws -> Data {
            var stills: [Data] = []
            for color in Self.colors {
                let image = DecodedImage(pixels: try PixelBuffer.filled(with: color, size: Self.size))
                stills.append(try image.encoded(as: .heic(quality: 90)))
            }
            let samples = try stills.map { try content(of: "mdat", in: $0) }
            let visual =
                Data(count: 24) + big(Self.size.width << 16 | Self.size.height) + Data(count: 50)
            let entry = box("hvc1", visual, box("hvcC", try content(of: "hvcC", in: stills[0])))
            let runs = big(0) + big(1) + big(1) + big(samples.count) + big(1)
            var head = Data()
            // The second pass knows the size of the header, and so the position of the samples.
            for _ in 0..<2 {
                let offset = head.isEmpty ? 0 : head.count + 8
                var tables =
                    box("stsd", big(0), big(1), entry) + box("stts", big(0), big(1), big(samples.count), big(100))
                    + box("stsc", runs) + box("stco", big(0), big(1), big(offset))
                tables += box(
                    "stsz", big(0), big(0), big(samples.count), samples.map { big($0.count) }.reduce(Data(), +))
                if let sync { tables += box("stss", big(0), big(sync.count), sync.map { big($0) }.reduce(Data(), +)) }
                let media =
                    box("mdhd", Data(count: 12), big(1_000), Data(count: 8))
                    + box("hdlr", Data(count: 8), Data("pict".utf8), Data(count: 13))
                    + box("minf", box("stbl", tables))
                head =
                    box("ftyp", Data("msf1".utf8), Data(count: 4), Data("msf1hevc".utf8))
                    + box("moov", box("trak", box("tkhd", Data(count: 84)), box("mdia", media)))
            }
            return head + box("mdat", samples.reduce(Data(), +))
        }

        private func decode(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws
            -> DecodedImage
        {
            try ImageCoderRegistry.standard.decode(data, options: options)
        }

        private func isClose(_ pixels: PixelBuffer, _ color: PixelColor) -> Bool {
            let bytes = pixels.packedBytes()
            return zip(bytes.prefix(3), [color.red, color.green, color.blue]).allSatisfy {
                abs(Int($0) - Int($1)) <= 12
            }
        }

        @Test("All frames of a sequence of sync samples play in any order")
        func plays() throws {
            let data = try sequence()
            let info = try ImageInfo(data: data)
            #expect(info.format == .heif && info.frameCount == 3 && info.size == Self.size)
            let image = try decode(data)
            let animation = try #require(image.animation)
            #expect(image.frameCount == 3 && animation.timeline.durations == [100, 100, 100])
            for place in [2, 0, 1, 1] { #expect(try isClose(animation.frame(at: place), Self.colors[place])) }
            let one = try decode(data, ImageDecodingOptions(frames: .index(1)))
            #expect(!one.isAnimated && isClose(one.pixels, Self.colors[1]))
            #expect(try !decode(data, ImageDecodingOptions(frames: .first)).isAnimated)
        }

        @Test("Samples that depend on others are omitted, and the frame before them stays visible")
        func syncSamples() throws {
            let image = try decode(sequence(sync: [1, 3]))
            let animation = try #require(image.animation)
            #expect(animation.timeline.durations == [200, 100])
            #expect(try isClose(animation.frame(at: 1), Self.colors[2]))
            #expect(try ImageInfo(data: sequence(sync: [1])).frameCount == 1)
        }

        @Test(
            "Numbers of chunks and durations far above the number of samples are rejected", arguments: ["stco", "stts"])
        func numbers(_ table: String) throws {
            var data = try sequence()
            let found = try #require(data.firstRange(of: Data(table.utf8)))
            data.replaceSubrange(found.upperBound + 4..<found.upperBound + 8, with: [255, 255, 255, 255])
            #expect {
                try ImageInfo(data: data)
            } throws: {
                guard case .limitExceeded(let failure) = $0 as? ImageError else { return false }
                return failure.kind == .metadataSize && failure.limit == 3 && failure.actual == 0xFFFF_FFFF
            }
        }

        @Test("A sequence with too many samples and without a still image is rejected")
        func manySamples() throws {
            var data = try sequence()
            let found = try #require(data.firstRange(of: Data("stsz".utf8)))
            data.replaceSubrange(found.upperBound + 8..<found.upperBound + 12, with: [0, 2, 0, 0])
            #expect {
                try HEIFCoder().decode(
                    data, info: nil, options: ImageDecodingOptions(frames: .first), context: ImageProcessingContext())
            } throws: {
                guard case .limitExceeded(let failure) = $0 as? ImageError else { return false }
                return failure.kind == .metadataSize && failure.actual == 0x2_0000
            }
        }

        @Test("Mutated and truncated sequences result in an image or a typed error")
        func hostile() throws {
            let data = try sequence()
            let header = try #require(data.firstRange(of: Data("mdat".utf8))).lowerBound
            var generator = SeededGenerator(29)
            for round in 0..<300 {
                var bytes = data
                for _ in 0...(round % 4) {
                    bytes[Int.random(in: 0..<header, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                }
                if round % 6 == 0 { bytes = bytes.prefix(Int.random(in: 1..<bytes.count, using: &generator)) }
                let image = try? HEIFCoder().decode(
                    bytes, info: nil, options: ImageDecodingOptions(),
                    context: ImageProcessingContext(limits: .icon))
                for place in 0..<min(3, image?.frameCount ?? 0) { _ = try? image?.animation?.frame(at: place) }
                #expect(image.map { !$0.size.isEmpty } ?? true)
            }
        }
    }
#endif
