// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A decoder for the gain map of a file, which runs after the image was decoded.
///
/// A file whose gain map is corrupt is an image in standard dynamic range. The limits for images also apply to the gain
/// map, and those for decoded bytes to both together.
struct GainMapDecoder {
    let coder: any ImageCoder
    let options: ImageDecodingOptions
    let context: ImageProcessingContext

    /// Returns the image with the gain map of a JPEG file if the options ask for it.
    func attachJPEG(to image: DecodedImage, of data: Data) throws(ImageError) -> DecodedImage {
        guard options.dynamicRange.keepsRange, let found = JPEGGainMap.find(in: data) else { return image }
        let start = data.startIndex + found.range.lowerBound
        let encoded = data.subdata(in: start..<start + found.range.count)
        return try attach(encoded, found.metadata, to: image)
    }

    /// Returns the image with the gain map of an AVIF or HEIF file if the options ask for it.
    func attachHEIF(to image: DecodedImage, of data: Data) throws(ImageError) -> DecodedImage {
        guard options.dynamicRange.keepsRange, !image.isAnimated, let found = HEIFGainMap.find(in: data) else {
            return image
        }
        return try attach(found.standaloneFile(data), found.metadata, to: image)
    }

    /// Returns the image in standard dynamic range that the gain map of an AVIF or HEIF file in PQ or HLG describes.
    /// The result is `nil` if the file has no such gain map, if the options ask for other pixels, or if the limits
    /// don't allow the memory for both images.
    func standardImage(of data: Data, info: ImageInfo?) throws(ImageError) -> DecodedImage? {
        guard options.dynamicRange == .standard, options.color != .source, options.firstIndex == 0, let info,
            info.frameCount == 1, !info.hasICCProfile, info.codePoints?.isHDR == true,
            let numbers = HEIFGainMap.find(in: data)?.metadata, numbers.hasHDRBase
        else { return nil }
        var high = options
        high.dynamicRange = .high
        do throws(ImageError) {
            let image = try coder.decode(
                data, info: info, options: high.adapted(to: info.codePoints), context: context)
            guard image.gainMap != nil else { return nil }
            let keepsGamut = options.color == .displayP3 || options.keepsGamut
            return try image.inStandardRange(
                keepsGamut ? .displayP3 : .sRGB, format: options.pixelFormat(16),
                context: context)
        } catch {
            guard case .limitExceeded(let failure) = error, failure.kind == .decodedSize else { throw error }
            return nil
        }
    }

    /// Returns the image with the gain map of a JPEG XL file if the options ask for it.
    func attachJXL(to image: DecodedImage, of data: Data) throws(ImageError) -> DecodedImage {
        guard options.dynamicRange.keepsRange, !image.isAnimated, let found = JXLGainMap.find(in: data),
            let encoded = found.codestream(of: data)
        else { return image }
        return try attach(encoded, found.metadata, to: image)
    }

    /// Returns the image with a gain map that's encoded as a file of its own. The orientation of the image is applied.
    /// Throws an ``ImageError/LimitFailure`` or ``ImageError/cancelled``.
    func attach(
        _ encoded: Data, _ metadata: GainMapMetadata, to image: DecodedImage
    ) throws(ImageError) -> DecodedImage {
        do throws(ImageError) {
            let map = try map(encoded, metadata, of: image)
            return image.with(gainMap: try fitted(map, to: image).keepingPrimaries(ofFileOf: image.metadata))
        } catch {
            guard case .decoding = error else { throw error }
            return image
        }
    }

    /// Decodes the samples of the gain map without a conversion of colors.
    private func map(
        _ encoded: Data, _ metadata: GainMapMetadata, of image: DecodedImage
    ) throws(ImageError) -> GainMap {
        try context.checkCancellation()
        var mapOptions = ImageDecodingOptions(frames: .first, allowsPartialData: options.allowsPartialData)
        mapOptions.color = .source
        mapOptions.preservesBitDepth = true
        var info = try ImageInfo(data: encoded)
        try context.limits.check(info, encodedBytes: encoded.count, frames: .first)
        // Logarithms have 16 bits and exist in addition to the samples.
        var bytesPerPixel = mapOptions.pixelFormat(info.bitDepth).bytesPerPixel
        if metadata.kind == .apple { bytesPerPixel += PixelFormat.rgba16.bytesPerPixel }
        let mapBytes = (info.storedSize.area ?? .max).multipliedReportingOverflow(by: bytesPerPixel)
        try check(mapBytes.overflow ? .max : mapBytes.partialValue, with: image)
        // The orientation of the image applies to the map, whose own orientation is meaningless.
        info.resetOrientation()
        let decoded = try coder.decode(encoded, info: info, options: mapOptions, context: context)
        var map = GainMap(pixels: decoded.pixels, metadata: metadata)
        // In a JPEG file, the profile of the gain map describes the alternate image.
        if image.format == .jpeg, !metadata.usesBaseColorSpace, let profile = decoded.metadata.iccProfile {
            var numbers = metadata
            numbers.alternatePrimaries = Chromaticities.codePoint(ofProfile: [UInt8](profile))
            map = GainMap(pixels: decoded.pixels, metadata: numbers)
        }
        guard metadata.kind == .apple else { return map }
        return map.with(
            pixels: try AppleGainMap.logarithms(of: map.pixels, headroom: metadata.maxHeadroom, context: context))
    }

