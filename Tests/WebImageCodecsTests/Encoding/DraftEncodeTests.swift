// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageCodecs
import WebImageCore

/// A coder that records the sizes and the efforts of the images that it encodes.
private final class RecordingCoder: ImageCoder {
    private let base: any ImageCoder
    private let encodes = Mutex<[(pixelCount: Int, effort: Int?)]>([])

    init(_ base: any ImageCoder) { self.base = base }

    /// The number of pixels of all encodes with an effort.
    func pixelCount(effort: Int?) -> Int {
        encodes.withLock { encodes in
            encodes.filter { $0.effort == effort }.reduce(0) { $0 + $1.pixelCount }
        }
    }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { false }

    func decode(
        _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        throw .decoding(.unknownFormat)
    }

    func canEncode(_ format: ImageFormat) -> Bool { base.canEncode(format) }

    func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        encodes.withLock { $0.append((image.size.width * image.size.height, encoding.effort)) }
        return try base.encode(image, as: encoding, context: context)
    }
}

/// The images have enough pixels for drafts.
@Suite("Size limits for encoders with fast drafts", .timeLimit(.minutes(5)))
struct DraftEncodeTests {
    static let formats = [ImageFormat.avif, .heif].filter(ImageCoderRegistry.standard.canEncode)

    private static let size = PixelSize(width: 600, height: 400)
    private let context = ImageProcessingContext(limits: .unlimited)

    /// The effort of the files of a search without an effort.
    private func effort(_ format: ImageFormat) -> Int? { format == .heif ? 5 : nil }

    private func images() throws -> [DecodedImage] {
        [
            DecodedImage(pixels: try PixelPatterns.photo(width: Self.size.width, height: Self.size.height)),
            DecodedImage(pixels: try PixelPatterns.texture(width: Self.size.width, height: Self.size.height)),
        ]
    }

    private func encode(_ image: DecodedImage, _ encoding: ImageEncoding) throws -> (data: Data, coder: RecordingCoder)
    {
        let recording = RecordingCoder(try coder(for: encoding.formatOrAutomatic))
        let data = try ImageCoderRegistry([recording]).encode(image, as: encoding, context: context)
        return (data, recording)
    }

    @Test(
        "The encodes with the requested effort have few pixels, and the file uses most of the limit", arguments: formats
    )
    func pixels(_ format: ImageFormat) throws {
        let area = Double(Self.size.width * Self.size.height)
        var total = 0.0
        var count = 0.0
        for image in try images() {
            let full = try encode(image, ImageEncoding(format: format)).data.count
            for part in [0.4, 0.7] {
                var limited = ImageEncoding(format: format)
                let limit = Int(Double(full) * part)
                limited.maxByteCount = limit
                let (data, recording) = try encode(image, limited)
                #expect(data.count <= limit && Double(data.count) > Double(limit) * 0.8, "\(data.count) of \(limit)")
                #expect(try ImageInfo(data: data).size == Self.size)
                let slow = Double(recording.pixelCount(effort: effort(format))) / area
                let fast = Double(recording.pixelCount(effort: 0)) / area
                #expect(
                    slow > 0 && slow < 4 && fast < 4, "\(slow) images with the requested effort, and \(fast) drafts")
                total += slow
                count += 1
            }
        }
        // The patterns are less regular than photographs, for which one file is usually sufficient.
        #expect(total / count < 2.5, "\(total / count) images per file")
    }

    @Test(
        "A requested quality that fits is the result, and an effort for which drafts aren't faster has no drafts",
        arguments: formats)
    func requested(_ format: ImageFormat) throws {
        let image = try images()[1]
        let free = try encode(image, ImageEncoding(format: format, effort: effort(format))).data
        var limited = ImageEncoding(format: format)
        limited.maxByteCount = free.count * 4
        let (data, recording) = try encode(image, limited)
        #expect(data == free)
        #expect(recording.pixelCount(effort: effort(format)) == Self.size.width * Self.size.height)
        #expect(recording.pixelCount(effort: 0) < Self.size.width * Self.size.height / 2)
        limited.maxByteCount = free.count / 2
        limited.effort = 1
        #expect(try encode(image, limited).coder.pixelCount(effort: 0) == 0)
    }

    @Test("A limit below the lowest quality reduces the image", arguments: formats)
    func smallLimits(_ format: ImageFormat) throws {
        let image = try images()[1]
        let lowest = try encode(image, ImageEncoding(format: format, quality: 10)).data.count
        var limited = ImageEncoding(format: format)
        limited.maxByteCount = lowest / 2
        let data = try encode(image, limited).data
        let width = try ImageInfo(data: data).size.width
        #expect(data.count <= lowest / 2 && data.count > lowest / 3 && width < Self.size.width && width > 50)
    }

    #if HEIF
        @Test("The effort of HEIF selects the preset of the encoder", .enabled(if: formats.contains(.heif)))
        func heifEffort() throws {
            let image = try images()[1]
            let files = try [nil, 0, 6].map { try encode(image, ImageEncoding(format: .heif, effort: $0)).data }
            // The default preset corresponds to the effort 6.
            #expect(files[0] == files[2] && files[0] != files[1])
        }
    #endif
}
