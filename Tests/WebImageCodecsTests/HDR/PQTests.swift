// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@testable import WebImageCodecs

@Suite("PQ and HLG images")
struct PQTests {
    /// PQ images in other primaries that have the same colors.
    private static let files = HDRFiles.names("avif").filter { $0.contains("hdr_") && !$0.contains("gainmap") }

    @Test(
        "The samples are kept for high dynamic range, and their tones are mapped as in a plain decode", arguments: files
    )
    func reads(name: String) throws {
        let data = try HDRFiles.data(name)
        let image = try HDRFiles.image(data)
        #expect(image.isHDR && image.gainMap == nil)
        #expect(image.pixels.format == .rgba16 && image.metadata.transferCharacteristics == 16)
        let plain = HDRMath.light(try DecodedImage(data: data).rendered(headroom: 1))
        let mapped = HDRMath.light(try image.rendered(headroom: 1))
        // The samples of the plain decode are rounded to 8 bits.
        #expect(HDRMath.psnr(plain, mapped) > 48, "\(name)")
    }

    @Test("More headroom changes only what exceeds the tone curve", arguments: files)
    func headroom(name: String) throws {
        let image = try HDRFiles.image(try HDRFiles.data(name))
        var last = HDRMath.light(try image.rendered(headroom: 1, primaries: .bt2020)).max() ?? 0
        #expect(last <= 1)
        for headroom in [2.0, 4, 8] {
            let light = HDRMath.light(try image.rendered(headroom: headroom, primaries: .bt2020))
            let brightest = light.max() ?? 0
            #expect(brightest <= headroom && brightest >= last, "\(name) at \(headroom)")
            last = brightest
        }
        let pq = try image.rendered(headroom: 49, as: .pq, primaries: .bt2020)
        let linear = try image.rendered(headroom: 49, as: .linear, primaries: .bt2020)
        #expect(HDRMath.psnr(HDRMath.light(pq), HDRMath.light(linear)) > 60)
    }

    /// Images of avifenc, heif-enc, cjxl, and a writer of PNG, and those of the conformance files.
    private static let toneFiles: [String] = {
        let own = [
            "cicp-9-16-10.avif", "cicp-9-16-16.png", "cicp-9-16.jxl", "cicp-9-18-10.avif", "cicp-9-18-16.png",
            "cicp-9-18.jxl", "cicp-9-16-10.heic",
        ]
        return own.filter { name in
            ImageFormat(fileExtension: (name as NSString).pathExtension).map(ImageCoderRegistry.standard.canDecode)
                ?? false
        } + files
    }()

    @Test(
        "PQ and HLG images are rendered as BT.2100 and BT.2390 define in double precision", arguments: toneFiles,
        [1.0, 2, 4, 8])
    func tones(name: String, headroom: Double) throws {
        let fixture = Fixtures.directory.appending(path: "colors/\(name)")
        let data = name.hasPrefix("cicp") ? try Data(contentsOf: fixture) : try HDRFiles.data(name)
        let image = try HDRFiles.image(data)
        #expect(image.isHDR && image.pixels.format == .rgba16 && image.isOpaque)
        let reference = HDRMath.render(tonesOf: image, headroom: headroom)
        let primaries = try #require(HDRPixels.Primaries(rawValue: image.metadata.colorPrimaries ?? 2))
        let light = HDRMath.light(try image.rendered(headroom: headroom, primaries: primaries))
        let psnr = HDRMath.psnr(light, reference)
        #expect(psnr > 50, "\(name) at \(headroom): \(psnr) dB")
    }

    /// The matrix from linear light of BT.2020 to linear light of BT.709 (BT.2407, section 2.2).
    private static let toSRGB: [SIMD3<Double>] = [
        SIMD3(1.6605, -0.5876, -0.0728), SIMD3(-0.1246, 1.1329, -0.0083), SIMD3(-0.0182, -0.1006, 1.1187),
    ]

