// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("Images with gain maps")
struct GainMapTests {
    /// An image with a bright square and a gain map of half its size.
    static func sample(width: Int = 128, height: Int = 96) throws -> DecodedImage {
        func isBright(_ x: Int, _ y: Int, _ scale: Int) -> Bool {
            (40..<64).contains(x * scale) && (16..<40).contains(y * scale)
        }
        let pixels = try PixelPatterns.make(width: width, height: height, isOpaque: true) { x, y in
            isBright(x, y, 1) ? SIMD4(250, 240, 200, 255) : SIMD4(40, 60, UInt8(clamping: x), 255)
        }
        let map = try PixelPatterns.make(width: width / 2, height: height / 2, isOpaque: true) { x, y in
            isBright(x, y, 2) ? SIMD4(255, 255, 255, 255) : SIMD4(0, 0, 0, 255)
        }
        let metadata = GainMapMetadata(gainMax: 3, alternateHeadroom: 3)
        return DecodedImage(pixels: pixels).with(gainMap: GainMap(pixels: map, metadata: metadata))
    }

    private static let expected: [String: (GainMapMetadata.Kind, Double, PixelSize)] = [
        "apple_gainmap_new.jpg": (.apple, log2(4.532783), PixelSize(width: 192, height: 256)),
        "paris_exif_xmp_gainmap_bigendian.jpg": (.ultraHDR, 3.5, PixelSize(width: 512, height: 384)),
        "paris_exif_xmp_icc_gainmap_bigendian.jpg": (.ultraHDR, 3.5, PixelSize(width: 512, height: 384)),
        "seine_sdr_gainmap_srgb.jpg": (.ultraHDR, 1.3, PixelSize(width: 400, height: 300)),
        "ultra-hdr.jpg": (.ultraHDR, 6.64386, PixelSize(width: 960, height: 540)),
        "seine_sdr_gainmap_srgb.avif": (.iso21496, 1.3, PixelSize(width: 400, height: 300)),
        "seine_sdr_gainmap_big_srgb.avif": (.iso21496, 1.3, PixelSize(width: 800, height: 600)),
        "seine_sdr_gainmap_notmapbrand.avif": (.iso21496, 1.3, PixelSize(width: 400, height: 300)),
        "seine_hdr_gainmap_small_srgb.avif": (.iso21496, 1.3, PixelSize(width: 200, height: 150)),
        "color_nogrid_alpha_nogrid_gainmap_grid.avif": (.iso21496, 3, PixelSize(width: 128, height: 160)),
        "color_grid_alpha_grid_gainmap_nogrid.avif": (.iso21496, 3, PixelSize(width: 64, height: 80)),
        "supported_gainmap_writer_version_with_extra_bytes.avif": (.iso21496, 3, PixelSize(width: 50, height: 50)),
    ]

