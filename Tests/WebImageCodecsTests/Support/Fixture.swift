// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// An entry of `Tests/Fixtures/codecs/manifest.json`, which `Scripts/fixtures.d/codecs.py` writes.
struct Fixture: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var format: ImageFormat
    var width: Int
    var height: Int
    var frames: Int
    var reference: String
    /// The allowed mean absolute difference of the samples.
    var tolerance: Double
    var loop: Int?
    var depth: Int?
    var orientation: ImageOrientation?
    var hasAlpha: Bool?

    var testDescription: String { file }
    var size: PixelSize { PixelSize(width: width, height: height) }

    /// The size before the orientation is applied, in pixels.
    var storedSize: PixelSize { orientation?.upright(size) ?? size }

    /// The index of the image that the reference shows, or `nil` for the first one.
    var page: Int?

    static let all = read("codecs")
    /// Icons and the images that `Scripts/fixtures.d/formats.py` creates for the enabled optional formats.
    static let optional = read("formats").filter { ImageCoderRegistry.standard.canDecode($0.format) }

    private static func read(_ folder: String) -> [Fixture] {
        let file = Fixtures.directory.appending(path: folder).appending(path: "manifest.json")
        guard let data = try? Data(contentsOf: file) else { return [] }
        return (try? JSONDecoder().decode([Fixture].self, from: data)) ?? []
    }

    static let stills = all.filter { $0.frames == 1 }
    static let animations = all.filter { $0.frames > 1 }
    private static let ownFormats: Set<ImageFormat> = [
        .jpeg, .png, .apng, .gif, .webp, .bmp, .qoi, .pbm, .pgm, .ppm, .pam,
    ]
    private var directory: URL {
        Fixtures.directory.appending(path: Self.ownFormats.contains(format) ? "codecs" : "formats")
    }

    static func named(_ file: String) throws -> Fixture { try #require((all + optional).first { $0.file == file }) }

    func data() throws -> Data { try Data(contentsOf: directory.appending(path: file)) }

    /// The expected header values. The coders are tested without the probe.
    var probe: ImageInfo? {
        guard let orientation else { return nil }
        return ImageInfo(
            format: format, storedSize: orientation.swapsDimensions ? size.transposed : size, orientation: orientation)
    }

    /// Returns the premultiplied pixels of all frames.
    func expectedFrames() throws -> [[UInt8]] {
        let bytes = [UInt8](try Data(contentsOf: directory.appending(path: reference)))
        let frameBytes = width * height * 4
        return (0..<frames).map { premultiplied(Array(bytes[$0 * frameBytes..<($0 + 1) * frameBytes])) }
    }

    func decode(_ options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop) throws
        -> DecodedImage
    {
        try coder(for: format).decode(
            data(), info: probe, options: options,
            context: ImageProcessingContext(limits: limits))
    }
}

func coder(for format: ImageFormat) throws -> any ImageCoder {
    switch format {
    case .jpeg: JPEGCoder()
    case .png, .apng: PNGCoder()
    case .gif: GIFCoder()
    case .webp: WebPCoder()
    case .qoi: QOICoder()
    case .pbm, .pgm, .ppm, .pam: PNMCoder()
    case .ico, .cur: ICOCoder()
    case .icns: ICNSCoder()
    case let raw where raw.isRAW: RAWCoder()
    #if JPEG2000
        case .jpeg2000: JPEG2000Coder()
    #endif
    #if AVIF
        case .avif: AVIFCoder()
    #endif
    #if HEIF
        case .heif: HEIFCoder()
    #endif
    #if JXL
        case .jxl: JXLCoder()
    #endif
    #if TIFF
        case .tiff: TIFFCoder()
    #endif
    #if SVG
        case .svg: SVGCoder()
    #endif
    #if PDF
        case .pdf: PDFCoder()
    #endif
    default: BMPCoder()
    }
}

func premultiplied(_ straight: [UInt8]) -> [UInt8] {
    var pixels = straight
    pixels.withUnsafeMutableBytes { bytes in
        // In little-endian order, alpha is the most significant byte.
        let words = bytes.bindMemory(to: UInt32.self)
        guard let start = words.baseAddress else { return }
        var place = 0
        while place < words.count {
            let pixel = start[place]
            let alpha = pixel &>> 24
            if alpha < 255 {
                func multiplied(_ sample: UInt32) -> UInt32 { (sample &* alpha &+ 127) / 255 }
                var result = alpha &<< 24
                result |= multiplied(pixel &>> 16 & 255) &<< 16
                result |= multiplied(pixel &>> 8 & 255) &<< 8
                result |= multiplied(pixel & 255)
                start[place] = result
            }
            place += 1
        }
    }
    return pixels
}

/// Returns the mean absolute difference of the samples, or infinity if their numbers differ.
func difference(_ first: [UInt8], _ second: [UInt8]) -> Double {
    SampleDifferences(first, second)?.mean ?? .infinity
}

/// Returns the peak signal-to-noise ratio in decibels.
func similarity(_ first: PixelBuffer, _ second: PixelBuffer) -> Double {
    guard first.size == second.size else { return 0 }
    guard let differences = SampleDifferences(first.packedBytes(), second.packedBytes()) else { return 0 }
    let mean = Double(differences.sumOfSquares) / Double(first.size.width * first.size.height * 4)
    return mean == 0 ? .infinity : 10 * log10(255 * 255 / mean)
}
