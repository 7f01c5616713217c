// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Samples of PQ and HLG in files of every format")
struct HDREncodingTests {
    static let formats = [
        ImageFormat.png, .apng, .jpeg, .webp, .gif, .bmp, .qoi, .ppm, .pam, .ico, .tiff, .avif, .heif, .jxl,
    ].filter(ImageCoderRegistry.standard.canEncode)

    /// The numbers of primaries in the metadata, and the numbers of the primaries that they mean.
    private static let primaries = [(1, 1), (2, 1), (9, 9), (12, 12), (10, 9), (3, 9)]
    /// The samples of the four quarters of the images.
    private static let patches = [[0.25, 0.25, 0.25], [0.58, 0.5, 0.4], [0.3, 0.45, 0.55], [0.7, 0.7, 0.7]]
    private static let side = 32

    /// Returns an image whose samples were decoded without a conversion.
    private func image(_ codePoints: ColorCodePoints, isWide: Bool) throws -> DecodedImage {
        let size = PixelSize(width: Self.side, height: Self.side)
        let canvas = try PixelCanvas(size: size, format: isWide ? .rgba16 : .rgba8)
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<Self.side {
                for x in 0..<Self.side {
                    let patch = Self.patches[y / 16 * 2 + x / 16]
                    for channel in 0..<4 {
                        let value = channel < 3 ? patch[channel] : 1
                        let place = y * canvas.bytesPerRow + (x * 4 + channel) * (isWide ? 2 : 1)
                        if isWide {
                            bytes.storeBytes(of: UInt16(value * 65_535), toByteOffset: place, as: UInt16.self)
                        } else {
                            bytes[place] = UInt8(value * 255)
                        }
                    }
                }
            }
        }
        let metadata = ImageMetadata(
            storedSize: size, bitDepth: isWide ? 16 : 8, codePoints: codePoints, color: .source)
        return DecodedImage(pixels: canvas.finish(isOpaque: true), metadata: metadata)
    }

    @Test(
        "A file shows the same colors as the image, with its code points or in a standard dynamic range",
        arguments: formats)
    func encodes(_ format: ImageFormat) throws {
        // Lossy WebP always reduces the chroma.
        let encoding = ImageEncoding(format: format, quality: 95, isLossless: format == .webp, effort: 1).with(
            \.chromaSubsampling, .yuv444)
        for transfer in [16, 18] {
            for (stored, meant) in Self.primaries {
                let reference = try image(ColorCodePoints(primaries: meant, transfer: transfer), isWide: true)
                let expected = HDRMath.light(try reference.rendered(headroom: 1))
                for isWide in [false, true] {
                    let source = try image(ColorCodePoints(primaries: stored, transfer: transfer), isWide: isWide)
                    let own = HDRMath.light(try source.rendered(headroom: 1))
                    #expect(HDRMath.psnr(own, expected) > 40, "\(stored), \(transfer)")
                    let data = try source.encoded(as: encoding)
                    // The default decode converts the colors of the file to sRGB.
                    let read = try DecodedImage(data: data)
                    #expect(read.metadata.color == .sRGB)
                    let psnr = HDRMath.psnr(HDRMath.light(try read.rendered(headroom: 1)), expected)
                    #expect(psnr > 28, "\(format), \(stored), \(transfer), \(isWide): \(psnr) dB")
                    guard format == .png || format == .avif else { continue }
                    let info = try ImageInfo(data: data)
                    // An AVIF file has more than 8 bits, even if the pixels have 8.
                    #expect(format != .avif || info.bitDepth == 10)
                    let points = info.codePoints
                    #expect(points == ColorCodePoints(primaries: meant, transfer: transfer))
                }
            }
        }
    }

    @Test(
        "A JPEG file of an image in PQ keeps the gain map, also with unspecified and unknown primaries",
        arguments: primaries.map(\.0))
    func keepsGainMap(_ primaries: Int) throws {
        var metadata = GainMapMetadata(gainMax: 2, alternateHeadroom: 0)
        metadata.baseHeadroom = 2
        metadata.gainMax = SIMD3(2, 1.9, 1.8)
        // With offsets, dark tones would become black in standard dynamic range.
        metadata.baseOffset = SIMD3()
        metadata.alternateOffset = SIMD3()
        let map = try PixelPatterns.make(width: 16, height: 16, isOpaque: true) { _, _ in SIMD4(255, 255, 255, 255) }
        let source = try image(ColorCodePoints(primaries: primaries, transfer: 16), isWide: true)
            .with(gainMap: GainMap(pixels: map, metadata: metadata))
        let encoding = ImageEncoding(format: .jpeg, quality: 100).with(\.chromaSubsampling, .yuv444)
        let file = try source.encoded(as: encoding)
        var options = ImageDecodingOptions(color: .source, dynamicRange: .high)
        let read = try DecodedImage(data: file, options: options)
        #expect(read.gainMap?.metadata.alternateHeadroom == 2)
        for headroom in [1.0, 2, 4] {
            let own = HDRMath.light(try source.rendered(headroom: headroom, primaries: .bt2020))
            let light = HDRMath.light(try read.rendered(headroom: headroom, primaries: .bt2020))
            // The base image has 8 bits.
            #expect(HDRMath.psnr(light, own) > 38, "\(headroom): \(HDRMath.psnr(light, own)) dB")
        }
        // The gains still apply to the primaries of the file if the pixels are converted. Three quarters of the image are
        // in the gamut of sRGB.
        options.color = .sRGB
        let converted = try DecodedImage(data: file, options: options)
        for headroom in [1.0, 2, 4] {
            let own = HDRMath.light(try read.rendered(headroom: headroom))
            let light = HDRMath.light(try converted.rendered(headroom: headroom))
            let count = Self.side * 3
            let rows = (0..<Self.side / 2).map { $0 * count..<$0 * count + count }
            let psnr = HDRMath.psnr(rows.flatMap { light[$0] }, rows.flatMap { own[$0] })
            #expect(psnr > 45, "\(headroom): \(psnr) dB")
        }
    }

    @Test("A file in PQ or HLG with unknown primaries is decoded with those of BT.2020", arguments: [16, 18])
    func unknownPrimaries(_ transfer: Int) throws {
        // The encoder writes the known number, so change it in the file.
        let source = try image(ColorCodePoints(primaries: 9, transfer: transfer), isWide: true)
        let file = try source.encoded(as: .png)
        var parts = PNGParts(file)
        parts.chunks[try #require(parts.offsets(of: "cICP").first)].body[0] = 10
        let changed = parts.file
        let (known, unknown) = (try DecodedImage(data: file), try DecodedImage(data: changed))
        #expect(unknown.pixels.packedBytes() == known.pixels.packedBytes())
        let high = try HDRFiles.image(changed)
        #expect(high.isHDR && high.metadata.colorPrimaries == 10)
        let copy = try DecodedImage(data: high.encoded(as: .png))
        #expect(copy.pixels.packedBytes() == known.pixels.packedBytes())
    }
}