    @Test(
        "Each file has the gain map that its producer wrote", arguments: HDRFiles.names("jpg") + HDRFiles.names("avif"))
    func reads(name: String) throws {
        let data = try HDRFiles.data(name)
        let image = try HDRFiles.image(data)
        let plain = try DecodedImage(data: data)
        #expect(plain.gainMap == nil && !plain.isHDR)
        guard let expected = Self.expected[name] else {
            #expect(image.gainMap == nil, "\(name)")
            return
        }
        let map = try #require(image.gainMap)
        #expect(map.metadata.kind == expected.0)
        #expect(abs(log2(map.metadata.maxHeadroom) - expected.1) < 1e-4, "\(map.metadata)")
        #expect(map.size == expected.2)
        if !image.metadata.hasHDRSamples { #expect(image.pixels.hasSamePixels(as: plain.pixels)) }
        let info = GainMapInfo.read(data, format: try #require(image.format))
        #expect(info == GainMapInfo.read(data, format: try #require(plain.format)))
        // The gains of an image that is converted to sRGB still apply to the primaries of the file.
        let stored = try DecodedImage(data: data, options: ImageDecodingOptions(color: .source, dynamicRange: .high))
        #expect(info?.metadata == stored.gainMap?.metadata && info?.size == map.size)
    }

    /// The images with a width of at most 400 pixels.
    private static let smallImages = SharedValues<String, DecodedImage>()

    @Test(
        "Rendering agrees with ISO 21496-1 in double precision", arguments: expected.keys.sorted(), [1.0, 2, 4, 8])
    func renders(name: String, headroom: Double) throws {
        guard Self.isAvailable(name) else { return }
        let image = try Self.smallImages.value(for: name) {
            try HDRFiles.image(try HDRFiles.data(name), size: .fit(width: 400))
        }
        // At the other headrooms, each third pixel of each third row is sufficient, unless the long variant is enabled.
        let step = headroom == 8 || LongTests.areEnabled ? 1 : 3
        let reference = try HDRMath.render(image, headroom: headroom, step: step)
        let points = image.metadata.hasHDRSamples ? image.metadata.colorPrimaries : nil
        // The other implementation supports only opaque PQ images, and the files with unspecified primaries have alpha.
        guard let primaries = HDRPixels.Primaries(rawValue: points ?? 1) else { return }
        let linear = HDRMath.psnr(
            HDRMath.light(try image.rendered(headroom: headroom, primaries: primaries), step: step), reference)
        let pq = HDRMath.psnr(
            HDRMath.light(try image.rendered(headroom: headroom, as: .pq, primaries: primaries), step: step), reference)
        #expect(linear > 60 && pq > 60, "\(name) at \(headroom): \(linear) dB, \(pq) dB")
        if headroom == 8 { #expect((reference.max() ?? 0) > 1.5) }
    }

    @Test(
        "Files with gain maps that this library writes look the same in libultrahdr",
        .enabled(if: HDRFiles.hasLibultrahdr, "requires imagecodecs from PyPI"),
        arguments: expected.keys.filter(isAvailable).sorted(), [1, 2, 4, 8])
    func agrees(name: String, headroom: Int) throws {
        let image = try HDRFiles.image(try HDRFiles.data(name), size: .fit(width: 640))
        // JPEG files are opaque, and the gains of transparent pixels are arbitrary.
        guard image.pixels.isOpaque else { return }
        let encoding = ImageEncoding(format: .jpeg, quality: 100).with(\.chromaSubsampling, .yuv444)
        let data = try image.encoded(as: encoding)
        let again = try HDRFiles.image(data)
        let own = HDRMath.light(
            try again.rendered(headroom: Double(headroom), primaries: HDRFiles.libultrahdrPrimaries(again)))
        let psnr = HDRMath.psnr(own, try HDRFiles.libultrahdr(data, headroom: headroom))
        // The inverse map of an image in PQ differs by 50.0 dB.
        #expect(psnr > (image.metadata.hasHDRSamples ? 45 : 50), "\(name) at \(headroom): \(psnr) dB")
    }

    private static func isAvailable(_ name: String) -> Bool {
        (HDRFiles.names("jpg") + HDRFiles.names("avif")).contains(name)
    }

    /// Returns a file whose properties of the gain map are attributes of the same size. libultrahdr 1.4 rejects
    /// properties in elements, which the original has.
    private static func withAttributes(_ data: Data) throws -> Data {
        let end = Data("</rdf:Description>".utf8)
        let start = try #require(data.range(of: Data("<rdf:Description".utf8), options: .backwards)).lowerBound
        guard let close = data.range(of: end, in: start..<data.endIndex) else { return data }
        var text = "<rdf:Description xmlns:hdrgm=\"\(GainMapMetadata.xmpNamespace)\" hdrgm:Version=\"1.0\""
        text += " hdrgm:GainMapMax=\"1.3\" hdrgm:HDRCapacityMax=\"1.3\"/>"
        let length = close.upperBound - start
        var changed = data
        changed.replaceSubrange(
            start..<close.upperBound,
            with: Data(text.utf8) + Data(repeating: UInt8(ascii: " "), count: length - text.utf8.count))
        return changed
    }

    @Test(
        "Original files look the same in libultrahdr if the chroma isn't interpolated, as in that library",
        .enabled(
            if: HDRFiles.hasLibultrahdr && Tools.hasDjpeg, "requires imagecodecs from PyPI and libjpeg-turbo-progs"),
        arguments: HDRFiles.names("jpg").filter { !$0.hasPrefix("apple") }, [1, 2, 4, 8])
    func agreesOnOriginal(name: String, headroom: Int) throws {
        let original = try HDRFiles.data(name)
        let data = name == "ultra-hdr.jpg" ? original : try Self.withAttributes(original)
        let image = try HDRFiles.image(data)
        let nearest = try Tools.run(["/usr/bin/djpeg", "-nosmooth", "-ppm", "picture"], data)
        let samples = [UInt8](nearest.suffix(image.size.width * image.size.height * 3))
        let pixels = try PixelPatterns.make(width: image.size.width, height: image.size.height, isOpaque: true) {
            x, y in
            let place = (y * image.size.width + x) * 3
            return SIMD4(samples[place], samples[place + 1], samples[place + 2], 255)
        }
        let base = DecodedImage(pixels: pixels).with(gainMap: image.gainMap)
        // Each 16th pixel of the large file is sufficient.
        let step = image.size.width > 1_000 ? 4 : 1
        let reference = try HDRFiles.libultrahdr(data, headroom: headroom, step: step)
        let own = HDRMath.light(try base.rendered(headroom: Double(headroom)), step: step)
        let psnr = HDRMath.psnr(own, reference)
        #expect(psnr > 50, "\(name) at \(headroom): \(psnr) dB")
    }

    @Test("A JPEG file keeps the gain map with equal metadata, and can omit it")
    func writesJPEG() throws {
        let image = try Self.sample()
        let data = try image.encoded(as: .jpeg)
        let read = try HDRFiles.image(data)
        let map = try #require(read.gainMap)
        #expect(map.metadata == image.gainMap?.metadata)
        #expect(map.size == image.gainMap?.size)
        let parts = try #require(JPEGGainMap.find(in: data))
        #expect(parts.range.upperBound == data.count)
        var xmp = try #require(EmbeddedMetadata(reading: data[parts.range]).xmp.flatMap { GainMapMetadata(xmp: $0) })
        xmp.kind = .iso21496
        #expect(xmp == map.metadata)
        var encoding = ImageEncoding(format: .jpeg)
        encoding.preservesDynamicRange = false
        let plain = try image.encoded(as: encoding)
        #expect(JPEGGainMap.find(in: plain) == nil)
        #expect(try DecodedImage(data: plain).pixels.packedBytes() == read.pixels.packedBytes())
        #expect(encoding.identity != ImageEncoding(format: .jpeg).identity)
    }

    @Test(
        "Apple’s gain map has the effect of Apple’s formula at the full headroom",
        arguments: HDRFiles.names("jpg").filter { $0.hasPrefix("apple") })
    func appliesApplesFormula(name: String) throws {
        let data = try HDRFiles.data(name)
        let parts = try #require(JPEGGainMap.find(in: data))
        var options = ImageDecodingOptions()
        options.color = .source
        let start = data.startIndex + parts.range.lowerBound
        let map = try DecodedImage(data: data.subdata(in: start..<start + parts.range.count), options: options).pixels
        // The file stores both images in the same orientation.
        let size = TargetSize.exact(width: Double(map.width), height: Double(map.height))
        let image = try HDRFiles.image(data, size: size)
        try #require(image.size == map.size && image.metadata.orientation == .up)
        // The headroom that the maker note of the file describes.
        let headroom = 4.532783
        let expected = HDRMath.render(image.pixels, appleMap: map, headroom: headroom)
        let psnr = HDRMath.psnr(HDRMath.light(try image.rendered(headroom: headroom)), expected)
        #expect(psnr > 50, "\(psnr) dB")
        #expect((expected.max() ?? 0) > 1.5)
    }

    /// A file whose base image is PQ and whose gain map describes the image in standard dynamic range.
    private static let reversed = HDRFiles.names("avif").filter { $0 == "seine_hdr_gainmap_small_srgb.avif" }

    @Test("A JPEG file of an image in PQ with a gain map has the inverse gain map", arguments: reversed)
    func reverses(name: String) throws {
        let image = try HDRFiles.image(try HDRFiles.data(name))
        let encoding = ImageEncoding(format: .jpeg, quality: 100).with(\.chromaSubsampling, .yuv444)
        let read = try HDRFiles.image(try image.encoded(as: encoding))
        let (old, new) = (try #require(image.gainMap).metadata, try #require(read.gainMap).metadata)
        #expect(new.baseHeadroom < 0.001 && abs(new.alternateHeadroom - old.baseHeadroom) < 0.001)
        for headroom in [1, 2, old.maxHeadroom] {
            let own = HDRMath.light(try image.rendered(headroom: headroom))
            let psnr = HDRMath.psnr(HDRMath.light(try read.rendered(headroom: headroom)), own)
            // The base image and the map have 8 bits.
            #expect(psnr > 38, "\(headroom): \(psnr) dB")
        }
        var standard = encoding
        standard.preservesDynamicRange = false
        #expect(try !HDRFiles.image(try image.encoded(as: standard)).isHDR)
    }

    @Test(
        "For standard dynamic range, the gain map of an image in PQ applies instead of the tone curve",
        arguments: reversed)
    func appliesToPQ(name: String) throws {
        let data = try HDRFiles.data(name)
        let image = try HDRFiles.image(data)
        let expected = HDRMath.light(try image.rendered(headroom: 1))
        let plain = try DecodedImage(data: data)
        #expect(plain.gainMap == nil && plain.metadata.color == .sRGB && plain.pixels.format == .rgba8)
        #expect(HDRMath.psnr(HDRMath.light(try plain.rendered(headroom: 1)), expected) > 48)
        var options = ImageDecodingOptions()
        options.color = .displayP3
        options.preservesBitDepth = true
        let wide = try DecodedImage(data: data, options: options)
        #expect(wide.metadata.color == .displayP3 && wide.pixels.format == .rgba16)
        #expect(HDRMath.psnr(HDRMath.light(try wide.rendered(headroom: 1)), expected) > 60)
        // If the limits don't allow the memory for the map, the tones are mapped.
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = 400 * 300 * 8 + 1_000
        options = ImageDecodingOptions()
        #expect(try DecodedImage(data: data, options: options, limits: limits).size == image.size)
    }

    @Test("A file with a maximum size keeps its gain map and most of its pixels", arguments: [2, 5, 12, 25])
    func limitedSize(_ divisor: Int) throws {
        let map = try PixelPatterns.texture(width: 600, height: 400)
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 600, height: 400))
            .with(gainMap: GainMap(pixels: map, metadata: GainMapMetadata(gainMax: 2, alternateHeadroom: 2)))
        let limit = try image.encoded(as: .jpeg).count / divisor
        let data = try image.encoded(as: ImageEncoding(format: .jpeg).with(\.maxByteCount, limit))
        let result = try HDRFiles.image(data)
        #expect(data.count <= limit && data.count * 10 > limit * 6, "\(data.count) of \(limit)")
        #expect(result.gainMap != nil && result.size.width >= 150, "\(result.size)")
    }

    @Test("A thumbnail of a photograph keeps its gain map, at most at its own size")
    func thumbnails() throws {
        let data = try Self.sample().encoded(as: .jpeg)
        for (size, map) in [(32.0, PixelSize(width: 32, height: 24)), (100, PixelSize(width: 64, height: 48))] {
            let small = try HDRFiles.image(data, size: .fit(width: size))
            #expect(small.gainMap?.size == map)
            let square = try HDRFiles.image(data, size: .fill(width: size, height: size))
            #expect(square.gainMap != nil)
            try Self.expectAligned(square)
        }
    }

    /// Checks that the center of the bright pixels is at the same place in the image and in its gain map.
    private static func expectAligned(_ image: DecodedImage, _ name: String = "") throws {
        func center(_ pixels: PixelBuffer, _ threshold: UInt8) throws -> (x: Double, y: Double) {
            var (x, y, count) = (0.0, 0.0, 0.0)
            let bytes = pixels.packedBytes()
            for index in 0..<pixels.width * pixels.height where bytes[index * 4] > threshold {
                x += (Double(index % pixels.width) + 0.5) / Double(pixels.width)
                y += (Double(index / pixels.width) + 0.5) / Double(pixels.height)
                count += 1
            }
            try #require(count > 0, "\(name)")
            return (x / count * Double(image.size.width), y / count * Double(image.size.height))
        }
        let map = try #require(image.gainMap, "\(name)")
        let (here, there) = (try center(image.pixels, 150), try center(map.pixels, 128))
        #expect(abs(here.x - there.x) <= 1 && abs(here.y - there.y) <= 1, "\(name): \(here), \(there)")
    }

    private static let geometricTransformers: [StandardTransformer] = [
        .resize(width: 50), .resize(.exact(width: 60, height: 90)), .crop(x: 31, y: 9, width: 50, height: 41),
        .crop(width: 90, height: 90), .flipHorizontally, .flipVertically, .rotate(degrees: 90), .rotate(degrees: 270),
        .rotate(degrees: 30, background: .black), .canvas(width: 200, height: 150, background: .black),
        .pad(10, color: .black), .smartCrop(width: 60, height: 60), .trim(tolerance: 0.5), .circle,
        .roundedCorners(radius: 5),
    ]

    @Test("Transformers move the gain map with the image", arguments: geometricTransformers)
    func moves(transformer: StandardTransformer) throws {
        let moved = try transformer.apply(to: try Self.sample())
        try Self.expectAligned(moved, "\(transformer)")
        let map = try #require(moved.gainMap)
        #expect(map.size.width <= max(64, moved.size.width) && map.size.height <= max(64, moved.size.height))
    }

    @Test("Transformers that change colors remove the gain map")
    func removes() throws {
        let image = try Self.sample()
        for transformer in [StandardTransformer.grayscale, .blur(radius: 2)] {
            #expect(try transformer.apply(to: image).gainMap == nil, "\(transformer)")
        }
    }

    @Test("A stored orientation applies to the gain map", arguments: ImageOrientation.allCases)
    func orientation(_ orientation: ImageOrientation) throws {
        var image = try Self.sample()
        let data = try image.encoded(as: .jpeg)
        let parts = try #require(JPEGGainMap.find(in: data))
        // The EXIF segment moves the gain map and the list of images by the same distance.
        let block: [UInt8] =
            Array("Exif\0\0MM\0*\0\0\0\u{8}".utf8) + [0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue)]
            + [0, 0, 0, 0, 0, 0]
        let segment = [0xFF, 0xE1, 0, UInt8(block.count + 2)] + block
        var turned = data
        turned.insert(contentsOf: segment, at: 2)
        #expect(JPEGGainMap.find(in: turned)?.range.lowerBound == parts.range.lowerBound + segment.count)
        image = try HDRFiles.image(turned)
        #expect(image.metadata.orientation == orientation)
        try Self.expectAligned(image, "\(orientation)")
    }

    @Test("A corrupt gain map leaves the image, and limits apply to both together")
    func hostile() throws {
        let data = try Self.sample().encoded(as: .jpeg)
        let range = try #require(JPEGGainMap.find(in: data)).range
        var damaged = data
        for index in stride(from: range.lowerBound + 700, to: range.upperBound, by: 1) { damaged[index] = 0xFF }
        #expect(try HDRFiles.image(damaged).size == PixelSize(width: 128, height: 96))
        #expect(try HDRFiles.image(data.prefix(range.lowerBound + 40)).gainMap == nil)
        var options = ImageDecodingOptions()
        options.dynamicRange = .high
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = 128 * 96 * 4 + 1_000
        #expect(throws: ImageError.self) { try DecodedImage(data: data, options: options, limits: limits) }
        options.dynamicRange = .standard
        #expect(throws: Never.self) { try DecodedImage(data: data, options: options, limits: limits) }
    }

    @Test("The limit on decoded bytes includes a gain map that is larger than the result, before it is decoded")
    func limits() throws {
        let data = try Self.sample(width: 512, height: 384).encoded(as: .jpeg)
        var options = ImageDecodingOptions(size: .exact(width: 16, height: 12))
        options.dynamicRange = .high
        var limits = ImageLimits.desktop
        // The small image and its map fit, but the stored map of 256 × 192 pixels doesn't.
        limits.maxDecodedBytes = 256 * 192 * 4
        let failure = #expect(throws: ImageError.self) {
            try DecodedImage(data: data, options: options, limits: limits)
        }
        guard case .limitExceeded(let limit) = failure else { throw try #require(failure) }
        #expect(limit.kind == .decodedSize && limit.actual > limits.maxDecodedBytes)
        limits.maxDecodedBytes *= 2
        #expect(try DecodedImage(data: data, options: options, limits: limits).gainMap != nil)
    }

    @Test("A codestream in the box jhgm is the gain map of a JPEG XL file")
    func readsJPEGXL() throws {
        guard ImageCoderRegistry.standard.canEncode(.jxl) else { return }
        let sample = try Self.sample()
        let map = try #require(sample.gainMap)
        func stream(_ pixels: PixelBuffer) throws -> Data {
            let data = try DecodedImage(pixels: pixels).encoded(as: ImageEncoding(format: .jxl, isLossless: true))
            try #require(data.starts(with: [0xFF, 0x0A]))
            return data
        }
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let size = content.count + 8
            return [UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
                + Array(name.utf8) + content
        }
        let metadata = map.metadata.isoBytes
        let bundle = [0, 0, UInt8(metadata.count)] + metadata + [0, 0, 0, 0, 0] + Array(try stream(map.pixels))
        let file =
            box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl \0\0\0\0jxl ".utf8)) + box("jhgm", bundle)
            + box("jxlc", Array(try stream(sample.pixels)))
        let read = try HDRFiles.image(Data(file))
        #expect(read.gainMap?.metadata == map.metadata)
        #expect(read.gainMap?.pixels.packedBytes() == map.pixels.packedBytes())
        #expect(read.pixels.packedBytes() == sample.pixels.packedBytes())
    }

    @Test(
        "A written file has equal metadata in libvips, which uses libultrahdr",
        .enabled(if: HDRFiles.hasVips, "requires pyvips 8.18 from PyPI"))
    func opensInVips() throws {
        let sample = try Self.sample()
        let map = try #require(sample.gainMap)
        var metadata = GainMapMetadata(gainMin: -0.5, gainMax: 2.5, alternateHeadroom: 2.25)
        metadata.gainMax = SIMD3(2.5, 2.25, 2)
        metadata.gamma = SIMD3(1.5, 1.25, 0.75)
        metadata.baseOffset = SIMD3(0.125, 0.0625, 0.03125)
        metadata.alternateOffset = SIMD3(0.25, 0.5, 0.015625)
        let image = sample.with(gainMap: GainMap(pixels: map.pixels, metadata: metadata))
        let data = try image.encoded(as: .jpeg)
        let script = """
            import pyvips
            image = pyvips.Image.uhdrload('picture')
            print(image.width, image.height)
            for name in ('min-content-boost', 'max-content-boost', 'gamma', 'offset-sdr', 'offset-hdr'):
                print(*image.get('gainmap-' + name))
            print(image.get('gainmap-hdr-capacity-min'), image.get('gainmap-hdr-capacity-max'))
            """
        let text = String(decoding: try Tools.run(HDRFiles.python + [script], data), as: UTF8.self)
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        func values(_ vector: SIMD3<Double>, _ convert: (Double) -> Double = { $0 }) -> [Double] {
            [vector.x, vector.y, vector.z].map(convert)
        }
        let expected =
            [128, 96] + values(metadata.gainMin, exp2) + values(metadata.gainMax, exp2) + values(metadata.gamma)
            + values(metadata.baseOffset) + values(metadata.alternateOffset) + [1, exp2(2.25)]
        try #require(numbers.count == expected.count, "\(text)")
        #expect(zip(numbers, expected).allSatisfy { abs($0 - $1) < 1e-4 }, "\(text)")
        #expect(try HDRFiles.image(data).gainMap?.metadata == metadata)
    }
}
