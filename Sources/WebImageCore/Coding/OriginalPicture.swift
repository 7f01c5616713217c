// SPDX-License-Identifier: MIT

import Foundation

/// The file that a picture to be encoded was decoded from.
struct OriginalPicture {
    let data: Data
    private let probe: ImageProbe
    private let coders: CoderRegistry
    private let context: CodingContext

    /// Nil where `data` is no picture that the limits allow.
    init?(_ data: Data, coders: CoderRegistry, context: CodingContext) {
        guard !data.isEmpty, let probe = try? coders.inspect(data, limits: context.limits) else { return nil }
        self.data = data
        self.probe = probe
        self.coders = coders
        self.context = context
    }

    /// Whether the file may be given out in place of an encoding of `image` in the automatic format.
    func stands(for image: Image, as encoding: ImageEncoding) throws(ImageError) -> Bool {
        guard keepsSize(image, encoding), data.count <= encoding.maxBytes ?? .max,
            encoding.metadata == .keep || PlainFile.holdsPixelsAlone(data, probe.format)
        else { return false }
        if let loops = encoding.loopCount, let animation = image.animation, animation.timeline.loopCount != loops {
            return false
        }
        return try isUnchanged(image)
    }

    /// The file taken over by `coder`; nil where it cannot, or where something has to change.
    func transcoded(
        for image: Image, as encoding: ImageEncoding, by coder: any ImageCoder
    ) throws(ImageError) -> Data? {
        guard encoding.isLossless, encoding.thumbnailSide == nil, keepsSize(image, encoding),
            coder.canTranscode(probe.format, to: encoding.format), try isUnchanged(image),
            let kept = kept(encoding.metadata),
            let result = try coder.transcode(kept, from: probe.format, as: encoding, context: context)
        else { return nil }
        return result.count <= encoding.maxBytes ?? .max ? result : nil
    }

    /// `image` with the EXIF and the XMP of the file, where it has none of its own.
    func lending(metadataTo image: Image) -> Image {
        let found = EmbeddedMetadata(reading: data)
        guard !found.isEmpty else { return image }
        var metadata = image.metadata
        if metadata.exif == nil { metadata.exif = found.exif }
        if metadata.xmp == nil { metadata.xmp = found.xmp }
        return image.with(metadata: metadata)
    }

    private func keepsSize(_ image: Image, _ encoding: ImageEncoding) -> Bool {
        max(image.size.width, image.size.height) <= encoding.maxPixelSize ?? .max
    }

    /// The file with the metadata that `policy` leaves; nil where that is not known how to do.
    private func kept(_ policy: ImageEncoding.MetadataPolicy) -> Data? {
        if policy == .keep { return data }
        if PlainFile.holdsPixelsAlone(data, probe.format) { return data }
        guard probe.format == .jpeg else { return nil }
        var block: ExifBlock? = probe.orientation == .up ? nil : .only(probe.orientation)
        guard policy == .keepWithoutLocation else {
            return JPEGFile.replacingMetadata(of: data, exif: block?.serialized(), xmp: nil)
        }
        let found = EmbeddedMetadata(reading: data)
        if let exif = found.exif, let read = ExifBlock(exif) {
            // The pixels stay as they are stored, and so does the orientation.
            block = read.withoutLocation
        }
        let xmp = found.xmp.flatMap { XMPPacket.mentionsLocation($0) ? nil : $0 }
        return JPEGFile.replacingMetadata(of: data, exif: block?.serialized(), xmp: xmp)
    }

    /// Whether decoding the file gives `image`, all frames of it.
    private func isUnchanged(_ image: Image) throws(ImageError) -> Bool {
        guard image.format == probe.format, image.size == probe.size, !image.metadata.isPartial else { return false }
        let depth: DecodeOptions.Depth = image.pixels.format == .rgba16 ? .source : .eight
        do {
            let decoded = try coders.decode(
                data, options: DecodeOptions(depth: depth, color: image.metadata.color), context: context)
            guard decoded.pixels.isEqual(to: image.pixels) else { return false }
            guard let animation = image.animation, let other = decoded.animation else {
                return image.animation == nil && decoded.animation == nil
            }
            guard animation.timeline == other.timeline else { return false }
            for place in 0..<image.frameCount {
                try context.checkpoint()
                guard try animation.frame(at: place).isEqual(to: try other.frame(at: place)) else { return false }
            }
            return true
        } catch {
            if case .decode = error { return false }
            throw error
        }
    }
}

extension PixelBuffer {
    /// Whether both show the same, bit by bit.
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
