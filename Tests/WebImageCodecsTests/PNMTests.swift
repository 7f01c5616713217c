// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("PBM, PGM, PPM, and PAM")
struct PNMTests {
    private func decode(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try PNMCoder().decode(data, info: nil, options: options, context: ImageProcessingContext())
    }

    private func decode(_ text: String, allowsPartial: Bool = false) throws -> DecodedImage {
        try decode(Data(text.utf8), ImageDecodingOptions(allowsPartialData: allowsPartial))
    }

    private func code(_ text: String) -> Int? {
        do {
            _ = try decode(text)
            return nil
        } catch {
            return (error as? ImageError)?.code
        }
    }

    /// Returns the red samples.
    private func red(_ image: DecodedImage) -> [UInt8] {
        let bytes = image.pixels.packedBytes()
        return stride(from: 0, to: bytes.count, by: 4).map { bytes[$0] }
    }

    private func words(_ pixels: PixelBuffer) -> [UInt16] {
        pixels.packedBytes().withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
    }

    @Test("Comments and any whitespace separate the numbers of a header and of text samples")
    func comments() throws {
        #expect(try red(decode("P2#a\n#b\r3#c\n1\t\u{B}9\u{C}0 # 5 6\n9#8\n5")) == [0, 255, 142])
        #expect(try red(decode("P1\n# 1 1\n2 2\n1 0#1\n 01")) == [0, 255, 255, 0])
        #expect(try red(decode("P1 9 1 101010101")) == [0, 255, 0, 255, 0, 255, 0, 255, 0])
        // One byte of whitespace precedes binary samples, or a comment that ends the last number.
        #expect(try red(decode("P5 2 1 99\n\n#")) == [26, 90])
        #expect(try red(decode("P5 2 1 99#\n\n#")) == [26, 90])
        #expect(try red(decode("P5 2 1 99\r\n#")) == [26, 90])
    }

    @Test("Samples above the maximum count as the maximum")
    func largeSamples() throws {
        #expect(try red(decode("P2 3 1 10 10 11 99999999999999999999999")) == [255, 255, 255])
        #expect(try red(decode("P5 2 1 99 \u{7F}1")) == [255, 126])
        #expect(try red(decode("P5 1 1 300 zz")) == [255])
    }

    @Test("Data after the image, such as another image, is ignored")
    func trailingData() throws {
        let image = try decode("P2 2 1 9 0 9 P2 2 1 9 9 0")
        #expect(red(image) == [0, 255] && !image.metadata.isPartial)
        #expect(try red(decode("P5 1 1 255 AP5 1 1 255 B")) == [65])
    }

    @Test(
        "Invalid headers and samples throw",
        arguments: [
            ("P5", 4005), ("P5 1", 4005), ("P5 1 1 255", 4005), ("P5 1 1 255 ", 4005), ("P2 2 1 9 3", 4005),
            ("P1 3 2 10110", 4005), ("P5 0 1 255 a", 4006), ("P5 1 0 255 a", 4006), ("P5 1 1 0 a", 4006),
            ("P5 1 1 65536 aa", 4006), ("P5 -1 1 255 a", 4006), ("P5 99999999999999999999 1 255 a", 4006),
            ("P8 1 1 255 a", 4006), ("P51 1 255 a", 4006), ("P2 1 1 9 -3", 4006), ("P2 2 1 9 3,4", 4006),
            ("P1 2 1 12", 4006), ("P7 332\n", 4006), ("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nENDHDR\na", 4006),
            ("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\na", 4006),
            ("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\nabcde", 4007),
            ("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\nabcd", 4007),
            ("P7\nWIDTH 1\nCOLOR 1\nENDHDR\n", 4006), ("P7\nWIDTH 1\nHEIGHT 1\n", 4005),
        ])
    func invalid(_ text: String, _ expected: Int) {
        #expect(code(text) == expected, "\(text)")
    }

