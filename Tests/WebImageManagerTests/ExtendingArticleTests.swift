// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCore
import WebImageHTTP
import WebImageStore

/// Tests of the examples in the article “Extending”.
@Suite("Extending article")
struct ExtendingArticleTests {
    @Test("The coder decodes the image that it encoded")
    func coder() throws {
        var coders = ImageCoderRegistry.standard
        coders.register(FarbfeldCoder())
        let color = PixelColor(red: 10, green: 100, blue: 200)
        let pixels = try PixelBuffer.filled(with: color, size: PixelSize(width: 6, height: 4))

        let data = try coders.encode(
            DecodedImage(pixels: pixels), as: ImageEncoding(format: FarbfeldCoder.format))
        #expect(data.count == 16 + 8 * 6 * 4)
        let image = try coders.decode(data)
        #expect(image.size == pixels.size && image.format == FarbfeldCoder.format)
        #expect(image.pixels.color(x: 5, y: 3) == color)

        let small = try coders.decode(data, options: ImageDecodingOptions(size: .fit(width: 3)))
        #expect(small.size == PixelSize(width: 3, height: 2))
    }

    @Test("The coder rejects truncated data and invalid sizes")
    func invalidData() throws {
        let coders = ImageCoderRegistry([FarbfeldCoder()])
        let head = Data("farbfeld".utf8)
        let truncated = ImageError.DecodingFailure(
            .truncated(receivedBytes: 16, expectedBytes: 24), format: FarbfeldCoder.format)
        #expect(throws: ImageError.decoding(truncated)) {
            try coders.decode(head + [0, 0, 0, 1, 0, 0, 0, 1])
        }
        let empty = ImageError.DecodingFailure(.corrupted("the size is 0x1"), format: FarbfeldCoder.format)
        #expect(throws: ImageError.decoding(empty)) {
            try coders.decode(head + [0, 0, 0, 0, 0, 0, 0, 1])
        }
    }

    @Test("The transformer makes rows transparent and checks its parameter")
    func transformer() throws {
        let pixels = try PixelBuffer.filled(with: .white, size: PixelSize(width: 3, height: 5))
        let result = try ScanlinesTransformer(spacing: 2).transform(pixels, context: ImageProcessingContext())
        let column = (0..<5).map { result.color(x: 1, y: $0)?.alpha }
        #expect(column == [0, 255, 0, 255, 0])

        let error = ImageError.processing(
            .invalidParameter(transformer: "scanlines", parameter: "spacing", value: "0"))
        #expect(throws: error) {
            try ScanlinesTransformer(spacing: 0).transform(pixels, context: ImageProcessingContext())
        }
    }

    @Test("The tier returns stored entries and misses removed and corrupt ones")
    func tier() async {
        let client = DictionaryClient()
        let tier = KeyValueTier(client: client)
        let (first, second) = (CacheKey(["a"]), CacheKey(["b"]))
        let headers = HTTPHeaderFields()
        await tier.store(CacheEntry(key: first, data: Data([1, 2]), tags: ["t"]), matching: headers)
        await tier.store(CacheEntry(key: second, data: Data([3])), matching: headers)
        let found = await tier.entry(for: first, matching: headers)
        #expect(found?.data == Data([1, 2]) && found?.tags == ["t"])

        await tier.remove(first, matching: headers)
        #expect(await tier.entry(for: first, matching: headers) == nil)
        #expect(await tier.entry(for: second, matching: headers)?.data == Data([3]))

        await client.set(Data([0]), for: second.description)
        #expect(await tier.entry(for: second, matching: headers) == nil)
        await tier.removeAll()
        #expect(await client.count == 0)
    }
}

private actor DictionaryClient: KeyValueClient {
    private var values: [String: Data] = [:]

    var count: Int { values.count }

    func value(for key: String) -> Data? { values[key] }
    func set(_ value: Data, for key: String) { values[key] = value }
    func removeValue(for key: String) { values[key] = nil }
    func removeAllValues() { values = [:] }
}

/// A client for a key-value store.
private protocol KeyValueClient: Sendable {
    func value(for key: String) async throws -> Data?
    func set(_ value: Data, for key: String) async throws
    func removeValue(for key: String) async throws
    func removeAllValues() async throws
}

private struct KeyValueTier: CacheTier {
    let client: any KeyValueClient

