// SPDX-License-Identifier: MIT

import WebImageCore

/// A way in which a decoder reduces an image while it decodes it.
enum DecoderReduction {
    /// The decoder holds the whole image.
    case none
    /// The decoder omits DCT coefficients, at the scales 1/1, 1/2, 1/4, and 1/8.
    case fractions
    /// The decoder omits DCT coefficients like ``fractions``. If the limits require it, it adds rows to the result and
    /// discards them.
    case fractionsOrRows
    /// The decoder scales the rows to any smaller size.
    case anySize
    /// The decoder adds rows to the result and discards them.
    case rows
}

/// The requested size, resolved for one file, in the coordinates of the stored rows: the region of the image to use
/// and the size of the result. The orientation is applied last, to the reduced image.
struct DecodeLayout {
    /// The stored width and height.
    let rawSize: PixelSize
    /// The orientation to apply after resampling.
    let orientation: ImageOrientation
    /// The region of the stored image that is used, in stored pixels.
    let window: SampleRect
    /// The size of the result in pixels, before the orientation is applied.
    let output: PixelSize
    let isScaled: Bool
    private let reduction: DecoderReduction
    private let filter: ResamplingFilter
    /// The curve of the samples that are resampled. The default is that of sRGB.
    var curve = LightCurve.sRGB
    /// The minimum number of pixels of a reduced image per pixel of the result, on each axis.
    private var minDensity: Double = Self.ordinaryDensity
    /// The denominators of the scales from which ``denominator`` chooses, from the smallest scale.
    private var denominators = Self.allDenominators
    /// Whether the decoder adds the rows of the whole image to the result because the limits don't allow a reduced
    /// image that has the requested pixels.
    private(set) var resamplesRows = false

    /// The minimum density for ordinary detail, with which Lanczos resampling after a reduction has good results.
    private static let ordinaryDensity = 2.0
    /// The minimum density for ordinary detail at the scale 1/2.
    private static let halfDensity = 1.75
    /// The density for decoders that scale to any size. Decoders with fractions have it on average with
    /// ``ordinaryDensity``, because they never reduce by less than half of the possible factor.
    private static let anySizeDensity = 4.0
    /// The density for such decoders and the maximum number of pixels of the results that it applies to. The reduced images
    /// of such small results cost little time and memory.
    private static let smallAnySizeDensity = 5.0
    private static let maxSmallOutput = 100_000
    private static let allDenominators = [8, 4, 2]
    /// The maximum number of pixels of an image with fine detail that's decoded at a larger scale than necessary.
    private static let maxFineArea = 2_500_000

    private static func isAllowed(_ size: PixelSize, _ format: PixelFormat, _ limits: ImageLimits) -> Bool {
        guard (try? limits.check(size)) != nil, let area = size.area else { return false }
        return area <= limits.maxDecodedBytes / format.bytesPerPixel
    }

    /// Returns the minimum density for resampling in linear light.
    private func density(for detail: StoredDetail) -> Double {
        switch detail {
        case .ordinary where reduction == .anySize:
            return output.area ?? .max <= Self.maxSmallOutput ? Self.smallAnySizeDensity : Self.anySizeDensity
        case .ordinary: return Self.ordinaryDensity
        case .fine: return 3
        case .noise: return .infinity
        }
    }

    /// The denominators for an image with fine detail. The smaller scales aren't necessary for an image that has at most
    /// ``maxFineArea`` pixels at a larger one. At 1/8, each pixel is the average of the stored values of a block.
    ///
    /// Such a file takes most of the time for its many coefficients, which are read at every scale. Decoding photographs of 9
    /// megapixels at 1/2 takes 10 to 15% more time than at 1/4, and 25% more than at 1/8.
    private var fineDenominators: [Int] {
        let area = rawSize.area ?? .max
        return [[2], [4, 2]].first { area / ($0[0] * $0[0]) <= Self.maxFineArea } ?? Self.allDenominators
    }

