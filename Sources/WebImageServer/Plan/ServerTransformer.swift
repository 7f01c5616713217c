// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The processing of a URL as one transformer.
///
/// The sizes depend on the size of the image, so the steps are known only when the image is decoded. The order of the
/// steps is the one of imgproxy: trim, rotate, crop, resize, crop to the result, filters, extend, padding, background, watermark.
package struct ServerTransformer: ImageTransformer {
    /// The processing.
    package let options: ProcessingOptions
    private let watermark: DecodedWatermark?

    /// Creates a transformer. `watermark` is `nil` if there's none.
    package init(_ options: ProcessingOptions, watermark: DecodedWatermark? = nil) {
        self.options = options
        self.watermark = options.watermark == nil ? nil : watermark
    }

    /// The version of the rules and all options that affect the pixels.
    package var identifier: String {
        var pixels = options
        // These options don't change the pixels.
        pixels.quality = 0
        pixels.formatQuality = [:]
        pixels.maxBytes = 0
        pixels.format = nil
        pixels.stripsMetadata = true
        pixels.keepsCopyright = false
        pixels.skippedFormats = []
        pixels.expires = nil
        pixels.filename = nil
        pixels.isAttachment = false
        return "server(1,\(pixels)" + (watermark.map { "," + $0.identifier } ?? "") + ")"
    }

    /// Returns the processed pixels.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` if a step exceeds the limits of the context.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        var step = Step(pixels: pixels, context: context)
        try trimAndTurn(&step)
        try crop(&step)
        let geometry = ResizeGeometry(of: step.pixels.size, options)
        try resize(&step, geometry)
        try filter(&step)
        try frame(&step, geometry)
        return step.pixels
    }

    /// The image between two steps.
    private struct Step {
        var pixels: PixelBuffer
        let context: ImageProcessingContext

        mutating func apply(_ transformer: StandardTransformer) throws(ImageError) {
            try context.checkCancellation()
            pixels = try transformer.transform(pixels, context: context)
        }

        mutating func crop(to size: PixelSize, _ gravity: ProcessingOptions.Gravity, _ ratio: Double) throws(ImageError)
        {
            let size = PixelSize(width: min(size.width, pixels.width), height: min(size.height, pixels.height))
            guard size != pixels.size else { return }
            guard case .point = gravity.kind else {
                return try smartCrop(to: size)
            }
            let origin = gravity.origin(of: size, in: pixels.size, pixelRatio: ratio)
            try apply(
                .crop(
                    x: Double(origin.x), y: Double(origin.y), width: Double(size.width), height: Double(size.height)))
        }

        /// Crops to the most interesting part. The smart crop of the library reduces an image that is larger than the
        /// box in both dimensions. So it gets the largest box with the aspect ratio, whose center remains.
        private mutating func smartCrop(to size: PixelSize) throws(ImageError) {
            let scale = min(
                Double(pixels.width) / Double(size.width), Double(pixels.height) / Double(size.height))
            try apply(
                .smartCrop(
                    width: min(Double(pixels.width), (Double(size.width) * scale).rounded()),
                    height: min(Double(pixels.height), (Double(size.height) * scale).rounded())))
            try crop(to: size, .center, 1)
        }

        mutating func place(at x: Int, _ y: Int, on size: PixelSize, _ color: PixelColor) throws(ImageError) {
            let image = pixels
            try context.limits.check(result: size, format: image.format)
            pixels = try PixelBuffer.filled(with: color, size: size)
            try apply(.overlay(image, in: PixelRect(x: x, y: y, width: image.width, height: image.height)))
        }
    }

    private func trimAndTurn(_ step: inout Step) throws(ImageError) {
        if let threshold = options.trimThreshold {
            try step.context.checkCancellation()
            var trim = TrimTransformer(tolerance: threshold / 255, color: options.trimColor)
            (trim.cropsSidesEqually, trim.cropsEndsEqually) = (options.trimsSidesEqually, options.trimsEndsEqually)
            step.pixels = try trim.transform(step.pixels, context: step.context)
        }
        if options.rotation != 0 { try step.apply(.rotate(degrees: Double(options.rotation))) }
        if options.flipsHorizontally { try step.apply(.flipHorizontally) }
        if options.flipsVertically { try step.apply(.flipVertically) }
    }

    private func crop(_ step: inout Step) throws(ImageError) {
        let size = PixelSize(
            width: Self.side(options.cropWidth, of: step.pixels.width),
            height: Self.side(options.cropHeight, of: step.pixels.height))
        try step.crop(to: size, options.cropGravity ?? options.gravity, 1)
    }

    private static func side(_ length: Double, of whole: Int) -> Int {
        switch length {
        case 0: whole
        case ..<1: max(1, Int((length * Double(whole)).rounded()))
        default: min(whole, Int(length.rounded()))
        }
    }

    private func resize(_ step: inout Step, _ geometry: ResizeGeometry) throws(ImageError) {
        if step.pixels.size != geometry.scaled {
            let (width, height) = (geometry.scaled.width, geometry.scaled.height)
            try step.apply(.resize(.exact(width: Double(width), height: Double(height))))
        }
        try step.crop(to: geometry.cropped, options.gravity, geometry.pixelRatio)
    }

    private func filter(_ step: inout Step) throws(ImageError) {
        // The radius of the library is twice the standard deviation.
        if options.blur > 0 { try step.apply(.blur(radius: 2 * options.blur)) }
        if options.sharpen > 0 { try step.apply(.sharpen(amount: 1, radius: 2 * options.sharpen)) }
        if options.pixelate > 1 { step.pixels = try Pixelation(options.pixelate).apply(step.pixels, step.context) }
    }

    private func frame(_ step: inout Step, _ geometry: ResizeGeometry) throws(ImageError) {
        let color = options.background ?? .clear
        if geometry.extended != step.pixels.size, geometry.extended != geometry.cropped {
            let gravity = options.extend.isEnabled ? options.extend.gravity : options.extendAspectRatio.gravity
            let origin = gravity.origin(
                of: step.pixels.size, in: geometry.extended, pixelRatio: geometry.pixelRatio)
            try step.place(at: origin.x, origin.y, on: geometry.extended, color)
        }
        let padding = geometry.padding(options)
        if padding.contains(where: { $0 > 0 }) {
            let size = PixelSize(
                width: step.pixels.width + padding[1] + padding[3], height: step.pixels.height + padding[0] + padding[2]
            )
            try step.place(at: padding[3], padding[0], on: size, color)
        }
        if options.background != nil, !step.pixels.isOpaque {
            try step.place(at: 0, 0, on: step.pixels.size, color)
        }
        if let watermark, let mark = options.watermark {
            step.pixels = try watermark.drawn(
                on: step.pixels, mark, pixelRatio: geometry.pixelRatio, step.context)
        }
    }
}

