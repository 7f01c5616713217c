// SPDX-License-Identifier: MIT

import WebImageCore

/// Measures of a picture at hand that decide whether it answers a request for another size. A plain value, so that the
/// rules need no picture.
struct PictureFacts: Equatable {
    /// Upright width and height in pixels.
    var size: PixelSize
    /// Upright width and height of the whole picture as encoded.
    var original: PixelSize
    var frameCount = 1
    var isPartial = false
    /// Drawn at any size from the same bytes.
    var isVector = false

    init(size: PixelSize, original: PixelSize) {
        self.size = size
        self.original = original
    }

    init(_ image: Image) {
        let metadata = image.metadata
        self.init(size: image.size, original: metadata.orientation.upright(metadata.rawSize))
        frameCount = image.frameCount
        isPartial = metadata.isPartial
        isVector = image.format?.isVector ?? false
    }
}

extension Rendition {
    /// Whether a picture made as this one may answer a request for `wanted`, its size apart exactly what was asked for:
    /// the same part of the same picture, at least as large, one pixel of tolerance. Transformed and partial pictures
    /// answer only their own key.
    func satisfies(_ wanted: Rendition, _ facts: PictureFacts) -> Bool {
        guard data == wanted.data, transformers.isEmpty, wanted.transformers.isEmpty, !facts.isPartial,
            facts.frameCount == 1 || decoding.frames == wanted.decoding.frames
        else { return false }
        var decoding = decoding
        decoding.size = wanted.decoding.size
        // The first frame of a still is the still, and what was not reduced was not reduced in any way.
        if decoding.frames == .all, facts.frameCount == 1, wanted.decoding.frames == .first {
            decoding.frames = .first
        }
        if facts.size == facts.original { decoding.reduction = wanted.decoding.reduction }
        guard decoding == wanted.decoding, let output = sameView(as: wanted, facts) else { return false }
        if let limit = wanted.decoding.size?.byteLimit {
            let pixels = (facts.size.area ?? .max).multipliedReportingOverflow(by: max(1, facts.frameCount))
            if pixels.overflow || pixels.partialValue > limit / 4 { return false }
        }
        return facts.size.width >= output.width - 1 && facts.size.height >= output.height - 1
    }

    /// Whether a picture made as this one may stand in for `wanted` while that is loaded: the same part of the same
    /// picture through the same transformers, whatever its size, frames and depth.
    func standsIn(for wanted: Rendition, _ facts: PictureFacts) -> Bool {
        data == wanted.data && transformers == wanted.transformers && !facts.isPartial
            && sameView(as: wanted, facts) != nil
    }

    /// The pixels `wanted` asks for, if this shows the same part of the picture in the same proportions.
    private func sameView(as wanted: Rendition, _ facts: PictureFacts) -> PixelSize? {
        let original = assumedOriginal(facts)
        guard !facts.isVector || decoding.size == wanted.decoding.size, let own = plan(decoding, original),
            let other = plan(wanted.decoding, original)
        else { return nil }
        // Enlarged pixels are as many as asked for, but no detail for another size.
        guard
            decoding.size == wanted.decoding.size
                || own.output.width <= original.width && own.output.height <= original.height
        else { return nil }
        let differences = [
            own.window.x - other.window.x, own.window.y - other.window.y,
            own.window.width - other.window.width, own.window.height - other.window.height,
            // Brought to the wanted width, the height must be the wanted one.
            Double(own.output.height) * Double(other.output.width) / Double(own.output.width)
                - Double(other.output.height),
        ]
        return differences.allSatisfy { abs($0) <= 1 } ? other.output : nil
    }

    private func plan(_ decoding: DecodeOptions, _ original: PixelSize) -> ScalePlan? {
        guard !original.isEmpty else { return nil }
        guard let size = decoding.size else {
            return ScalePlan(window: SampleRect(original), output: original)
        }
        return try? size.plan(for: original, scale: decoding.scale)
    }

    /// The size of the whole picture. A coder that does not tell it reports the size it decoded to; where that is just
    /// what was asked for, the picture may be larger and is taken to be.
    private func assumedOriginal(_ facts: PictureFacts) -> PixelSize {
        guard facts.size == facts.original, decoding.size != nil else { return facts.original }
        let (width, wide) = facts.size.width.multipliedReportingOverflow(by: 64)
        let (height, high) = facts.size.height.multipliedReportingOverflow(by: 64)
        let larger = PixelSize(width: width, height: height)
        guard !wide, !high, plan(decoding, larger)?.output == facts.size else { return facts.original }
        return larger
    }
}
