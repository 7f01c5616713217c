// SPDX-License-Identifier: MIT

import Foundation

/// The file from which an image that's about to be encoded was decoded.
struct OriginalImageFile {
    let data: Data
    private let probe: ImageInfo
    private let coders: ImageCoderRegistry
    private let context: ImageProcessingContext

    /// Creates an original, or returns `nil` if `data` isn't an image or exceeds the limits.
    init?(_ data: Data, coders: ImageCoderRegistry, context: ImageProcessingContext) {
        guard !data.isEmpty, let probe = try? coders.inspect(data, limits: context.limits) else { return nil }
        self.data = data
        self.probe = probe
        self.coders = coders
        self.context = context
    }

    /// Returns whether the file can be used instead of an encoding of `image` in the automatic format.
    func canReplaceEncoding(of image: DecodedImage, as encoding: ImageEncoding) throws(ImageError) -> Bool {
        // A RAW file contains more than the preview that was decoded, and viewers of images don't open it.
        guard !probe.format.isRAW, keepsSize(image, encoding), data.count <= encoding.maxByteCount ?? .max,
            keepsColors(image, encoding), encoding.automaticFormats?.contains(probe.format) ?? true,
            encoding.metadata == .keep || MetadataFreeFile.hasNoMetadata(data, probe.format)
        else { return false }
        if let loops = encoding.loopCount, let animation = image.animation, animation.loopCount != loops {
            return false
        }
        return try isUnchanged(image)
    }

    /// Returns the file transcoded by `coder`, or `nil` if the coder can't transcode it or if the content must change.
    func transcoded(
        for image: DecodedImage, as encoding: ImageEncoding, by coder: any ImageCoder
    ) throws(ImageError) -> Data? {
        guard let coder = coder as? any TranscodingImageCoder, encoding.isLossless,
            encoding.thumbnailDimension == nil, keepsSize(image, encoding), keepsColors(image, encoding),
            coder.canTranscode(probe.format, to: encoding.formatOrAutomatic), try isUnchanged(image),
            let kept = stripped(encoding.metadata),
            let transcoded = try coder.transcode(kept, from: probe.format, as: encoding, context: context)
        else { return nil }
        let result = try addingGainMap(of: image, to: transcoded, as: encoding, by: coder)
        return result.count <= encoding.maxByteCount ?? .max ? result : nil
    }

    /// Returns a transcoded file with the gain map of the image, or the file itself if the encoding doesn't keep it.
    private func addingGainMap(
        of image: DecodedImage, to transcoded: Data, as encoding: ImageEncoding, by coder: any TranscodingImageCoder
    ) throws(ImageError) -> Data {
        guard encoding.formatOrAutomatic == .jxl, encoding.preservesDynamicRange, let gainMap = image.gainMap,
            let found = JPEGGainMap.find(in: data)
        else { return transcoded }
        var map: Data?
        // The samples of Apple's gain maps have another meaning in the file than in the image.
        if found.metadata.kind != .apple {
            let start = data.startIndex + found.range.lowerBound
            let file = data.subdata(in: start..<start + found.range.count)
            if let plain = JPEGFile.replacingMetadata(of: file, exif: nil, xmp: nil) {
                map = try coder.transcode(plain, from: .jpeg, as: encoding, context: context)
            }
        }
        if map == nil {
            // In the file, the image and the map have the same orientation.
            let stored = DecodedImage(
                pixels: try OrientationTransform.upright(gainMap.pixels, probe.orientation.inverse, context: context))
            map = try coder.encode(stored, as: ImageEncoding(format: .jxl, isLossless: true), context: context)
        }
        return map.flatMap { JXLGainMapWriter.adding($0, gainMap.metadata, to: transcoded) } ?? transcoded
    }

