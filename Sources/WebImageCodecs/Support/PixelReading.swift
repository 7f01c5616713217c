// SPDX-License-Identifier: MIT

import WebImageCore

/// The way of a library's pixels into a buffer: with how many bits they are read, their colours, their alpha.
struct PixelReading {
    /// What a library has written into a canvas.
    struct Samples {
        /// Whether some pixels may not be opaque.
        var hasAlpha: Bool
        /// Whether alpha is multiplied in.
        var isPremultiplied = false
    }

    let size: PixelSize
    /// Of the result.
    let format: PixelFormat
    /// Whether 8 bits a sample would lose something before colours are converted.
    let isDeep: Bool
    let color: ColorConversion?
    /// Whether the library does not write every pixel.
    let isZeroed: Bool

    /// - Parameters:
    ///   - depth: bits per sample of the source.
    ///   - options: what is wanted of them.
    init(
        _ size: PixelSize, depth: Int, options: DecodeOptions.Depth, color: ColorConversion?, isZeroed: Bool = false
    ) {
        self.size = size
        self.format = options.format(depth)
        self.isDeep = depth > 8
        self.color = color
        self.isZeroed = isZeroed
    }

    /// - Parameter read: fills a canvas of `size`, whose format says how many bits are wanted.
    /// - Throws: what `read` throws, a ``LimitError``.
    func pixels(
        context: CodingContext, read: (borrowing PixelCanvas) throws(ImageError) -> Samples
    ) throws(ImageError) -> PixelBuffer {
        // Before anything is decoded.
        let canvas = try PixelCanvas.forDecoding(size, format: format, zeroed: isZeroed, context: context)
        let samples: Samples
        if isDeep, format == .rgba8, let color, let wide = try PixelCanvas.wide(size, context: context) {
            samples = try read(wide)
            if samples.isPremultiplied { wide.unpremultiply() }
            try color.narrow(wide, into: canvas, context: context)
            if samples.hasAlpha { canvas.premultiply(rows: 0..<size.height) }
        } else {
            samples = try read(canvas)
            if samples.isPremultiplied {
                try color?.convertPremultiplied(canvas, context: context)
            } else {
                color?.convert(canvas, rows: 0..<size.height)
                if samples.hasAlpha { canvas.premultiply(rows: 0..<size.height) }
            }
        }
        let isOpaque = !samples.hasAlpha || canvas.isEveryPixelOpaque()
        return canvas.finish(isOpaque: isOpaque)
    }
}

extension DecodeOptions.Depth {
    /// The format of a result whose source has `depth` bits a sample.
    func format(_ depth: Int) -> PixelFormat { self == .source && depth > 8 ? .rgba16 : .rgba8 }
}
