// SPDX-License-Identifier: MIT

import WebImageCore

/// The properties of a cached image that decide whether it satisfies a request for another size.
///
/// This is a plain value, so tests of the rules need no image.
struct VariantDimensions: Equatable {
    /// The width and height in pixels with the EXIF orientation applied.
    var size: PixelSize
    /// The width and height in pixels of the complete encoded image, with the EXIF orientation applied.
    var original: PixelSize
    var frameCount = 1
    var isPartial = false
    var isVector = false

    init(size: PixelSize, original: PixelSize) {
        self.size = size
        self.original = original
    }

    init(_ image: DecodedImage) {
        let metadata = image.metadata
        self.init(size: image.size, original: metadata.orientation.upright(metadata.storedSize))
        frameCount = image.frameCount
        isPartial = metadata.isPartial
        isVector = image.format?.isVector ?? false
    }
}

extension ImageVariant {
    /// Except for its size, the image must have exactly the requested properties. It must show the same part of the
    /// same image and be at least as large, with a tolerance of one pixel. Transformed and partial images satisfy only
    /// requests with their own key.
    func satisfies(_ wanted: ImageVariant, _ facts: VariantDimensions) -> Bool {
        guard data == wanted.data, transformers.isEmpty, wanted.transformers.isEmpty, !facts.isPartial,
            facts.frameCount == 1 || decoding.frames == wanted.decoding.frames
        else { return false }
        var decoding = decoding
        decoding.size = wanted.decoding.size
        // The first frame of a still image is the whole image. The reduction method doesn't matter if the image wasn't
        // reduced.
        if decoding.frames == .all, facts.frameCount == 1, wanted.decoding.frames == .first {
            decoding.frames = .first
        }
        if facts.size == facts.original { decoding.resampling = wanted.decoding.resampling }
        guard decoding == wanted.decoding, let output = sameView(as: wanted, facts) else { return false }
        if let limit = wanted.decoding.size?.byteLimit {
            let pixels = (facts.size.area ?? .max).multipliedReportingOverflow(by: max(1, facts.frameCount))
            if pixels.overflow || pixels.partialValue > limit / 4 { return false }
        }
        return facts.size.width >= output.width - 1 && facts.size.height >= output.height - 1
    }

    /// The image must show the same part of the same image with the same transformers. Its size, frames, and depth may
    /// differ.
    func canReplace(_ wanted: ImageVariant, _ facts: VariantDimensions) -> Bool {
        data == wanted.data && transformers == wanted.transformers && !facts.isPartial
            && sameView(as: wanted, facts) != nil
    }

    private func sameView(as wanted: ImageVariant, _ facts: VariantDimensions) -> PixelSize? {
        let original = assumedOriginal(facts)
        guard !facts.isVector || decoding.size == wanted.decoding.size, let own = plan(decoding, original),
            let other = plan(wanted.decoding, original)
        else { return nil }
        // An enlarged image has the requested number of pixels but no additional detail for another size.
        guard
            decoding.size == wanted.decoding.size
                || own.output.width <= original.width && own.output.height <= original.height
        else { return nil }
        let differences = [
            own.window.x - other.window.x, own.window.y - other.window.y,
            own.window.width - other.window.width, own.window.height - other.window.height,
            // After scaling to the requested width, the height must equal the requested height.
            Double(own.output.height) * Double(other.output.width) / Double(own.output.width)
                - Double(other.output.height),
        ]
        return differences.allSatisfy { abs($0) <= 1 } ? other.output : nil
    }

    private func plan(_ decoding: ImageDecodingOptions, _ original: PixelSize) -> ScalePlan? {
        guard !original.isEmpty else { return nil }
        guard let size = decoding.size else {
            return ScalePlan(window: SampleRect(original), output: original)
        }
        return try? size.plan(for: original, scale: decoding.scale)
    }

    /// A coder that doesn't know the original size reports the decoded size. If the decoded size equals the requested
    /// size, the original may be larger, so this method assumes 64 times the size.
    private func assumedOriginal(_ facts: VariantDimensions) -> PixelSize {
        guard facts.size == facts.original, decoding.size != nil else { return facts.original }
        let (width, wide) = facts.size.width.multipliedReportingOverflow(by: 64)
        let (height, high) = facts.size.height.multipliedReportingOverflow(by: 64)
        let larger = PixelSize(width: width, height: height)
        guard !wide, !high, plan(decoding, larger)?.output == facts.size else { return facts.original }
        return larger
    }
}