/// A filter that gives all pixels of a block their average color.
private struct Pixelation {
    private let blockSize: Int

    init(_ blockSize: Int) { self.blockSize = blockSize }

    /// The blocks have equal sizes, so they're slightly smaller than requested if the image isn't a multiple of the
    /// size.
    func apply(_ pixels: PixelBuffer, _ context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let columns = (pixels.width + blockSize - 1) / blockSize
        let rows = (pixels.height + blockSize - 1) / blockSize
        let small = try StandardTransformer.resize(
            .exact(width: Double(columns), height: Double(rows)), filter: .box
        ).transform(pixels, context: context)
        let canvas = try PixelCanvas(size: pixels.size, format: small.format)
        let bytesPerPixel = small.format.bytesPerPixel
        canvas.withUnsafeMutableBytes { target in
            small.withUnsafeBytes { source in
                for y in 0..<pixels.height {
                    let sourceRow = y * rows / pixels.height * small.bytesPerRow
                    for x in 0..<pixels.width {
                        let from = sourceRow + x * columns / pixels.width * bytesPerPixel
                        let to = y * canvas.bytesPerRow + x * bytesPerPixel
                        for byte in 0..<bytesPerPixel { target[to + byte] = source[from + byte] }
                    }
                }
            }
        }
        return canvas.finish(isOpaque: small.isOpaque)
    }
}
