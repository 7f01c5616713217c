// SPDX-License-Identifier: MIT

import WebImageCore

/// A request's size worked out for one file, in the coordinates of the rows as they are stored: which part of them
/// is used and how many pixels that becomes. Turning comes last, on the small result.
struct DecodeLayout {
    /// Width and height as stored.
    let rawSize: PixelSize
    /// What is left to do after resampling.
    let orientation: Orientation
    /// The part of the stored picture that is used, in its pixels.
    let window: SampleRect
    /// The pixels it becomes, before turning.
    let output: PixelSize
    /// False where every pixel stays as it is.
    let isScaled: Bool
    private let filter: Resampler.Filter

    /// - Parameters:
    ///   - format: of the result; default 8 bits a sample.
    ///   - frames: that are held decoded.
    /// - Throws: what the size breaks: a rule of ``TargetSize`` or a limit.
    init(
        rawSize: PixelSize, orientation: Orientation = .up, options: DecodeOptions, format: PixelFormat = .rgba8,
        frames: Int = 1, context: CodingContext
    ) throws(ImageError) {
        try context.limits.check(size: rawSize)
        let upright = orientation.upright(rawSize)
        let plan = try options.size?.plan(
            for: upright, scale: options.scale, frames: frames, format: format)
        self.rawSize = rawSize
        self.orientation = orientation
        self.filter = options.reduction == .box ? .box : .lanczos3
        if let plan, !plan.isIdentity(for: upright) {
            try context.limits.check(size: plan.output)
            self.window = orientation.stored(plan.window, of: rawSize)
            self.output = orientation.swapsSides ? plan.output.transposed : plan.output
            self.isScaled = true
        } else {
            self.window = SampleRect(rawSize)
            self.output = rawSize
            self.isScaled = false
        }
    }

    /// By how much a decoder may shrink without losing what Lanczos needs: the result keeps at least twice the
    /// wanted pixels on each axis. 1 where it may not.
    var spareReduction: Double {
        guard isScaled else { return 1 }
        let horizontal = window.width / Double(output.width)
        let vertical = window.height / Double(output.height)
        return max(1, min(horizontal, vertical) / 2)
    }

    /// Width and height from which on a smaller version of the picture will do; nil where every pixel counts.
    var neededSides: (width: Double, height: Double)? {
        guard isScaled else { return nil }
        return (
            Double(output.width) / window.width * Double(rawSize.width) - 1e-6,
            Double(output.height) / window.height * Double(rawSize.height) - 1e-6
        )
    }

    /// Whether colours are converted after reducing, when there are fewer pixels: where that makes no difference.
    func convertsLast(_ color: ColorConversion?) -> Bool { isScaled && color?.isPerceptual == true }

    /// Reduces rows that come from the top down; see ``finishReduced(_:color:context:)``.
    func rowResampler(_ format: PixelFormat, context: CodingContext) throws(ImageError) -> RowResampler {
        try RowResampler(
            sourceSize: rawSize, window: window, to: output, format: format, filter: filter, context: context)
    }

    /// Brings reduced rows upright.
    func finishReduced(_ pixels: PixelBuffer, color: ColorConversion?, context: CodingContext)
        throws(ImageError) -> PixelBuffer
    {
        let converted = try color?.converted(pixels, context: context) ?? pixels
        return try PixelOrienting.upright(converted, orientation, context: context)
    }

    /// Brings decoded rows to the asked size and upright.
    ///
    /// - Parameters:
    ///   - pixels: the whole stored picture, perhaps already shrunk by the decoder.
    ///   - extent: width and height of the picture in pixels of `pixels`; after DCT scaling it may end inside
    ///     the last column or row. Nil: `pixels` is the picture.
    ///   - color: the conversion that was put off until here, see ``convertsLast(_:)``.
    func finish(
        _ pixels: PixelBuffer, extent: (width: Double, height: Double)? = nil, color: ColorConversion? = nil,
        context: CodingContext
    ) throws(ImageError) -> PixelBuffer {
        var pixels = pixels
        if isScaled {
            let extent = extent ?? (Double(pixels.width), Double(pixels.height))
            let scaleX = extent.width / Double(rawSize.width)
            let scaleY = extent.height / Double(rawSize.height)
            let part = SampleRect(
                x: window.x * scaleX, y: window.y * scaleY, width: window.width * scaleX,
                height: window.height * scaleY)
            if part != SampleRect(pixels.size) || output != pixels.size {
                pixels = try Resampler.resample(pixels, window: part, to: output, filter: filter, context: context)
            }
        }
        return try finishReduced(pixels, color: color, context: context)
    }
}

extension Orientation {
    /// Where a part of the upright picture lies in the stored one.
    func stored(_ part: SampleRect, of rawSize: PixelSize) -> SampleRect {
        let width = Double(rawSize.width)
        let height = Double(rawSize.height)
        var stored =
            swapsSides
            ? SampleRect(x: part.y, y: part.x, width: part.height, height: part.width) : part
        if self == .upMirrored || self == .down || self == .rightMirrored || self == .left {
            stored.x = width - stored.x - stored.width
        }
        if self == .down || self == .downMirrored || self == .right || self == .rightMirrored {
            stored.y = height - stored.y - stored.height
        }
        return stored
    }
}
