// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The operations of the public API that produce the result of a URL.
package struct ProcessingPlan: Sendable {
    /// The request of the image, or of the data for ``isRaw``.
    package var request: ImageRequest
    /// The encoding of the result.
    package var encoding: ImageEncoding
    /// Whether the source is sent unchanged.
    package var isRaw: Bool

    /// The qualities by format if neither the URL nor the configuration sets one.
    package static let defaultQualities: [ImageFormat: Int] = [.jpeg: 80, .webp: 79, .avif: 63, .jxl: 77, .heif: 70]

    /// Creates the plan of a URL.
    ///
    /// - Parameters:
    ///   - source: The URL of the image, which the caller has checked.
    ///   - options: The processing.
    ///   - format: The format of the result, or `nil` for the format of the source if it's JPEG, PNG, or GIF. The
    ///     content of sources in other formats determines which of these formats the result has.
    ///   - qualities: The qualities by format if `options` sets none.
    ///   - watermark: The image for the option `watermark`, or `nil` if there's none.
    ///   - keepsAnimations: Whether the result of an animation can be an animation. The default is `false`.
    package init(
        source: URL, options: ProcessingOptions, format: ImageFormat?,
        qualities: [ImageFormat: Int] = Self.defaultQualities, watermark: DecodedWatermark? = nil,
        keepsAnimations: Bool = false
    ) {
        request = ImageRequest(url: source)
        isRaw = options.isRaw
        if let page = options.page {
            request.frames = .index(page)
        } else if keepsAnimations, Self.dependsOnContent(options) {
            // Otherwise, the frames would have different parts of the image, and possibly different sizes.
            request.frames = .first
        }
        let decodingSize = Self.decodingSize(of: options)
        request.size = decodingSize.size
        request.usesDefaultTransformers = false
        if !decodingSize.isComplete { request.transformers = [ServerTransformer(options, watermark: watermark)] }
        encoding = ImageEncoding(format: format)
        // As in imgproxy, the source keeps its format if all clients can display it.
        if format == nil { encoding.automaticFormats = [.jpeg, .png, .gif] }
        // If the source or its content determines the format, only JPEG has a quality.
        let explicit = options.formatQuality[format ?? .jpeg] ?? options.quality
        if let format, let quality = qualities[format] {
            encoding.quality = explicit > 0 ? explicit : quality
        } else if format == nil, let quality = explicit > 0 ? explicit : qualities[.jpeg] {
            encoding.quality = quality
        }
        if let background = options.background { encoding.background = background }
        if options.maxBytes > 0 { encoding.maxByteCount = options.maxBytes }
        // These are the defaults of imgproxy.
        encoding.color = .sRGB
        encoding.preservesDynamicRange = false
        encoding.metadata = options.stripsMetadata ? (options.keepsCopyright ? .keepCopyright : .strip) : .keep
    }

    private static func dependsOnContent(_ options: ProcessingOptions) -> Bool {
        options.trimThreshold != nil || options.gravity.kind == .smart || options.cropGravity?.kind == .smart
    }

    /// Decoders reduce images much faster than transformers. They don't know the size of the image in advance, so they
    /// only reduce it if the result doesn't depend on anything else. `isComplete` indicates that no transformer is
    /// necessary afterward.
    static func decodingSize(of options: ProcessingOptions) -> (size: TargetSize?, isComplete: Bool) {
        var plain = ProcessingOptions()
        (plain.width, plain.height, plain.dpr) = (options.width, options.height, options.dpr)
        (plain.resizingType, plain.maxResultDimension) = (options.resizingType, options.maxResultDimension)
        (plain.quality, plain.formatQuality, plain.maxBytes) = (
            options.quality, options.formatQuality, options.maxBytes
        )
        (plain.format, plain.stripsMetadata) = (options.format, options.stripsMetadata)
        plain.keepsCopyright = options.keepsCopyright
        (plain.page, plain.isRaw, plain.skippedFormats) = (options.page, options.isRaw, options.skippedFormats)
        (plain.expires, plain.filename, plain.isAttachment) = (options.expires, options.filename, options.isAttachment)
        // Without a crop, the gravity has no effect, and neither has enlarging an image that is reduced.
        let cropsToBox = [.fill, .fillDown].contains(options.resizingType) && options.width > 0 && options.height > 0
        if cropsToBox { plain.gravity = options.gravity } else { plain.gravity = .center }
        var compared = options
        compared.gravity = plain.gravity
        let usesAllRules = compared != plain

        let isFirstStep =
            options.cropWidth == 0 && options.cropHeight == 0 && options.trimThreshold == nil && options.minWidth == 0
            && options.minHeight == 0 && options.zoomX == 1 && options.zoomY == 1
        let limit = options.maxResultDimension > 0 ? Double(options.maxResultDimension) : nil
        guard isFirstStep, options.width > 0 || options.height > 0 else {
            let isComplete = !usesAllRules && options.width == 0 && options.height == 0
            guard isComplete, let limit else { return (nil, isComplete) }
            return (.fit(width: limit, height: limit), true)
        }
        let isTurned = options.rotation % 180 != 0
        let width = options.width > 0 ? Double(options.width) * options.dpr : nil
        let height = options.height > 0 ? Double(options.height) * options.dpr : nil
        let box = isTurned ? (height, width) : (width, height)
        let isFit = options.resizingType == .fit || (width == nil || height == nil) && options.resizingType != .force
        if isFit, !usesAllRules, let limit {
            return (.fit(width: min(box.0 ?? limit, limit), height: min(box.1 ?? limit, limit)), true)
        }
        if isFit { return (.fit(width: box.0, height: box.1), !usesAllRules) }
        if options.resizingType == .fill, plain.gravity == .center, let width = box.0, let height = box.1 {
            // A larger box is scaled down after the crop, whose size depends on the image.
            guard max(width, height) <= limit ?? .infinity else { return (nil, false) }
            return (.fill(width: width, height: height), !usesAllRules)
        }
        return (nil, false)
    }
}