    /// The minimum ratio of pixels between the whole image and the result for decoding row by row. With a smaller ratio,
    /// the whole image doesn't need much more memory, and decoding it is faster.
    private static let minRatioForRows = 4

    /// Creates a layout for one file. `frames` is the number of decoded frames in memory at the same time. A decoder
    /// that averages samples in their stored encoding reduces an image with fine detail less, and noise only if the
    /// limits require it. Throws an ``ImageError`` if the requested size violates a rule of ``TargetSize`` or a limit.
    init(
        rawSize: PixelSize, orientation: ImageOrientation = .up, options: ImageDecodingOptions,
        format: PixelFormat = .rgba8,
        frames: Int = 1, reduction: DecoderReduction = .none, detail: StoredDetail = .ordinary,
        context: ImageProcessingContext
    ) throws(ImageError) {
        let upright = orientation.upright(rawSize)
        let plan = try options.size?.plan(
            for: upright, scale: options.scale, frames: frames, format: format)
        self.rawSize = rawSize
        self.orientation = orientation
        self.reduction = reduction
        self.filter = options.resampling
        if let plan, !plan.isIdentity(for: upright) {
            try context.limits.check(plan.output)
            self.window = orientation.stored(plan.window, of: rawSize)
            self.output = orientation.swapsDimensions ? plan.output.transposed : plan.output
            self.isScaled = true
        } else {
            self.window = SampleRect(rawSize)
            self.output = rawSize
            self.isScaled = false
        }
        if options.resampling.light == .linear {
            minDensity = density(for: detail)
            if detail == .fine { denominators = fineDenominators }
        }
        reduceToLimits(format, context.limits)
        try context.limits.check(decodedSize)
        try context.limits.checkedSourceArea(of: rawSize)
    }

    /// Reduces the image more than usual if the limits require it: to the next smaller scales that still have the
    /// requested pixels, and then row by row.
    private mutating func reduceToLimits(_ format: PixelFormat, _ limits: ImageLimits) {
        guard isScaled, !Self.isAllowed(decodedSize, format, limits) else { return }
        denominators = Self.allDenominators
        if Self.isAllowed(decodedSize, format, limits) { return }
        let usual = minDensity
        for density in [3, Self.ordinaryDensity, 1] where density < usual {
            minDensity = density
            if Self.isAllowed(decodedSize, format, limits) { return }
        }
        minDensity = usual
        resamplesRows = reduction == .rows || reduction == .fractionsOrRows
    }

    /// The size of the largest image that the decoder holds, in pixels.
    var decodedSize: PixelSize {
        switch reduction {
        case .none: return rawSize
        case _ where resamplesRows: return output
        case .fractions, .fractionsOrRows:
            let denominator = denominator
            // libjpeg rounds up.
            return PixelSize(
                width: (rawSize.width + denominator - 1) / denominator,
                height: (rawSize.height + denominator - 1) / denominator)
        case .anySize:
            let reduction = spareReduction
            // The quotient of exact numbers isn't exact, which must not add a pixel.
            return PixelSize(
                width: Int((Double(rawSize.width) / reduction - 1e-6).rounded(.up)),
                height: Int((Double(rawSize.height) / reduction - 1e-6).rounded(.up)))
        case .rows: return isMuchSmaller ? output : rawSize
        }
    }

    /// The denominator of the smallest scale among 1/1, 1/2, 1/4, and 1/8 that keeps at least ``minDensity`` times the
    /// requested pixels on each axis, or ``halfDensity`` times at 1/2 for ordinary detail.
    var denominator: Int {
        guard !resamplesRows else { return 1 }
        return denominators.first { denominator in
            let isHalf = denominator == 2 && minDensity == Self.ordinaryDensity
            return Double(denominator) * (isHalf ? Self.halfDensity : minDensity) <= pixelRatio
        } ?? 1
    }

    /// Whether the result has so few pixels that the image is decoded row by row, or whether the limits require that.
    var isMuchSmaller: Bool {
        isScaled && (resamplesRows || output.area ?? .max < (rawSize.area ?? .max) / Self.minRatioForRows)
    }

