// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Decoding in linear light")
struct LinearLightDecodingTests {
    /// Returns a pattern whose mean light is half of the maximum, in either phase.
    private func pattern(_ side: Int, phase: Int = 0) throws -> PixelBuffer {
        try PixelPatterns.make(width: side, height: side, isOpaque: true) { x, y in
            (x + y + phase).isMultiple(of: 2) ? SIMD4(255, 255, 255, 255) : SIMD4(0, 0, 0, 255)
        }
    }

    private func decode(_ data: Data, _ options: ImageDecodingOptions) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, options: options, context: ImageProcessingContext())
    }

    private func center(_ pixels: PixelBuffer) -> Int {
        Int(pixels.color(x: pixels.width / 2, y: pixels.height / 2)?.green ?? 0)
    }

    @Test(
        "Lossless images are reduced in the requested light",
        arguments: [ImageEncoding.png, .webp.lossless, ImageEncoding(format: .bmp), ImageEncoding(format: .qoi)])
    func stills(_ encoding: ImageEncoding) throws {
        let data = try PixelPatterns.encode(pattern(64), as: encoding)
        var options = ImageDecodingOptions(size: .fit(width: 40, height: 40))
        #expect(abs(center(try decode(data, options).pixels) - 188) <= 2)
        options.resampling = .lanczos3(light: .encoded)
        #expect(abs(center(try decode(data, options).pixels) - 128) <= 2)
    }

    @Test("A lossless WebP image that the limits allow isn't reduced by libwebp, and a lossy one is reduced less")
    func webP() throws {
        let pattern = try pattern(512)
        let context = ImageProcessingContext()
        let size = TargetSize.fit(width: 60, height: 60)
        let expected = try ResizeTransformer(to: size).transform(pattern, context: context)
        let lossless = try PixelPatterns.encode(pattern, as: .webp.lossless)
        let small = try decode(lossless, ImageDecodingOptions(size: size)).pixels
        #expect(small.packedBytes() == expected.packedBytes() && abs(center(small) - 188) <= 1)
        // A thumbnail with less light is better than none.
        let limits = ImageLimits(maxDecodedBytes: 500_000)
        let limited = try ImageCoderRegistry.standard.decode(
            lossless, options: ImageDecodingOptions(size: size), context: ImageProcessingContext(limits: limits))
        #expect(limited.size == small.size)

        let texture = try PixelPatterns.texture(width: 768, height: 512)
        let lossy = try PixelPatterns.encode(texture, as: .webp(quality: 95))
        let whole = try decode(lossy, ImageDecodingOptions()).pixels
        let reduced = try decode(lossy, ImageDecodingOptions(size: size)).pixels
        let goal = try ResizeTransformer(to: size).transform(whole, context: context)
        #expect(similarity(reduced, goal) > 40, "\(similarity(reduced, goal))")
    }

    @Test("A progressive JPEG image is reduced like one with fine detail")
    func progressive() throws {
        let texture = try PixelPatterns.texture(width: 1_200, height: 800)
        var encoding = ImageEncoding.jpeg(quality: 90)
        encoding.isProgressive = true
        let data = try PixelPatterns.encode(texture, as: encoding)
        #expect(try ImageInfo(data: data).detail == .fine)
        let size = TargetSize.fit(width: 280, height: 280)
        let goal = try ResizeTransformer(to: size).transform(
            try decode(data, ImageDecodingOptions()).pixels, context: ImageProcessingContext())
        let small = try decode(data, ImageDecodingOptions(size: size)).pixels
        #expect(similarity(small, goal) > 40, "\(similarity(small, goal))")
    }

    @Test("A large PNG image that is decoded row by row has the same light")
    func rows() throws {
        let data = try PixelPatterns.encode(pattern(512), as: .png)
        let limits = ImageLimits(maxDecodedBytes: 300_000)
        let options = ImageDecodingOptions(size: .fit(width: 50, height: 50))
        let small = try ImageCoderRegistry.standard.decode(
            data, options: options, context: ImageProcessingContext(limits: limits))
        #expect(abs(center(small.pixels) - 188) <= 1)
        let whole = try ResizeTransformer(to: .fit(width: 50, height: 50)).transform(
            try decode(data, ImageDecodingOptions()).pixels, context: ImageProcessingContext())
        #expect(similarity(small.pixels, whole) > 60)
    }

    @Test(
        "Every frame of an animation is reduced in linear light", arguments: [ImageEncoding.gif, .apng, .webp.lossless])
    func animations(_ encoding: ImageEncoding) throws {
        let frames = try (0..<4).map { (pixels: try pattern(60, phase: $0), duration: Duration.milliseconds(50)) }
        let source = try DecodedImage(animation: ImageAnimation(frames: frames))
        let data = try coder(for: encoding.formatOrAutomatic).encode(
            source, as: encoding, context: ImageProcessingContext())
        for (light, expected) in [(ResamplingFilter.Light.linear, 188), (.encoded, 128)] {
            let options = ImageDecodingOptions(size: .fit(width: 20, height: 20))
            let image = try decode(data, options.with(.lanczos3(light: light)))
            let animation = try #require(image.animation)
            #expect(image.frameCount == 4)
            for index in 0..<4 { #expect(abs(center(try animation.frame(at: index)) - expected) <= 2) }
        }
    }

    /// The JPEG files of noise by quality.
    private static let noiseFiles = SharedValues<Int, Data>()

    /// A JPEG file of noise. The requested reduction would allow the scale 1/4, which averages the stored values.
    private func noiseFile(_ quality: Int) throws -> Data {
        try Self.noiseFiles.value(for: quality) {
            try PixelPatterns.encode(
                PixelPatterns.noise(width: 720, height: 540, seed: 4), as: .jpeg(quality: quality))
        }
    }

    private let noiseOptions = ImageDecodingOptions(size: .fit(width: 72, height: 54))

    @Test("Noise in JPEG files keeps its light", arguments: [50, 75, 90, 98, 100])
    func noise(_ quality: Int) throws {
        let data = try noiseFile(quality)
        #expect(try ImageInfo(data: data).detail == .noise)
        let whole = try decode(data, ImageDecodingOptions()).pixels
        let expected = try ResizeTransformer(to: .fit(width: 72, height: 54))
            .transform(whole, context: ImageProcessingContext())
        let small = try decode(data, noiseOptions).pixels
        #expect(abs(mean(small) - mean(expected)) <= 1, "\(mean(small)), \(mean(expected))")
        // If the limits don't allow the whole image, a thumbnail with less light is better than none.
        let limits = ImageLimits(maxDecodedBytes: 800_000)
        let limited = try ImageCoderRegistry.standard.decode(
            data, options: noiseOptions, context: ImageProcessingContext(limits: limits))
        #expect(limited.size == small.size)
    }

    @Test(
        "Noise in a JPEG file that arrives in parts has the pixels of a complete decode", arguments: [75, 98], [1, 700])
    func streamedNoise(_ quality: Int, _ chunk: Int) throws {
        let data = try noiseFile(quality)
        let whole = try decode(data, noiseOptions)
        let prefix = try #require(
            (1...data.count).first { count in
                guard case .found = ImageInfo.probe(data.prefix(count), isComplete: false) else { return false }
                return true
            })
        for limits in [ImageLimits.desktop, ImageLimits(maxDecodedBytes: 800_000)] {
            let start = try ImageCoderRegistry.standard.progressiveStart(
                data.prefix(prefix), encodedBytes: data.count, options: noiseOptions,
                context: ImageProcessingContext(limits: limits))
            guard case .decoder(let decoder, let info) = start else { throw ImageError.cancelled }
            #expect(try info == ImageInfo(data: data))
            for offset in stride(from: 0, to: data.count, by: chunk * 64) {
                let part = data.dropFirst(offset).prefix(chunk * 64)
                try decoder.append(
                    Data(part), isLast: offset + part.count == data.count,
                    context: ImageProcessingContext(limits: limits))
            }
            let preview = try decoder.makePreview(context: ImageProcessingContext(limits: limits))
            let complete = try ImageCoderRegistry.standard.decode(
                data, options: noiseOptions, context: ImageProcessingContext(limits: limits))
            #expect(preview?.image.pixels.packedBytes() == complete.pixels.packedBytes())
            #expect((complete.pixels.packedBytes() == whole.pixels.packedBytes()) == (limits == .desktop))
        }
    }

    @Test("The header of a file with changed tables or blocks is the same for a part of the file", arguments: [50, 98])
    func hostileTables(_ quality: Int) throws {
        let data = try noiseFile(quality)
        var numbers = SeededGenerator(UInt64(quality))
        var found = 0
        for _ in 0..<400 {
            var changed = data
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                changed[Int.random(in: 2..<3_000, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
            guard case .found(let info) = ImageInfo.probe(changed.prefix(4_096), isComplete: false) else { continue }
            found += 1
            #expect(ImageInfo.probe(changed, isComplete: true) == .found(info))
        }
        #expect(found > 100, "\(found)")
    }

    @Test("A texture like a photograph isn’t noise, and small steps mean fine detail", arguments: [50, 75, 90, 98])
    func photographs(_ quality: Int) throws {
        let data = try PixelPatterns.encode(
            PixelPatterns.texture(width: 720, height: 540), as: .jpeg(quality: quality))
        #expect(try ImageInfo(data: data).detail == (quality > 96 ? .fine : .ordinary))
    }

    /// Returns the mean of the green samples.
    private func mean(_ pixels: PixelBuffer) -> Int {
        let bytes = pixels.packedBytes()
        return stride(from: 1, to: bytes.count, by: 4).reduce(0) { $0 + Int(bytes[$1]) } * 4 / bytes.count
    }

    @Test("With the nearest kernel, a JPEG decoder doesn’t scale, so the pixels are pixels of the source")
    func nearest() throws {
        let data = try PixelPatterns.encode(PixelPatterns.photo(width: 120, height: 80), as: .jpeg(quality: 90))
        let whole = try decode(data, ImageDecodingOptions()).pixels
        let options = ImageDecodingOptions(size: .fit(width: 15, height: 10))
        let small = try decode(data, options.with(.nearest)).pixels
        for y in 0..<10 {
            for x in 0..<15 { #expect(small.color(x: x, y: y) == whole.color(x: x * 8 + 4, y: y * 8 + 4)) }
        }
    }

    @Test("Each kernel has a different result")
    func kernels() throws {
        let data = try PixelPatterns.encode(PixelPatterns.photo(width: 90, height: 70), as: .png)
        let options = ImageDecodingOptions(size: .fit(width: 30, height: 30))
        let results = try ResamplingFilter.Kernel.allCases.map {
            try decode(data, options.with(ResamplingFilter($0))).pixels.packedBytes()
        }
        #expect(Set(results).count == ResamplingFilter.Kernel.allCases.count)
    }
}

extension ImageDecodingOptions {
    fileprivate func with(_ filter: ResamplingFilter) -> ImageDecodingOptions {
        var options = self
        options.resampling = filter
        return options
    }
}
