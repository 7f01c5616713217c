// SPDX-License-Identifier: MIT

/// A transformer that covers a box like ``TargetSize/fill(width:height:unit:)``, but crops the least interesting parts.
package struct SmartCropTransformer: ContentDependentTransformer, Hashable {
    /// The width of the box in `unit`.
    package let width: Double
    /// The height of the box in `unit`.
    package let height: Double
    /// The way the interesting part is found.
    package let strategy: StandardTransformer.SmartCropStrategy
    /// The unit of the lengths.
    package let unit: TargetSize.Unit
    /// The kernel and the light.
    package let filter: ResamplingFilter

    /// Creates a transformer. By default, lengths are in pixels, and the filter is Lanczos-3 in linear light.
    package init(
        width: Double, height: Double, strategy: StandardTransformer.SmartCropStrategy,
        unit: TargetSize.Unit = .pixels, filter: ResamplingFilter = .lanczos3
    ) {
        self.width = width
        self.height = height
        self.strategy = strategy
        self.unit = unit
        self.filter = filter
    }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        "smartCrop(\(width):\(height),\(strategy.rawValue),\(unit),\(filter.identity))"
    }

    package var dependsOnContent: Bool { true }

    /// Reduces and crops an image. If the image already has the size of the box, this method returns it unchanged.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a length is NaN,
    ///   infinite, zero, or negative, or an ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try fixed(for: pixels, context: context).transform(pixels, context: context)
    }

    package func fixed(
        for pixels: PixelBuffer, context: ImageProcessingContext
    ) throws(ImageError) -> any ImageTransformer {
        let check = ParameterValidator(transformer: "smartCrop")
        let factor = unit == .points ? context.scale : 1
        let box = TargetSize.fill(
            width: max(1, try check.length(width, "width", times: factor).rounded()),
            height: max(1, try check.length(height, "height", times: factor).rounded()))
        let plan = try box.plan(for: pixels.size)
        var window = plan.window
        if window.width < Double(pixels.width) || window.height < Double(pixels.height) {
            try context.checkCancellation()
            let region = try InterestingRegion(of: pixels, context: context)
            let origin = region.origin(of: window, in: pixels.size, strategy: strategy)
            (window.x, window.y) = (origin.x, origin.y)
        }
        if Double(plan.output.width) == window.width, Double(plan.output.height) == window.height {
            // Without resampling, whole pixels are copied exactly.
            return CropTransformer(
                .rect(x: window.x.rounded(), y: window.y.rounded(), width: window.width, height: window.height))
        }
        return WindowTransformer(plan: ScalePlan(window: window, output: plan.output), filter: filter)
    }
}

/// A transformer that resamples a fixed part of an image.
struct WindowTransformer: ImageTransformer {
    let plan: ScalePlan
    let filter: ResamplingFilter

    var identifier: String {
        let window = plan.window
        return "window(\(window.x):\(window.y):\(window.width):\(window.height),\(plan.output),\(filter.identity))"
    }

    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try context.checkCancellation()
        return try Resampler.resample(
            pixels, window: plan.window, to: plan.output, filter: filter, context: context)
    }
}

extension WindowTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        try gainMap.part(plan.window, of: size, to: plan.output, context: context)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that covers `width` × `height` without enlarging the image, and crops the least interesting
    /// parts of the excess.
    ///
    /// The size of the result is the same as for ``TargetSize/fill(width:height:unit:)``. If no part is more interesting
    /// than others, the center remains. In an animation, the poster frame determines the part of all frames.
    ///
    /// - Parameters:
    ///   - width: The width.
    ///   - height: The height.
    ///   - strategy: The way the interesting part is found. The default is
    ///     ``StandardTransformer/SmartCropStrategy/attention``.
    ///   - unit: The unit of the lengths. The default is pixels.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func smartCrop(
        width: Double, height: Double, strategy: StandardTransformer.SmartCropStrategy = .attention,
        unit: TargetSize.Unit = .pixels, filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        StandardTransformer(
            SmartCropTransformer(width: width, height: height, strategy: strategy, unit: unit, filter: filter))
    }
}