    /// Returns `image` with the EXIF block and the XMP packet of the file, unless the image already has its own.
    func lending(metadataTo image: DecodedImage) -> DecodedImage {
        let found = EmbeddedMetadata(reading: data)
        guard !found.isEmpty else { return image }
        var metadata = image.metadata
        if metadata.exif == nil { metadata.exif = found.exif.map { Data($0) } }
        if metadata.xmp == nil { metadata.xmp = found.xmp.map { Data($0) } }
        return image.with(metadata: metadata)
    }

    private func keepsSize(_ image: DecodedImage, _ encoding: ImageEncoding) -> Bool {
        max(image.size.width, image.size.height) <= encoding.maxDimension ?? .max
    }

    private func keepsColors(_ image: DecodedImage, _ encoding: ImageEncoding) -> Bool {
        let (profile, codePoints) = (image.metadata.iccProfile, image.metadata.sourceCodePoints)
        return switch encoding.color {
        case .source: true
        case .sRGB: profile == nil && (codePoints ?? .sRGB) == .sRGB
        case .displayP3: codePoints == .displayP3
        }
    }

    /// Returns the file with only the metadata that `policy` allows, or `nil` if the other metadata can't be removed.
    private func stripped(_ policy: ImageEncoding.MetadataPolicy) -> Data? {
        if policy == .keep { return data }
        if MetadataFreeFile.hasNoMetadata(data, probe.format) { return data }
        guard probe.format == .jpeg else { return nil }
        var block: ExifBlock? = probe.orientation == .up ? nil : .only(probe.orientation)
        if policy == .keepCopyright, let exif = EmbeddedMetadata(reading: data).exif, let read = ExifBlock(exif) {
            // The stored pixels don't change, so keep the orientation too.
            var kept = read.copyrightOnly
            if probe.orientation != .up {
                kept.main.append(kept.entry(ExifBlock.Tag.orientation, probe.orientation.rawValue))
            }
            block = kept.isEmpty ? nil : kept
        }
        guard policy == .keepExceptLocation else {
            return JPEGFile.replacingMetadata(of: data, exif: block?.serialized(), xmp: nil)
        }
        let found = EmbeddedMetadata(reading: data)
        if let exif = found.exif, let read = ExifBlock(exif) {
            // The stored pixels don't change, so keep the orientation too.
            block = read.withoutLocation
        }
        let xmp = found.xmp.flatMap { XMPPacket.mentionsLocation($0) ? nil : $0 }
        return JPEGFile.replacingMetadata(of: data, exif: block?.serialized(), xmp: xmp)
    }

    /// Returns whether decoding the file produces `image`, including all frames.
    private func isUnchanged(_ image: DecodedImage) throws(ImageError) -> Bool {
        guard image.format == probe.format, image.size == probe.size, !image.metadata.isPartial else { return false }
        do {
            let decoded = try coders.decode(
                data,
                options: ImageDecodingOptions(
                    preservesBitDepth: image.pixels.format.layout.isWide,
                    color: image.metadata.color),
                context: context)
            guard decoded.pixels.isEqual(to: image.pixels) else { return false }
            guard let animation = image.animation, let other = decoded.animation else {
                return image.animation == nil && decoded.animation == nil
            }
            guard animation.timeline == other.timeline else { return false }
            for place in 0..<image.frameCount {
                try context.checkCancellation()
                guard try animation.frame(at: place).isEqual(to: try other.frame(at: place)) else { return false }
            }
            return true
        } catch {
            if case .decoding = error { return false }
            throw error
        }
    }
}

extension PixelBuffer {
    fileprivate func isEqual(to other: PixelBuffer) -> Bool {
        guard self !== other else { return true }
        guard size == other.size, format == other.format else { return false }
        let rowBytes = width * format.bytesPerPixel
        return withUnsafeBytes { own in
            other.withUnsafeBytes { theirs in
                guard let own = own.baseAddress, let theirs = theirs.baseAddress else { return false }
                return (0..<height).allSatisfy {
                    memcmp(own + $0 * bytesPerRow, theirs + $0 * other.bytesPerRow, rowBytes) == 0
                }
            }
        }
    }
}