    /// The factor by which a decoder may reduce the image while keeping enough detail for Lanczos resampling. The
    /// reduced image has at least ``minDensity`` times the pixels of the result on each axis. The factor is 1 if the
    /// decoder can't reduce.
    var spareReduction: Double { max(1, pixelRatio / minDensity) }

    /// The number of pixels of the whole image per pixel of the result, on the axis with fewer of them. The value is 1 if
    /// the decoder can't reduce the image.
    private var pixelRatio: Double {
        // The nearest pixels must be pixels of the source.
        guard isScaled, filter.kernel != .nearest else { return 1 }
        return min(window.width / Double(output.width), window.height / Double(output.height))
    }

    /// The minimum width and height that a smaller version of the image must have to be used instead of the full
    /// image. The value is `nil` if the image isn't scaled.
    var requiredSize: (width: Double, height: Double)? {
        guard isScaled else { return nil }
        return (
            Double(output.width) / window.width * Double(rawSize.width) - 1e-6,
            Double(output.height) / window.height * Double(rawSize.height) - 1e-6
        )
    }

    /// Returns whether colors are converted after the reduction, when fewer pixels remain. This is the case if the
    /// order makes no difference.
    func convertsLast(_ color: ColorConversion?) -> Bool { isScaled && color?.isPerceptual == true }

    /// Returns a resampler for rows that arrive from top to bottom. See ``finishReduced(_:color:context:)``.
    func rowResampler(_ format: PixelFormat, context: ImageProcessingContext) throws(ImageError) -> RowResampler {
        try RowResampler(
            sourceSize: rawSize, window: window, to: output, format: format, filter: filter,
            context: context.with(lightCurve: curve))
    }

    /// Converts the colors of reduced rows and applies the orientation.
    func finishReduced(_ pixels: PixelBuffer, color: ColorConversion?, context: ImageProcessingContext)
        throws(ImageError) -> PixelBuffer
    {
        let converted = try color?.converted(pixels, context: context) ?? pixels
        return try OrientationTransform.upright(converted, orientation, context: context)
    }

    /// Enlarges a thumbnail in the orientation of the stored image to the requested size, and applies the orientation.
    /// `content` is the part of the thumbnail that shows the whole image, in its pixels.
    func enlarge(
        _ thumbnail: PixelBuffer, content: SampleRect, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let scaleX = content.width / Double(rawSize.width)
        let scaleY = content.height / Double(rawSize.height)
        var part = SampleRect(
            x: content.x + window.x * scaleX, y: content.y + window.y * scaleY, width: window.width * scaleX,
            height: window.height * scaleY)
        part.width = min(part.width, Double(thumbnail.width) - part.x)
        part.height = min(part.height, Double(thumbnail.height) - part.y)
        let pixels = try Resampler.resample(
            thumbnail, window: part, to: output, filter: filter, context: context.with(lightCurve: curve))
        return try OrientationTransform.upright(pixels, orientation, context: context)
    }

    /// Scales the whole stored image, which the decoder may already have reduced, to the requested size, and applies
    /// the orientation. `extent` is the size of the image in pixels of `pixels`, or `nil` if `pixels` is exactly the
    /// image. After DCT scaling, the image may end inside the last column or row. The color conversion is one that was
    /// postponed until this step. See ``convertsLast(_:)``.
    func finish(
        _ pixels: PixelBuffer, extent: (width: Double, height: Double)? = nil, color: ColorConversion? = nil,
        context: ImageProcessingContext
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
                pixels = try Resampler.resample(
                    pixels, window: part, to: output, filter: filter, context: context.with(lightCurve: curve))
            }
        }
        return try finishReduced(pixels, color: color, context: context)
    }
}

extension ImageOrientation {
    /// Returns the region of the stored image that corresponds to a region of the image with the EXIF orientation
    /// applied.
    func stored(_ part: SampleRect, of rawSize: PixelSize) -> SampleRect {
        let width = Double(rawSize.width)
        let height = Double(rawSize.height)
        var stored =
            swapsDimensions
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