    @Test("Colors outside of a smaller gamut keep their hue and their luminance", arguments: [1.0, 2, 16])
    func hue(headroom: Double) throws {
        let levels = [0.05, 0.3, 0.45, 0.58, 0.7]
        let colors = levels.flatMap { red in levels.flatMap { green in levels.map { SIMD3(red, green, $0) } } }
        let canvas = try PixelCanvas(size: PixelSize(width: colors.count, height: 1), format: .rgba16)
        canvas.withUnsafeMutableBytes { bytes in
            for (x, color) in colors.enumerated() {
                for channel in 0..<4 {
                    let sample = UInt16((channel < 3 ? color[channel] : 1) * 65_535)
                    bytes.storeBytes(of: sample, toByteOffset: (x * 4 + channel) * 2, as: UInt16.self)
                }
            }
        }
        let metadata = ImageMetadata(
            storedSize: PixelSize(width: colors.count, height: 1), bitDepth: 16,
            codePoints: ColorCodePoints(primaries: 9, transfer: 16), color: .source)
        let image = DecodedImage(pixels: canvas.finish(isOpaque: true), metadata: metadata)
        let stored = HDRMath.light(try image.rendered(headroom: 49, primaries: .bt2020))
        let rendered = HDRMath.light(try image.rendered(headroom: headroom, primaries: .sRGB))
        var outside = 0
        for place in stride(from: 0, to: stored.count, by: 3) {
            let source = SIMD3(stored[place], stored[place + 1], stored[place + 2])
            let light = SIMD3(rendered[place], rendered[place + 1], rendered[place + 2])
            let wanted = SIMD3(
                (Self.toSRGB[0] * source).sum(), (Self.toSRGB[1] * source).sum(), (Self.toSRGB[2] * source).sum())
            let weights = SIMD3(0.2126, 0.7152, 0.0722)
            let (luminance, gray) = ((weights * wanted).sum(), (weights * light).sum())
            #expect(light.min() >= 0 && light.max() <= headroom * 1.001)
            // The tone curve changes no tones below its knee.
            #expect(gray <= luminance * 1.01 && (wanted.max() > 0.4 || gray >= luminance * 0.99), "\(source)")
            let (chroma, own) = (wanted - luminance, light - gray)
            let product = ((chroma * chroma).sum() * (own * own).sum()).squareRoot()
            if product > luminance * gray * 1e-3 { #expect((chroma * own).sum() / product > 0.999, "\(source)") }
            if wanted.min() < -0.05 * wanted.max() { outside += 1 }
        }
        #expect(outside > 30)
    }

    @Test("An image with a gain map becomes PQ in AVIF, with 10 bits and code points")
    func writesAVIF() throws {
        guard ImageCoderRegistry.standard.canEncode(.avif) else { return }
        let image = try GainMapTests.sample()
        let data = try image.encoded(as: ImageEncoding(format: .avif, quality: 95))
        let info = try ImageInfo(data: data)
        #expect(info.bitDepth == 10 && info.codePoints == ColorCodePoints(primaries: 9, transfer: 16))
        let read = try HDRFiles.image(data)
        #expect(read.isHDR)
        let expected = HDRMath.light(try image.rendered(headroom: 8, primaries: .bt2020))
        let light = HDRMath.light(try read.rendered(headroom: 8, primaries: .bt2020))
        let psnr = HDRMath.psnr(light, expected)
        #expect(psnr > 35, "\(psnr) dB")
        #expect((light.max() ?? 0) > 5)
        var encoding = ImageEncoding(format: .avif)
        encoding.preservesDynamicRange = false
        #expect(try ImageInfo(data: try image.encoded(as: encoding)).codePoints?.isHDR == false)
    }

    @Test("AVIF files have the requested number of bits, and libavif reads the code points")
    func depths() throws {
        guard ImageCoderRegistry.standard.canEncode(.avif) else { return }
        #if AVIF
            let image = try GainMapTests.sample()
            for depth in [10, 12] {
                let data = try AVIFCoder(encodedDepth: depth).encode(
                    image, as: ImageEncoding(format: .avif, quality: 95), context: ImageProcessingContext())
                #expect(try ImageInfo(data: data).bitDepth == depth)
                let expected = HDRMath.light(try image.rendered(headroom: 8, primaries: .bt2020))
                let light = HDRMath.light(try HDRFiles.image(data).rendered(headroom: 8, primaries: .bt2020))
                #expect(HDRMath.psnr(light, expected) > 35)
                guard FileManager.default.isExecutableFile(atPath: "/usr/bin/avifdec") else { continue }
                let text = String(
                    decoding: try Tools.run(["/usr/bin/avifdec", "--info", "picture.avif"], data, as: "picture.avif"),
                    as: UTF8.self)
                let lines = text.split(separator: "\n").map { $0.filter { $0 != " " } }
                #expect(lines.contains { $0.hasSuffix("BitDepth:\(depth)") }, "\(text)")
                #expect(lines.contains { $0.hasSuffix("ColorPrimaries:9") }, "\(text)")
                #expect(lines.contains { $0.hasSuffix("TransferChar.:16") }, "\(text)")
            }
        #endif
    }

    @Test(
        "An AVIF file in PQ has 10 bits and equal samples in libvips and imagecodecs",
        .enabled(if: HDRFiles.hasLibultrahdr && HDRFiles.hasVips, "requires imagecodecs and pyvips from PyPI"))
    func opensElsewhere() throws {
        guard ImageCoderRegistry.standard.canEncode(.avif) else { return }
        let image = try GainMapTests.sample()
        let data = try image.encoded(as: ImageEncoding(format: .avif, quality: 95).with(\.chromaSubsampling, .yuv444))
        let places = [(50, 30), (10, 80), (100, 90)]
        let script = """
            import imagecodecs, pyvips
            data = open('picture', 'rb').read()
            own = imagecodecs.avif_decode(data)
            image = pyvips.Image.new_from_buffer(data, '')
            other = image.numpy() >> 6
            print(image.width, image.height, image.get('bits-per-sample'), *own.shape)
            for x, y in \(places):
                print(*own[y, x], *other[y, x])
            """
        let text = String(decoding: try Tools.run(HDRFiles.python + [script], data), as: UTF8.self)
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 6 + places.count * 6, "\(text)")
        #expect(Array(numbers.prefix(6)) == [128, 96, 10, 96, 128, 3])
        let pixels = try HDRFiles.image(data).pixels
        let samples = pixels.withUnsafeBytes { bytes in
            places.flatMap { x, y in
                // Both libraries print the samples of the same pixel.
                [0, 2, 4, 0, 2, 4].map { channel in
                    let word = bytes.load(
                        fromByteOffset: y * pixels.bytesPerRow + x * 8 + channel, as: UInt16.self)
                    return Int((Double(word) / 65_535 * 1_023).rounded())
                }
            }
        }
        #expect(zip(numbers.dropFirst(6), samples).allSatisfy { abs($0 - $1) <= 2 }, "\(text)\n\(samples)")
    }