    func entry(for key: CacheKey, matching headers: HTTPHeaderFields) async -> CacheEntry? {
        guard let data = try? await client.value(for: key.description),
            let entry = try? CacheEntry(serialized: data), entry.key == key, entry.matches(headers)
        else { return nil }
        return entry
    }

    func store(_ entry: CacheEntry, matching headers: HTTPHeaderFields) async {
        try? await client.set(entry.serialized(), for: entry.key.description)
    }

    func remove(_ key: CacheKey, matching headers: HTTPHeaderFields?) async {
        if let headers, await entry(for: key, matching: headers) == nil { return }
        try? await client.removeValue(for: key.description)
    }

    func removeAll() async { try? await client.removeAllValues() }
}

private struct FarbfeldCoder: ImageCoder {
    static let format = ImageFormat(rawValue: "farbfeld")

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool {
        format == nil && prefix.starts(with: Data("farbfeld".utf8))
    }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let bytes = [UInt8](data)
        guard bytes.count >= 16 else { throw failure(.truncated(receivedBytes: bytes.count, expectedBytes: 16)) }
        func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        let size = PixelSize(width: number(8), height: number(12))
        guard (1...1 << 20).contains(size.width), (1...1 << 20).contains(size.height) else {
            throw failure(.corrupted("the size is \(size)"))
        }
        // The library can't check an unknown format, so check the size before you allocate memory.
        try context.limits.check(size)
        let expected = 16 + 8 * size.width * size.height
        guard bytes.count >= expected else {
            throw failure(.truncated(receivedBytes: bytes.count, expectedBytes: expected))
        }
        let canvas = try PixelCanvas(size: size)
        let stride = canvas.bytesPerRow
        try canvas.withUnsafeMutableBytes { (pixels) throws(ImageError) in
            for y in 0..<size.height {
                try context.checkCancellation()
                for x in 0..<size.width {
                    let (source, target) = (16 + 8 * (y * size.width + x), y * stride + 4 * x)
                    let alpha = Int(bytes[source + 6])
                    for channel in 0..<3 {
                        pixels[target + channel] = UInt8((Int(bytes[source + 2 * channel]) * alpha + 127) / 255)
                    }
                    pixels[target + 3] = UInt8(alpha)
                }
            }
        }
        let image = DecodedImage(pixels: canvas.finish(isOpaque: false), scale: options.scale, format: Self.format)
        guard let target = options.size else { return image }
        return try StandardTransformer.resize(target).apply(to: image, context: context)
    }

    func canEncode(_ format: ImageFormat) -> Bool { format == Self.format }

    func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        let pixels = image.pixels
        var data = Data("farbfeld".utf8)
        for side in [pixels.width, pixels.height] {
            for shift in [24, 16, 8, 0] { data.append(UInt8(truncatingIfNeeded: side >> shift)) }
        }
        for y in 0..<pixels.height {
            try context.checkCancellation()
            for color in pixels.colors(in: PixelRect(x: 0, y: y, width: pixels.width, height: 1)) {
                for sample in [color.red, color.green, color.blue, color.alpha] {
                    data.append(sample)
                    data.append(sample)
                }
            }
        }
        return data
    }

    private func failure(_ reason: ImageError.DecodingFailure.Reason) -> ImageError {
        .decoding(ImageError.DecodingFailure(reason, format: Self.format))
    }
}

private struct ScanlinesTransformer: ImageTransformer {
    /// The distance between two transparent rows, in pixels.
    let spacing: Int

    var identifier: String { "scanlines(\(spacing))" }
    var appliesToVectors: Bool { false }

    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        guard spacing > 0 else {
            throw .processing(
                .invalidParameter(transformer: "scanlines", parameter: "spacing", value: "\(spacing)"))
        }
        let canvas = try PixelCanvas(size: pixels.size, format: pixels.format)
        let stride = canvas.bytesPerRow
        let rowLength = pixels.width * pixels.format.bytesPerPixel
        try canvas.withUnsafeMutableBytes { (target) throws(ImageError) in
            for y in 0..<pixels.height where !y.isMultiple(of: spacing) {
                try context.checkCancellation()
                pixels.withUnsafeBytes { source in
                    let start = y * pixels.bytesPerRow
                    for offset in 0..<rowLength { target[y * stride + offset] = source[start + offset] }
                }
            }
        }
        return canvas.finish(isOpaque: false)
    }
}
