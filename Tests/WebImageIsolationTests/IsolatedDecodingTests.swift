// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestSupport

@testable import WebImageIsolation

@Suite("Isolated decoding", .enabled(if: Helpers.areBuilt, "webimage-decoder isn't built"))
struct IsolatedDecodingTests {
    /// The options whose results are compared.
    static let options: [ImageDecodingOptions] = {
        var deep = ImageDecodingOptions()
        deep.preservesBitDepth = true
        var raw = ImageDecodingOptions()
        raw.color = .source
        var scaled = ImageDecodingOptions(size: .fill(width: 9, height: 7, unit: .points))
        scaled.scale = 2
        scaled.resampling = .box
        return [
            ImageDecodingOptions(), ImageDecodingOptions(size: .fit(width: 20)), scaled, deep, raw,
            ImageDecodingOptions(frames: .first), ImageDecodingOptions(frames: .index(1)),
            ImageDecodingOptions(size: .fitting(byteCount: 3_000), frames: .range(0..<1)),
        ]
    }()

    @Test("Each file decodes to the same image as in process, with every product of options", arguments: Images.files)
    func decodes(file: String) throws {
        let data = try Images.data(file)
        for options in Self.options {
            let here = Seen.result { try ImageCoderRegistry.standard.decode(data, options: options) }
            let there = Seen.result { try Helpers.coders().decode(data, options: options) }
            #expect(here == there, "\(file) \(options)")
        }
    }

