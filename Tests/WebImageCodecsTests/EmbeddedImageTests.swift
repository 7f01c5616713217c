// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// Files that contain whole images in another format: Apple icons and camera RAW files.
@Suite("Apple icons and previews of camera RAW files")
struct EmbeddedImageTests {
    private func decode(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, options: options)
    }

    private func big(_ value: Int) -> Data { Data(PNGParts.big(UInt32(value))) }
    private func little(_ value: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }

    private func icon(_ entries: [(name: String, data: Data)]) -> Data {
        let content = entries.reduce(Data()) { $0 + Data($1.name.utf8) + big($1.data.count + 8) + $1.data }
        return Data("icns".utf8) + big(content.count + 8) + content
    }

    /// Returns a plane of `count` equal samples in runs of at most 130.
    private func plane(_ value: UInt8, _ count: Int) -> Data {
        var data = Data()
        var rest = count
        while rest > 0 {
            let run = min(rest, 130)
            data +=
                run < 3 ? Data([UInt8(run - 1)]) + Data(repeating: value, count: run) : Data([UInt8(run + 125), value])
            rest -= run
        }
        return data
    }

    @Test("Run lengths, literals, and the mask of a classic icon become premultiplied pixels")
    func planes() throws {
        let area = 16 * 16
        // The last 16 samples of the green plane are literals.
        let green = plane(80, area - 16) + Data([15]) + Data((0..<16).map { UInt8($0) })
        var mask = Data(repeating: 255, count: area)
        mask[0] = 0
        mask[1] = 51
        let image = try decode(
            icon([("is32", plane(200, area) + green + plane(40, area)), ("s8mk", mask)]))
        #expect(image.size == PixelSize(width: 16, height: 16) && image.format == .icns && !image.isOpaque)
        let pixels = image.pixels.packedBytes()
        #expect(Array(pixels[0..<12]) == [0, 0, 0, 0, 40, 16, 8, 51, 200, 80, 40, 255])
        #expect(Array(pixels.suffix(8)) == [200, 14, 40, 255, 200, 15, 40, 255])
        // Without a mask, the icon is opaque.
        #expect(try decode(icon([("is32", plane(200, area) + green + plane(40, area))])).isOpaque)
    }

    @Test("The largest icon with four bytes before its planes, and an ARGB icon, are decoded")
    func otherTypes() throws {
        let area = 128 * 128
        let large = icon([("it32", Data(count: 4) + plane(1, area) + plane(2, area) + plane(3, area))])
        #expect(try Array(decode(large).pixels.packedBytes().prefix(4)) == [1, 2, 3, 255])
        let small = Data("ARGB".utf8) + plane(255, 256) + plane(9, 256) + plane(8, 256) + plane(7, 256)
        #expect(try Array(decode(icon([("ic04", small)])).pixels.packedBytes().prefix(4)) == [9, 8, 7, 255])
    }

    @Test("The smallest icon that is large enough is decoded, an index selects an icon, and PNG icons are decoded")
    func selection() throws {
        let red = try PixelBuffer.filled(
            with: PixelColor(red: 255, green: 0, blue: 0), size: PixelSize(width: 128, height: 128))
        let blue = try PixelBuffer.filled(
            with: PixelColor(red: 0, green: 0, blue: 255), size: PixelSize(width: 32, height: 32))
        let data = icon([
            ("ic11", try DecodedImage(pixels: blue).encoded(as: .png)),
            ("ic07", try DecodedImage(pixels: red).encoded(as: .png)),
        ])
        #expect(try ImageInfo(data: data).frameCount == 2)
        #expect(try Array(decode(data).pixels.packedBytes().prefix(4)) == [255, 0, 0, 255])
        let small = try decode(data, ImageDecodingOptions(size: .fit(width: 20, height: 20)))
        #expect(small.size.width == 20 && Array(small.pixels.packedBytes().prefix(4)) == [0, 0, 255, 255])
        #expect(try decode(data, ImageDecodingOptions(frames: .index(0))).size == blue.size)
        #expect(throws: ImageError.request(.frameNotFound(index: 2, frameCount: 2))) {
            try decode(data, ImageDecodingOptions(frames: .index(2)))
        }
    }

    /// Returns a NEF file with a preview and an orientation.
    private func nef(_ preview: Data, orientation: Int) -> Data {
        let make = Data("NIKON CORPORATION\0".utf8)
        func file(_ start: Int) -> Data {
            let inner = 8 + 2 + 5 * 12 + 4
            var data = Data("II".utf8) + little(42, 2) + little(8, 4) + little(5, 2)
            for (tag, kind, count, value) in [
                (271, 2, make.count, inner + 18), (274, 3, 1, orientation), (330, 4, 1, inner), (513, 4, 1, start),
                (514, 4, 1, preview.count),
            ] { data += little(tag, 2) + little(kind, 2) + little(count, 4) + little(value, 4) }
            data += little(0, 4) + little(1, 2) + little(262, 2) + little(3, 2) + little(1, 4) + little(32_803, 4)
            return data + little(0, 4) + make
        }
        return file(file(0).count) + preview
    }

    @Test("A RAW file shows its preview in the orientation of the RAW file, at every size")
    func preview() throws {
        let jpeg = try Fixture.named("444.jpg")
        let data = nef(try jpeg.data(), orientation: 6)
        let info = try ImageInfo(data: data)
        #expect(info.format == .nef && info.orientation == .right && info.size == jpeg.size.transposed)
        let image = try decode(data)
        #expect(image.format == .nef && image.size == jpeg.size.transposed)
        let upright = try OrientationTransform.upright(
            decode(jpeg.data()).pixels, .right, context: ImageProcessingContext())
        #expect(image.pixels.packedBytes() == upright.packedBytes())
        #expect(try decode(data, ImageDecodingOptions(size: .fit(width: 10))).size.width == 10)
        #expect(throws: ImageError.self) { try decode(data, ImageDecodingOptions(frames: .index(1))) }
    }

    /// Returns a RAF file with a preview.
    ///
    /// - Parameters:
    ///   - offset: The position of the preview in the header. The default is its position in the file.
    ///   - count: The size of the preview in the header. The default is its size in the file.
    private func raf(_ preview: Data, offset: Int? = nil, count: Int? = nil) -> Data {
        let start = 148
        var data = Data("FUJIFILMCCD-RAW 0201FF119101X-T0".utf8)
        data += Data(count: 84 - data.count)
        data += big(offset ?? start) + big(count ?? preview.count)
        data += Data(count: start - data.count)
        return data + preview + Data(count: 1_000)
    }

    @Test("A Fujifilm RAW file shows its JPEG file in the orientation of that file, at every size")
    func fujifilm() throws {
        let plain = try Fixture.named("444.jpg")
        var exif = Data("Exif\0\0II".utf8)
        // The only entry of the directory is the orientation.
        for (value, count) in [(42, 2), (8, 4), (1, 2), (0x112, 2), (3, 2), (1, 4), (6, 4), (0, 4)] {
            exif += little(value, count)
        }
        var jpeg = try plain.data()
        jpeg.insert(contentsOf: Data([0xFF, 0xE1, 0, UInt8(exif.count + 2)]) + exif, at: 2)
        let data = raf(jpeg)
        let info = try ImageInfo(data: data)
        #expect(info.format == .raf && info.orientation == .right && info.size == plain.size.transposed)
        let image = try decode(data)
        #expect(image.format == .raf && image.size == plain.size.transposed)
        #expect(try image.pixels.packedBytes() == decode(jpeg).pixels.packedBytes())
        let options = ImageDecodingOptions(size: .fit(width: 10))
        #expect(try decode(data, options).pixels.packedBytes() == decode(jpeg, options).pixels.packedBytes())
        #expect(throws: ImageError.self) { try decode(data, ImageDecodingOptions(frames: .index(1))) }
        // The preview ends after the file, so only the rows that have arrived can be shown.
        let cut = data.prefix(148 + jpeg.count * 9 / 10)
        #expect(throws: ImageError.self) { try decode(cut) }
        #expect(try decode(cut, ImageDecodingOptions(allowsPartialData: true)).metadata.isPartial)
        #expect(try decode(raf(jpeg, count: 0xFFFF_FFFF)).size == image.size)
    }

    @Test("A Fujifilm RAW file without a valid position of its JPEG file throws a typed error")
    func invalidFujifilm() throws {
        let jpeg = try Fixture.named("444.jpg").data()
        for data in [
            raf(jpeg, offset: 0xFFFF_FFFF), raf(jpeg, count: 0), raf(jpeg, offset: 84), raf(jpeg, offset: 0),
            raf(jpeg, offset: 150), raf(Data()), raf(Data("text".utf8)),
        ] {
            #expect {
                try decode(data)
            } throws: {
                guard case .decoding(let failure) = $0 as? ImageError, failure.format == .raf else { return false }
                return failure.reason == .unsupportedFeature("a file without a JPEG preview")
            }
        }
    }

    #if TIFF
        /// Returns a DNG file of 2 × 1 uncompressed pixels, without a JPEG preview.
        private func dng(photometric: Int) -> Data {
            let tags = [
                (256, 4, 1, 2), (257, 4, 1, 1), (258, 3, 3, 0), (259, 3, 1, 1), (262, 3, 1, photometric),
                (273, 4, 1, 6),
                (277, 3, 1, 3), (278, 4, 1, 1), (279, 4, 1, 6), (50_706, 1, 4, 0x0401),
            ]
            // The three bit depths and the pixels follow the directory.
            let end = 8 + 2 + tags.count * 12 + 4
            var data = Data("II".utf8) + little(42, 2) + little(8, 4) + little(tags.count, 2)
            for (tag, kind, count, value) in tags {
                let value = tag == 258 ? end : tag == 273 ? end + 6 : value
                data += little(tag, 2) + little(kind, 2) + little(count, 4) + little(value, 4)
            }
            data += little(0, 4) + little(8, 2) + little(8, 2) + little(8, 2)
            return data + Data([200, 100, 50, 10, 20, 30])
        }

        @Test("A RAW file without a JPEG preview is decoded as a TIFF file if its first page has pixels")
        func withoutPreview() throws {
            let data = dng(photometric: 2)
            let info = try ImageInfo(data: data)
            #expect(info.format == .dng && info.size == PixelSize(width: 2, height: 1))
            let image = try decode(data)
            #expect(image.format == .dng && image.pixels.packedBytes() == [200, 100, 50, 255, 10, 20, 30, 255])
            #expect(try decode(data, ImageDecodingOptions(size: .fit(width: 1))).size.width == 1)
        }

        @Test("The error for a RAW file with only sensor data contains the failures of both coders")
        func sensorData() {
            #expect {
                try decode(dng(photometric: 32_803))
            } throws: {
                guard case .decoding(let failure) = $0 as? ImageError,
                    case .allDecodersFailed(let failures) = failure.reason
                else { return false }
                guard failures.count == 2, case .unsupportedFeature(let feature) = failures[0].reason else {
                    return false
                }
                return feature == "a file without a JPEG preview" && failures[0].format == .dng
            }
        }
    #endif

    @Test("The automatic format of a RAW file is an encoding of its preview, also if metadata is kept")
    func encoding() throws {
        let data = nef(try Fixture.named("444.jpg").data(), orientation: 1)
        var encoding = ImageEncoding.automatic
        encoding.metadata = .keep
        let encoded = try ImageCoderRegistry.standard.encode(decode(data), as: encoding, original: data)
        #expect(ImageFormat(sniffing: encoded) == .jpeg)
    }

    @Test("Truncated and mutated files result in an image or a typed error")
    func hostile() throws {
        let area = 256
        let files = [
            nef(try Fixture.named("444.jpg").data(), orientation: 8), raf(try Fixture.named("444.jpg").data()),
            icon([("is32", plane(1, area) + plane(2, area) + plane(3, area)), ("s8mk", Data(count: area))]),
            icon([("ic04", Data("ARGB".utf8) + plane(255, area) + plane(9, area) + plane(8, area) + plane(7, area))]),
        ]
        var generator = SeededGenerator(17)
        for file in files {
            for round in 0..<400 {
                var bytes = file
                for _ in 0...(round % 4) {
                    bytes[Int.random(in: 0..<min(bytes.count, 400), using: &generator)] =
                        UInt8.random(in: 0...255, using: &generator)
                }
                if round % 5 == 0 { bytes = bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)) }
                for coder in [RAWCoder(), ICNSCoder()] as [any ImageCoder] {
                    let image = try? coder.decode(
                        bytes, info: nil, options: ImageDecodingOptions(),
                        context: ImageProcessingContext(limits: .icon))
                    #expect(image.map { !$0.size.isEmpty } ?? true)
                }
            }
        }
    }
}
