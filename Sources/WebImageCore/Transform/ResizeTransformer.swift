// SPDX-License-Identifier: MIT

/// A transformer that resizes an image.
package struct ResizeTransformer: ImageTransformer, Hashable {
    /// The requested size.
    package let target: TargetSize
    /// Whether images smaller than the target are enlarged.
    package let upscales: Bool
    /// The kernel and the light.
    package let filter: ResamplingFilter

    /// Creates a transformer. By default, `upscales` is `false` and the filter is Lanczos-3 in linear light.
    package init(to target: TargetSize, upscales: Bool = false, filter: ResamplingFilter = .lanczos3) {
        self.target = target
        self.upscales = upscales
        self.filter = filter
    }

    /// The name and all parameters of the transformer.
    package var identifier: String { "resize(\(target.identity),\(upscales),\(filter.identity))" }

    /// Resizes an image. If the image already has the requested size, this method returns it unchanged.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a length is NaN,
    ///   infinite, zero, or negative, or an ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let plan = try plan(for: pixels.size, scale: context.scale)
        return try Resampler.resample(
            pixels, window: plan.window, to: plan.output, filter: filter, context: context)
    }

    private func plan(for size: PixelSize, scale: Double) throws(ImageError) -> ScalePlan {
        let check = ParameterValidator(transformer: "resize")
        let factor = target.unit == .points ? scale : 1
        var width: Double?
        var height: Double?
        if let wanted = target.width { width = try check.length(wanted, "width", times: factor) }
        if let wanted = target.height { height = try check.length(wanted, "height", times: factor) }
        if target.mode == .bytes, target.byteLimit ?? 0 <= 0 {
            throw check.invalid("bytes", "\(target.byteLimit ?? 0)")
        }
        guard upscales, let ratio = ratio(width, height, for: size) else {
            return try target.plan(for: size, scale: scale)
        }
        // For extreme aspect ratios, the sides can exceed every limit. Make sure that they fit into Int.
        let longest = Double(max(size.width, size.height)) * ratio
        guard longest <= 1_073_741_824 else { throw check.invalid("size", "\(longest)") }
        return enlarging(size, ratio: ratio, width: width, height: height)
    }

    /// Returns the scale factor, or `nil` if the target's own plan applies because the image isn't enlarged.
    private func ratio(_ width: Double?, _ height: Double?, for size: PixelSize) -> Double? {
        let ratios = [
            width.map { $0 / Double(size.width) }, height.map { $0 / Double(size.height) },
        ].compactMap(\.self)
        guard let least = ratios.min(), let greatest = ratios.max() else { return nil }
        return switch target.mode {
        case .fit: least > 1 ? least : nil
        case .fill, .stretch: greatest > 1 ? greatest : nil
        case .exactly, .scaled, .bytes: nil
        }
    }

    private func enlarging(_ size: PixelSize, ratio: Double, width: Double?, height: Double?) -> ScalePlan {
        let (ownWidth, ownHeight) = (Double(size.width), Double(size.height))
        func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
        switch target.mode {
        case .fill:
            let windowWidth = min(ownWidth, (width ?? ownWidth * ratio) / ratio)
            let windowHeight = min(ownHeight, (height ?? ownHeight * ratio) / ratio)
            let window = SampleRect(
                x: (ownWidth - windowWidth) / 2, y: (ownHeight - windowHeight) / 2, width: windowWidth,
                height: windowHeight)
            return ScalePlan(
                window: window,
                output: PixelSize(width: pixels(windowWidth * ratio), height: pixels(windowHeight * ratio)))
        case .stretch:
            return ScalePlan(
                window: SampleRect(size),
                output: PixelSize(width: pixels(width ?? ownWidth), height: pixels(height ?? ownHeight)))
        case .fit, .exactly, .scaled, .bytes:
            return ScalePlan(
                window: SampleRect(size),
                output: PixelSize(width: pixels(ownWidth * ratio), height: pixels(ownHeight * ratio)))
        }
    }
}

extension ResizeTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        let plan = try plan(for: size, scale: context.scale)
        return try gainMap.part(plan.window, of: size, to: plan.output, context: context)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that resizes to a target size. Only ``TargetSize/exact(width:height:unit:)`` enlarges
    /// images.
    ///
    /// - Parameters:
    ///   - size: The target size.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func resize(_ size: TargetSize, filter: ResamplingFilter = .lanczos3) -> StandardTransformer {
        StandardTransformer(ResizeTransformer(to: size, filter: filter))
    }

    /// Returns a transformer that fits the image into `width` × `height`. The aspect ratio determines an omitted side.
    ///
    /// - Parameters:
    ///   - width: The maximum width. The default is `nil`, which sets no limit.
    ///   - height: The maximum height. The default is `nil`, which sets no limit.
    ///   - unit: The unit of the lengths. The default is pixels.
    ///   - upscales: Whether smaller images are enlarged. The default is `false`.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    public static func resize(
        width: Double? = nil, height: Double? = nil, unit: TargetSize.Unit = .pixels, upscales: Bool = false,
        filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        StandardTransformer(
            ResizeTransformer(
                to: .fit(width: width, height: height, unit: unit), upscales: upscales, filter: filter))
    }
}