    /// Returns the map in the orientation of the image and for the part of the image that was decoded.
    private func fitted(_ map: GainMap, to image: DecodedImage) throws(ImageError) -> GainMap {
        let metadata = image.metadata
        let upright = map.with(
            pixels: try OrientationTransform.upright(map.pixels, metadata.orientation, context: context))
        let whole = metadata.orientation.upright(metadata.storedSize)
        var result = upright
        if let size = options.size {
            let plan = try size.plan(for: whole, scale: options.scale, format: image.pixels.format)
            result = try upright.part(plan.window, of: whole, to: plan.output, context: context)
        }
        try check(result.pixels.bytesPerRow * result.pixels.height, with: image)
        return result
    }

    /// Checks the limit on decoded bytes for an image and its gain map together.
    private func check(_ mapBytes: Int, with image: DecodedImage) throws(ImageError) {
        let bytes = mapBytes.addingReportingOverflow(image.pixels.bytesPerRow * image.pixels.height)
        guard bytes.overflow || bytes.partialValue > context.limits.maxDecodedBytes else { return }
        throw .limitExceeded(
            ImageError.LimitFailure(
                .decodedSize, limit: context.limits.maxDecodedBytes, actual: bytes.overflow ? .max : bytes.partialValue,
                detail: "the image and its gain map"))
    }
}

/// The samples of Apple's gain maps, which encode a share of the additional light with the transfer function of sRGB.
enum AppleGainMap {
    /// Returns the samples of the gain map of ISO 21496-1 with the same gains at the full headroom.
    ///
    /// A sample stands for the factor 1 + (headroom - 1) × light. ISO 21496-1 stores its logarithm relative to that of
    /// the headroom, which the metadata contain. So the conversion depends on the headroom.
    static func logarithms(
        of pixels: PixelBuffer, headroom: Double, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let table = Table(headroom: headroom, maximum: Int(pixels.format.layout.maximum))
        try context.limits.check(result: pixels.size, format: .rgba16)
        let canvas = try PixelCanvas(size: pixels.size, format: .rgba16)
        for row in 0..<pixels.height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            pixels.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress.map({ $0 + row * pixels.bytesPerRow }) else { return }
                switch pixels.format.layout.sampleType {
                case .uint8: table.apply(start.assumingMemoryBound(to: UInt8.self), canvas.words(row), pixels.width)
                case .uint16: table.apply(start.assumingMemoryBound(to: UInt16.self), canvas.words(row), pixels.width)
                }
            }
        }
        return canvas.finish(isOpaque: true)
    }

    /// The logarithms of all samples.
    private struct Table {
        private let words: [UInt16]

        init(headroom: Double, maximum: Int) {
            let scale = 65_535 / log2(headroom)
            words = (0...maximum).map { sample in
                let light = TransferFunction.sRGB.light(Double(sample) / Double(maximum))
                return UInt16((log2(1 + (headroom - 1) * light) * scale).rounded())
            }
        }

        /// Converts a row with four samples per pixel.
        func apply<Sample: BinaryInteger>(
            _ row: UnsafePointer<Sample>, _ out: UnsafeMutablePointer<UInt16>, _ count: Int
        ) {
            words.withUnsafeBufferPointer { words in
                for index in stride(from: 0, to: count * 4, by: 4) {
                    out[index] = words[Int(row[index])]
                    out[index + 1] = words[Int(row[index + 1])]
                    out[index + 2] = words[Int(row[index + 2])]
                    out[index + 3] = 65_535
                }
            }
        }
    }
}