    @Test("PQ images get a standard dynamic range and Display P3 in formats without PQ", arguments: files.prefix(1))
    func writesStandardRange(name: String) throws {
        let data = try HDRFiles.data(name)
        let lossless = try HDRFiles.image(data).encoded(as: ImageEncoding(format: .webp, isLossless: true))
        let registry = ImageCoderRegistry.standard
        let plain = try registry.decode(data, options: ImageDecodingOptions(color: .displayP3)).pixels.packedBytes()
        let file = try registry.decode(lossless, options: ImageDecodingOptions(color: .source))
        #expect(file.metadata.iccProfile.map { [UInt8]($0) } == CompactProfile.displayP3)
        let read = file.pixels.packedBytes()
        let difference = SampleDifferences(plain, read)?.largest ?? .max
        #expect(difference <= 2)
    }

    @Test(
        "PNG, AVIF, and JPEG XL keep PQ and HLG, unless the encoding asks for a standard dynamic range",
        arguments: [ImageFormat.png, .avif, .jxl].filter(ImageCoderRegistry.standard.canEncode), [16, 18])
    func keepsSamples(format: ImageFormat, transfer: Int) throws {
        let pixels = try PixelPatterns.wideGradient()
        let points = ColorCodePoints(primaries: 9, transfer: transfer)
        let image = DecodedImage(
            pixels: pixels,
            metadata: ImageMetadata(storedSize: pixels.size, bitDepth: 16, codePoints: points, color: .source))
        var encoding = ImageEncoding(format: format, quality: 95)
        let kept = try HDRFiles.image(try image.encoded(as: encoding))
        #expect(kept.isHDR && kept.metadata.codePoints == points && kept.pixels.format == .rgba16)
        let own = HDRMath.light(try image.rendered(headroom: 4))
        #expect(HDRMath.psnr(HDRMath.light(try kept.rendered(headroom: 4)), own) > 30)
        encoding.preservesDynamicRange = false
        let mapped = try HDRFiles.image(try image.encoded(as: encoding))
        #expect(!mapped.isHDR && mapped.metadata.codePoints?.isHDR != true)
    }

    @Test("An AVIF file with a gain map has standard dynamic range if a color space is requested")
    func requestedColor() throws {
        guard ImageCoderRegistry.standard.canEncode(.avif) else { return }
        let image = try GainMapTests.sample()
        let data = try image.encoded(as: ImageEncoding(format: .avif, quality: 95).with(\.color, .sRGB))
        #expect(try ImageInfo(data: data).codePoints == .sRGB)
        #expect(similarity(try DecodedImage(data: data).pixels, image.pixels) > 35)
    }

    @Test("A visual quality applies to PQ images after their tones are mapped")
    func looks() throws {
        guard ImageCoderRegistry.standard.canEncode(.avif) else { return }
        let image = try GainMapTests.sample()
        let data = try image.encoded(as: ImageEncoding(format: .avif).with(\.visualScore, 70))
        let full = try image.encoded(as: ImageEncoding(format: .avif, quality: 100))
        #expect(data.count < full.count)
        #expect(try HDRFiles.image(data).isHDR)
    }

    @Test("Headrooms below 1 and numbers that aren't finite are invalid", arguments: [0, 0.5, -1, .infinity, .nan])
    func invalid(headroom: Double) throws {
        let image = try GainMapTests.sample()
        #expect(throws: ImageError.request(.invalidOption(name: "headroom", value: "\(headroom)"))) {
            try image.rendered(headroom: headroom)
        }
    }
}