    @Test(
        "A confined helper decodes on several threads",
        arguments: [ImageFormat.avif, .jxl, .heif, .png].filter(ImageCoderRegistry.standard.canEncode))
    func threads(_ format: ImageFormat) throws {
        // AVIF files of this width have two tiles, and JPEG XL files have many groups.
        let pixels = try PixelBuffer.filled(
            with: PixelColor(red: 51, green: 128, blue: 230), size: PixelSize(width: 4_224, height: 136))
        let data = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: pixels), as: ImageEncoding(format: format))
        let here = Seen.result { try ImageCoderRegistry.standard.decode(data) }
        for count in [2, 16, 1_000] {
            let context = ImageProcessingContext(threadCount: count)
            let there = Seen.result { try Helpers.coders().decode(data, context: context) }
            #expect(here == there, "\(count) threads")
        }
    }

    @Test("Truncated and corrupt files fail in the same way as in process", arguments: Images.files)
    func truncated(file: String) throws {
        let data = try Images.data(file)
        var partial = ImageDecodingOptions()
        partial.allowsPartialData = true
        var changed = data
        for at in stride(from: data.count / 3, to: data.count, by: 97) { changed[at] ^= 0x55 }
        for (data, options) in [
            (data.prefix(data.count / 2), ImageDecodingOptions()), (data.prefix(data.count * 2 / 3), partial),
            (changed, ImageDecodingOptions()),
        ] {
            let here = Seen.result { try ImageCoderRegistry.standard.decode(Data(data), options: options) }
            let there = Seen.result { try Helpers.coders().decode(Data(data), options: options) }
            #expect(here == there, "\(file)")
        }
    }

    @Test("A download has the same previews as in process", arguments: Images.files)
    func previews(file: String) throws {
        let data = try Images.data(file)
        for grows in [false, true] {
            #expect(
                try Self.previews(of: data, by: .standard, grows)
                    == Self.previews(of: data, by: Helpers.coders(), grows))
        }
    }

    @Test(
        "The thumbnail of a HEIF file is a preview before the image arrives",
        .enabled(if: ImageCoderRegistry.standard.canDecode(.heif), "the trait HEIF is off"))
    func heifThumbnail() throws {
        let data = try #require(HEIFItemOrder.reversed(Images.data("formats/thumbnail.heic")))
        let previews = try Self.previews(of: data, by: Helpers.coders(), false)
        #expect(try previews == Self.previews(of: data, by: .standard, false))
        let image = try Helpers.coders().decode(data)
        let early = try #require(previews.dropLast().last ?? nil)
        #expect(early.size == image.size)
        #expect(try early != Seen(image))
    }

    /// Returns the visible preview after each of five parts of a download. A decoder repeats a preview if its helper was
    /// replaced, which isn't visible.
    static func previews(of data: Data, by coders: ImageCoderRegistry, _ grows: Bool) throws -> [Seen?] {
        let context = ImageProcessingContext()
        var previews: [Seen?] = []
        var visible: Seen?
        do {
            guard
                case .decoder(let decoder, _) = try coders.progressiveStart(
                    data, growsAnimations: grows, context: context)
            else { return [] }
            let step = data.count / 5 + 1
            for start in stride(from: 0, to: data.count, by: step) {
                let end = min(data.count, start + step)
                try decoder.append(data.subdata(in: start..<end), isLast: end == data.count, context: context)
                if let preview = try decoder.makePreview(context: context) { visible = try Seen(preview.image) }
                previews.append(visible)
            }
        } catch is ImageError {
            previews.append(nil)
        }
        return previews
    }

    static let encodings: [ImageEncoding] = [
        .jpeg, .png, .gif, .webp, .apng, .avif, .heic, .jxl, .tiff, .bmp, .qoi, .ppm, .pam, .ico(dimensions: [16, 8]),
        .webp.lossless, .jpeg(quality: 40, isProgressive: true),
    ]

    @Test("Each encoding is the same as in process", arguments: encodings)
    func encodes(encoding: ImageEncoding) throws {
        let format = try #require(encoding.format)
        guard ImageCoderRegistry.standard.canEncode(format) else { return }
        var encoding = encoding
        encoding.metadata = .keep
        for image in [try Images.noise(33, 21), try Images.animation(3)] {
            let here = try ImageCoderRegistry.standard.encode(image, as: encoding)
            let there = try Helpers.coders().encode(image, as: encoding)
            let (first, second) = try (
                Seen(ImageCoderRegistry.standard.decode(here)), Seen(ImageCoderRegistry.standard.decode(there))
            )
            // x265 makes other decisions if it can't read the number of processors.
            #expect(format == .heif ? first.size == second.size : first == second)
        }
    }

    @Test(
        "The colors of an image are converted before its encoded files are compared with it",
        arguments: ["p3-8.png", "cicp-9-16-16.png"], [ImageFormat.avif, .jxl, .jpeg])
    func visualScores(_ name: String, _ format: ImageFormat) throws {
        guard ImageCoderRegistry.standard.canEncode(format) else { return }
        var options = ImageDecodingOptions(color: .source)
        options.dynamicRange = .high
        let image = try ImageCoderRegistry.standard.decode(Images.data("colors/\(name)"), options: options)
        var encoding = ImageEncoding(format: format)
        encoding.visualScore = 70
        let here = try ImageCoderRegistry.standard.encode(image, as: encoding)
        #expect(try Helpers.coders().encode(image, as: encoding) == here)
    }

    @Test("A search for a file size and a lossless conversion work in a helper")
    func searches() throws {
        var encoding = ImageEncoding.jpeg
        encoding.maxByteCount = 3_000
        let image = try Images.noise(80, 80)
        let data = try Helpers.coders().encode(image, as: encoding)
        #expect(data.count <= 3_000)
        guard ImageCoderRegistry.standard.canEncode(.jxl) else { return }
        let jpeg = try ImageCoderRegistry.standard.encode(image, as: .jpeg)
        let decoded = try ImageCoderRegistry.standard.decode(jpeg)
        #expect(
            try Helpers.coders().encode(decoded, as: .jxl.lossless, original: jpeg)
                == ImageCoderRegistry.standard.encode(decoded, as: .jxl.lossless, original: jpeg))
    }

    @Test("An isolated animation that's encoded in another helper doesn't block with one helper")
    func nested() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1)
        let gif = try ImageCoderRegistry.standard.encode(Images.animation(4), as: .gif)
        let animated = try Helpers.coders(pool).decode(gif)
        let webp = try Helpers.coders(pool).encode(animated, as: .webp.lossless)
        #expect(try ImageCoderRegistry.standard.decode(webp).frameCount == 1 || !webp.isEmpty)
        let apng = try Helpers.coders(pool).encode(animated, as: .apng)
        #expect(
            try Seen(ImageCoderRegistry.standard.decode(apng)).pixels
                == Seen(ImageCoderRegistry.standard.decode(gif)).pixels)
    }

    @Test("An image that's larger than the memory of the helper's results is passed in other memory")
    func grows() throws {
        let image = try Images.noise(1_500, 1_100)
        let data = try ImageCoderRegistry.standard.encode(image, as: .png)
        #expect(try Seen(Helpers.coders().decode(data)).pixels == [image.pixels.packedBytes()])
        // The coder is called without a header, so the size of the result isn't known.
        let coder = try #require(Helpers.coders().coder(named: PNGCoder().identifier))
        let plain = try coder.decode(data, info: nil, options: .init(), context: .init())
        #expect(plain.pixels.packedBytes() == image.pixels.packedBytes())
        // The encoded data is larger than the memory, too.
        #expect(try Helpers.coders().encode(image, as: .bmp) == ImageCoderRegistry.standard.encode(image, as: .bmp))
    }

    @Test("A frame of an animation survives the end of its helper, and any order of frames is the same as in process")
    func frames() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1)
        let data = try ImageCoderRegistry.standard.encode(Images.animation(6), as: .apng)
        let here = try #require(try ImageCoderRegistry.standard.decode(data).animation)
        let there = try #require(try Helpers.coders(pool).decode(data).animation)
        for (step, index) in [0, 5, 2, 2, 4, 1, 3, 0].enumerated() {
            if step % 3 == 1 { for id in pool.processes { kill(id, SIGKILL) } }
            #expect(try here.frame(at: index).packedBytes() == there.frame(at: index).packedBytes())
        }
        #expect(throws: ImageError.request(.frameNotFound(index: 6, frameCount: 6))) { try there.frame(at: 6) }
    }

    @Test("Previews survive the end of their helper")
    func killedPreviews() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1)
        let data = try ImageCoderRegistry.standard.encode(
            Images.noise(200, 150), as: .jpeg(quality: 80, isProgressive: true))
        let context = ImageProcessingContext()
        let decoder = try #require(try Helpers.coders(pool).makeProgressiveDecoder(for: data))
        let half = data.count / 2
        try decoder.append(data.prefix(half), isLast: false, context: context)
        for id in pool.processes { kill(id, SIGKILL) }
        try decoder.append(data.dropFirst(half), isLast: true, context: context)
        for id in pool.processes { kill(id, SIGKILL) }
        let preview = try #require(try decoder.makePreview(context: context))
        #expect(preview.isComplete)
        #expect(try Seen(preview.image).pixels == Seen(ImageCoderRegistry.standard.decode(data)).pixels)
    }

    @Test("The frames of a preview survive the end of their helper")
    func killedPreviewFrames() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1)
        let data = try ImageCoderRegistry.standard.encode(Images.animation(6), as: .apng)
        let context = ImageProcessingContext()
        let part = data.prefix(data.count * 2 / 3)
        var previews: [ImageAnimation] = []
        for coders in [ImageCoderRegistry.standard, Helpers.coders(pool)] {
            let start = try coders.progressiveStart(part, growsAnimations: true, context: context)
            guard case .decoder(let decoder, _) = start else { continue }
            try decoder.append(part, isLast: false, context: context)
            if let animation = try decoder.makePreview(context: context)?.image.animation { previews.append(animation) }
        }
        try #require(previews.count == 2)
        #expect(previews[0].timeline == previews[1].timeline && !previews[1].isComplete)
        for index in 0..<previews[0].frameCount {
            for id in pool.processes { kill(id, SIGKILL) }
            #expect(
                try previews[0].frame(at: index).packedBytes() == previews[1].frame(at: index).packedBytes())
        }
    }

    @Test("Custom coders of an application work in its process")
    func custom() throws {
        let coders = ImageCoderRegistry([AttackName()]).isolated(
            by: IsolationPolicy(pool: Helpers.pool, isRequired: true), builtIn: .standard)
        #expect(throws: ImageError.decoding(.noData)) { try coders.decode(Data("x".utf8)) }
        #expect(Helpers.coders().identifiers == ImageCoderRegistry.standard.identifiers)
    }

    @Test(
        "Without a helper, images of pixels are decoded in process, and vectors from the network fail with the remedy")
    func missing() throws {
        let policy = IsolationPolicy(pool: nil)
        let coders = ImageCoderRegistry.standard.isolated(by: policy, builtIn: .standard)
        let png = try ImageCoderRegistry.standard.encode(Images.noise(4, 4), as: .png)
        #expect(try coders.decode(png).size == PixelSize(width: 4, height: 4))
        var trusting = policy
        trusting.trustsVectors = true
        var required = policy
        required.isRequired = true
        #expect(throws: ImageError.self) {
            try ImageCoderRegistry.standard.isolated(by: required, builtIn: .standard).decode(png)
        }
        guard ImageCoderRegistry.standard.canDecode(.svg) else { return }
        let svg = Data("<svg xmlns='http://www.w3.org/2000/svg' width='3' height='2'/>".utf8)
        let error = #expect(throws: ImageError.self) { try coders.decode(svg) }
        #expect(error?.code == 4012 && error?.message.contains("webimage-decoder") == true)
        let local = ImageCoderRegistry.standard.isolated(by: trusting, builtIn: .standard)
        #expect(try local.decode(svg).size == PixelSize(width: 3, height: 2))
    }

    @Test("A helper that can't be started counts as missing")
    func unusable() throws {
        let pool = Helpers.makePool("/bin/false")
        let policy = IsolationPolicy(pool: pool, isolatesAllFormats: true)
        let coders = ImageCoderRegistry.standard.isolated(by: policy, builtIn: .standard)
        let png = try ImageCoderRegistry.standard.encode(Images.noise(4, 4), as: .png)
        #expect(try coders.decode(png).size == PixelSize(width: 4, height: 4))
        let error = #expect(throws: ImageError.self) { try Helpers.coders(pool).decode(png) }
        #expect(error?.code == 4012)
    }

    @Test("A gain map comes from the helper, and goes to it")
    func gainMaps() throws {
        let here = ImageCoderRegistry.standard
        let there = Helpers.coders()
        let pixels = try Images.noise(120, 80).pixels
        let map = try StandardTransformer.resize(width: 33).transform(pixels, context: ImageProcessingContext())
        let metadata = GainMapMetadata(gainMax: 2, alternateHeadroom: 2)
        let image = DecodedImage(pixels: pixels).with(gainMap: GainMap(pixels: map, metadata: metadata))
        let data = try here.encode(image, as: .jpeg)
        #expect(try there.encode(image, as: .jpeg) == data)
        var options = ImageDecodingOptions()
        options.dynamicRange = .high
        let expected = try here.decode(data, options: options)
        let read = try there.decode(data, options: options)
        #expect(read.gainMap?.metadata == metadata)
        #expect(read.gainMap?.pixels.packedBytes() == expected.gainMap?.pixels.packedBytes())
        #expect(read.pixels.packedBytes() == expected.pixels.packedBytes())
        #expect(try there.decode(data).gainMap == nil)
        options.dynamicRange = .pq
        let rendered = try there.decode(data, options: options)
        #expect(rendered.metadata.hasHDRSamples && rendered.gainMap == nil)
        let own = try here.decode(data, options: options)
        #expect(rendered.pixels.packedBytes() == own.pixels.packedBytes() && rendered.metadata == own.metadata)
    }
}