    @Test("The size of a header and of an image is limited before pixels are allocated")
    func limits() throws {
        let comment = "P5\n#" + String(repeating: "c", count: 70_000)
        for text in [comment, comment + "\n1 1 255\na", "P7\n" + String(repeating: "\n", count: 70_000) + "ENDHDR\n"] {
            #expect { _ = try decode(text) } throws: {
                guard case .limitExceeded(let failure)? = $0 as? ImageError else { return false }
                return failure.kind == .metadataSize
            }
        }
        for text in ["P6 2000000000 2000000000 65535 a", "P1 2147483647 2147483647 1", "P2 30000 30000 1 1"] {
            #expect { _ = try decode(text) } throws: {
                if case .limitExceeded? = $0 as? ImageError { true } else { false }
            }
        }
        let small = Data("P6 3000 3000 255 a".utf8)
        #expect { _ = try DecodedImage(data: small) } throws: {
            if case .limitExceeded(let failure)? = $0 as? ImageError { failure.kind == .implausibleSize } else { false }
        }
    }

    @Test("Missing and invalid pixels are transparent if partial images are allowed")
    func partial() throws {
        for text in ["P2 1 3 9 9 9", "P5 1 3 255 \u{7F}\u{7F}", "P2 1 3 9 9 9 x", "P1 1 3 00x"] {
            let image = try decode(text, allowsPartial: true)
            #expect(image.metadata.isPartial && !image.isOpaque)
            let bytes = image.pixels.packedBytes()
            #expect(bytes[3] == 255 && bytes[7] == 255 && bytes.suffix(4) == [0, 0, 0, 0], "\(text)")
        }
    }

    @Test("Samples above 255 keep 16 bits if the options request them, and are rounded otherwise")
    func deep() throws {
        let options = ImageDecodingOptions(preservesBitDepth: true)
        let file = Data("P6\n1 2\n65535\n".utf8) + Data([0x12, 0x34, 0x56, 0x78, 0xFF, 0xFF, 0, 1, 0x80, 0, 0, 0x81])
        let deep = try decode(file, options)
        #expect(deep.pixels.format == .rgba16 && deep.metadata.bitDepth == 16)
        #expect(words(deep.pixels) == [0x1234, 0x5678, 0xFFFF, 0xFFFF, 1, 0x8000, 0x81, 0xFFFF])
        #expect(try decode(file).pixels.packedBytes() == [0x12, 0x56, 255, 255, 0, 0x80, 1, 255])
        let ten = try decode(Data("P2 3 1 1023 0 512 1023".utf8), options)
        #expect(words(ten.pixels).enumerated().filter { $0.offset % 4 == 0 }.map(\.element) == [0, 32_800, 65_535])
        #expect(ten.metadata.bitDepth == 10)
        #expect(try decode(Data("P2 1 1 255 7".utf8), options).pixels.format == .rgba8)
    }

    @Test("Files have a header of Netpbm and the samples in its order")
    func files() throws {
        let pixels = try decode(Data("P6 2 1 255\nabcdef".utf8)).pixels
        func file(_ encoding: ImageEncoding) throws -> String {
            String(decoding: try DecodedImage(pixels: pixels).encoded(as: encoding), as: UTF8.self)
        }
        #expect(try file(.ppm) == "P6\n2 1\n255\nabcdef")
        // 0.2126 × 97 + 0.7152 × 98 + 0.0722 × 99 is 97.86, and 100.86 for the second pixel.
        #expect(try file(.pgm) == "P5\n2 1\n255\nbe")
        #expect(
            try file(.pam) == "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\nabcdef")
    }

    @Test("PPM and PGM show the background through transparent pixels, and PAM keeps straight alpha")
    func transparency() throws {
        let head = "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
        let file = Data(head.utf8) + Data([200, 100, 50, 255, 255, 0, 0, 51])
        let image = try decode(file)
        #expect(try image.encoded(as: .pam) == file)
        let white = try decode(image.encoded(as: .ppm))
        #expect(white.pixels.packedBytes() == [200, 100, 50, 255, 255, 204, 204, 255])
        let black = try decode(image.encoded(as: .ppm.with(\.background, PixelColor(red: 0, green: 0, blue: 0))))
        #expect(black.pixels.packedBytes() == [200, 100, 50, 255, 51, 0, 0, 255])
        #expect(try red(decode(image.encoded(as: .pgm))) == [118, 215])
    }

    @Test("Pixels with 16 bits survive PAM and PPM unchanged", arguments: [ImageFormat.pam, .ppm, .pgm])
    func deepFiles(_ format: ImageFormat) throws {
        let options = ImageDecodingOptions(preservesBitDepth: true)
        let file = try format == .pgm ? Fixture.named("gray16.pgm") : Fixture.named("rgb16.ppm")
        let image = try decode(file.data(), options)
        let again = try decode(image.encoded(as: ImageEncoding(format: format)), options)
        #expect(again.pixels.format == .rgba16 && again.pixels.hasSamePixels(as: image.pixels))
    }

    @Test(
        "A large image is reduced row by row to the same pixels", arguments: ["text4.pgm", "rgba16.pam", "binary.pbm"])
    func reduced(_ file: String) throws {
        let data = try Fixture.named(file).data()
        let size = TargetSize.fit(width: 6, height: 6)
        let image = try decode(data, ImageDecodingOptions(size: size))
        // The decoder for BMP holds the whole image.
        let bitmap = try BMPCoder().decode(
            decode(data).encoded(as: .bmp), info: nil, options: ImageDecodingOptions(size: size),
            context: ImageProcessingContext())
        #expect(image.size == bitmap.size)
        #expect(similarity(image.pixels, bitmap.pixels) > 40)
    }
}
