// SPDX-License-Identifier: MIT

import WebImageCore

/// A description of how to read the pixels of a library into a buffer: the bit depth, the color conversion, and the
/// alpha.
struct PixelImporter {
    /// A description of the samples that a library wrote into a canvas.
    struct Samples {
        /// Whether pixels may be transparent.
        var hasAlpha: Bool
        var isPremultiplied = false
    }

    let size: PixelSize
    let format: PixelFormat
    /// Whether the source has more than 8 bits per sample, so that reducing it before the color conversion would lose
    /// precision.
    let isDeep: Bool
    let color: ColorConversion?
    /// Whether to clear the canvas first, because the library doesn't write every pixel.
    let isZeroed: Bool

    /// The result has 16 bits per sample if the source has more than 8 and `preservesBitDepth` is `true`.
    init(
        _ size: PixelSize, depth: Int, preservesBitDepth: Bool, color: ColorConversion?,
        isZeroed: Bool = false
    ) {
        self.size = size
        self.format = PixelFormat(bitDepth: depth, isPreserved: preservesBitDepth)
        self.isDeep = depth > 8
        self.color = color
        self.isZeroed = isZeroed
    }

    /// Reads the pixels with a closure that fills a canvas of `size`, converts their colors, and premultiplies them.
    /// The format of the canvas determines the bits per sample. Throws an ``ImageError/LimitFailure``, or the error
    /// that `read` throws.
    func pixels(
        context: ImageProcessingContext, read: (borrowing PixelCanvas) throws(ImageError) -> Samples
    ) throws(ImageError) -> PixelBuffer {
        // Check the limits before decoding.
        let canvas = try PixelCanvas.forDecoding(size, format: format, zeroed: isZeroed, context: context)
        let samples: Samples
        if isDeep, !format.layout.isWide, let color, let wide = try PixelCanvas.wide(size, context: context) {
            samples = try read(wide)
            if samples.isPremultiplied { wide.unpremultiply() }
            try color.narrow(wide, into: canvas, context: context)
            if samples.hasAlpha { canvas.premultiply(rows: 0..<size.height) }
        } else {
            samples = try read(canvas)
            if samples.isPremultiplied, let color {
                try color.convertPremultiplied(canvas, context: context)
            } else if samples.isPremultiplied {
                canvas.limitColors()
            } else {
                color?.convert(canvas, rows: 0..<size.height)
                if samples.hasAlpha { canvas.premultiply(rows: 0..<size.height) }
            }
        }
        let isOpaque = !samples.hasAlpha || canvas.isEveryPixelOpaque()
        return canvas.finish(isOpaque: isOpaque)
    }
}
