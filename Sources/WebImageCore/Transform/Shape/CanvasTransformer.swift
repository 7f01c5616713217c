// SPDX-License-Identifier: MIT

/// A transformer that places an image on a background with an exact size.
package struct CanvasTransformer: ImageTransformer, Hashable {
    /// The width of the result in `unit`.
    package let width: Double
    /// The height of the result in `unit`.
    package let height: Double
    /// The way the image is resized.
    package let mode: StandardTransformer.ContentMode
    /// The position of the image, or of its visible part.
    package let anchor: StandardTransformer.Anchor
    /// The color of pixels that the image doesn't cover.
    package let background: PixelColor
    /// Whether smaller images are enlarged.
    package let upscales: Bool
    /// The unit of the lengths.
    package let unit: TargetSize.Unit
    /// The kernel and the light.
    package let filter: ResamplingFilter

    /// Creates a transformer. By default, it fits the image without enlarging it, centers it on a transparent
    /// background, uses pixels, and filters with Lanczos-3 in linear light.
    package init(
        width: Double, height: Double, mode: StandardTransformer.ContentMode = .fit,
        anchor: StandardTransformer.Anchor = .center, background: PixelColor = .clear, upscales: Bool = false,
        unit: TargetSize.Unit = .pixels, filter: ResamplingFilter = .lanczos3
    ) {
        self.width = width
        self.height = height
        self.mode = mode
        self.anchor = anchor
        self.background = background
        self.upscales = upscales
        self.unit = unit
        self.filter = filter
    }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        """
        canvas(\(width):\(height),\(mode.rawValue),\(anchor.rawValue),\(background.hexadecimal),\(upscales),\(unit),\
        \(filter.identity))
        """
    }

    /// Places an image on the background. The result is opaque if the image is opaque and either the background is
    /// opaque or the image covers it.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a length is NaN,
    ///   infinite, zero, or negative, or an ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterValidator(transformer: "canvas")
        let factor = unit == .points ? context.scale : 1
        let canvas = PixelSize(
            width: max(1, Int(try check.length(width, "width", times: factor).rounded())),
            height: max(1, Int(try check.length(height, "height", times: factor).rounded())))
        let ratio = ratio(of: pixels.size, in: canvas)
        let column = CanvasAxis(
            length: pixels.width, canvas: canvas.width, ratio: ratio.width, position: anchor.horizontalPosition)
        let row = CanvasAxis(
            length: pixels.height, canvas: canvas.height, ratio: ratio.height, position: anchor.verticalPosition)
        if ratio.width == 1, ratio.height == 1 {
            // Without resampling, the pixels are copied only once.
            let frame = PixelRect(
                x: Int(column.start) - column.offset, y: Int(row.start) - row.offset, width: canvas.width,
                height: canvas.height)
            return try PadAndCrop.framed(pixels, by: frame, color: background, name: "canvas", context: context)
        }
        // Check the result first, because the resized image may be much smaller.
        try context.limits.check(result: canvas, format: pixels.format)
        try context.checkCancellation()
        let resized = try Resampler.resample(
            pixels, window: SampleRect(x: column.start, y: row.start, width: column.length, height: row.length),
            to: PixelSize(width: column.output, height: row.output), filter: filter, context: context)
        let frame = PixelRect(x: -column.offset, y: -row.offset, width: canvas.width, height: canvas.height)
        return try PadAndCrop.framed(resized, by: frame, color: background, name: "canvas", context: context)
    }

    private func ratio(of size: PixelSize, in canvas: PixelSize) -> (width: Double, height: Double) {
        let limit = upscales ? Double.infinity : 1
        let across = Double(canvas.width) / Double(size.width)
        let down = Double(canvas.height) / Double(size.height)
        switch mode {
        case .fit: return (min(limit, across, down), min(limit, across, down))
        case .fill: return (min(limit, max(across, down)), min(limit, max(across, down)))
        case .stretch: return (min(limit, across), min(limit, down))
        case .original: return (1, 1)
        }
    }
}

/// The placement of one side of an image on one side of a canvas.
struct CanvasAxis {
    /// The start of the visible part, in pixels of the image.
    let start: Double
    /// The length of the visible part, in pixels of the image.
    let length: Double
    /// The length of the visible part on the canvas, in pixels.
    let output: Int
    /// The distance between the start of the canvas and the visible part, in pixels.
    let offset: Int

    /// Places an image. The lengths are in pixels, and the position is 0 for the start, 0.5 for the center, and 1 for
    /// the end.
    init(length own: Int, canvas: Int, ratio: Double, position: Double) {
        let scaled = Double(own) * ratio
        // A side that's fitted to the canvas can exceed it by a rounding error.
        if scaled <= Double(canvas) * (1 + 1e-9) {
            start = 0
            length = Double(own)
            output = min(canvas, max(1, Int(scaled.rounded())))
            offset = Int((Double(canvas - output) * position).rounded(.down))
        } else {
            output = canvas
            offset = 0
            length = min(Double(own), Double(canvas) / ratio)
            let rest = (Double(own) - length) * position
            // Whole pixels are copied exactly.
            start = ratio == 1 ? rest.rounded(.down) : rest
        }
    }
}

extension StandardTransformer.Anchor {
    /// The horizontal position, where 0 is the left edge and 1 is the right edge.
    var horizontalPosition: Double {
        switch self {
        case .topLeading, .leading, .bottomLeading: 0
        case .top, .center, .bottom: 0.5
        case .topTrailing, .trailing, .bottomTrailing: 1
        }
    }

    /// The vertical position, where 0 is the top edge and 1 is the bottom edge.
    var verticalPosition: Double {
        switch self {
        case .topLeading, .top, .topTrailing: 0
        case .leading, .center, .trailing: 0.5
        case .bottomLeading, .bottom, .bottomTrailing: 1
        }
    }
}

extension CanvasTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        let canvas = CanvasTransformer(
            width: width, height: height, mode: mode, anchor: anchor, background: gainMap.neutralColor,
            upscales: upscales, unit: unit, filter: .lanczos3(light: .encoded))
        return try gainMap.transformed(by: canvas, atSizeOf: size, context: context)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer whose result always has the size `width` × `height`. It places the image on a background,
    /// and crops the parts that are outside.
    ///
    /// The background is visible only next to the image. Transparent pixels of the image remain transparent.
    ///
    /// - Parameters:
    ///   - width: The width of the result.
    ///   - height: The height of the result.
    ///   - mode: The way the image is resized. The default is ``StandardTransformer/ContentMode/fit``, which shows the
    ///     whole image.
    ///   - anchor: The position of the image if it's smaller than the result, and of the visible part if it's larger.
    ///     The default is the center.
    ///   - background: The color of pixels that the image doesn't cover. The default is transparent.
    ///   - upscales: Whether smaller images are enlarged. The default is `false`.
    ///   - unit: The unit of the lengths. The default is pixels.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func canvas(
        width: Double, height: Double, mode: StandardTransformer.ContentMode = .fit,
        anchor: StandardTransformer.Anchor = .center, background: PixelColor = .clear, upscales: Bool = false,
        unit: TargetSize.Unit = .pixels, filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        StandardTransformer(
            CanvasTransformer(
                width: width, height: height, mode: mode, anchor: anchor, background: background, upscales: upscales,
                unit: unit, filter: filter))
    }
}
