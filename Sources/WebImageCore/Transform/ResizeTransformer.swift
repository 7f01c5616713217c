// SPDX-License-Identifier: MIT

/// Makes a picture fit into, cover or take exactly a size.
public struct ResizeTransformer: ImageTransformer, Hashable {
    /// The wanted size.
    public let target: TargetSize
    /// Whether pictures smaller than the target are enlarged.
    public let upscales: Bool
    /// How source pixels are weighed.
    public let filter: Resampler.Filter

    /// Creates a transformer; `upscales` is false and `filter` Lanczos-3 by default.
    public init(to target: TargetSize, upscales: Bool = false, filter: Resampler.Filter = .lanczos3) {
        self.target = target
        self.upscales = upscales
        self.filter = filter
    }

    /// Name and all parameters.
    public var identity: String { "resize(\(target.identity),\(upscales),\(filter))" }

    /// Resizes. A picture that is as wanted already is returned as it is.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for lengths that are NaN,
    ///   infinite, zero or negative, a ``LimitError`` for a result that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let plan = try plan(for: pixels.size, scale: context.scale)
        return try Resampler.resample(
            pixels, window: plan.window, to: plan.output, filter: filter, context: context.coding)
    }

    private func plan(for size: PixelSize, scale: Double) throws(ImageError) -> ScalePlan {
        let check = ParameterCheck(transformer: "resize")
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
        // A picture and a target of extreme shapes ask for sides that no limit allows, but that Int must hold.
        let longest = Double(max(size.width, size.height)) * ratio
        guard longest <= 1_073_741_824 else { throw check.invalid("size", "\(longest)") }
        return enlarging(size, ratio: ratio, width: width, height: height)
    }

    /// How much larger the picture becomes; nil where the target's own plan is right because nothing grows.
    private func ratio(_ width: Double?, _ height: Double?, for size: PixelSize) -> Double? {
        let ratios = [
            width.map { $0 / Double(size.width) }, height.map { $0 / Double(size.height) },
        ].compactMap(\.self)
        guard let least = ratios.min(), let greatest = ratios.max() else { return nil }
        return switch target.mode {
        case .fit: least > 1 ? least : nil
        case .fill, .stretch: greatest > 1 ? greatest : nil
        case .exactly, .bytes: nil
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
        case .fit, .exactly, .bytes:
            return ScalePlan(
                window: SampleRect(size),
                output: PixelSize(width: pixels(ownWidth * ratio), height: pixels(ownHeight * ratio)))
        }
    }
}

extension ImageTransformer where Self == ResizeTransformer {
    /// Resizes to `target`. Enlarges only where `upscales` is true or the target's mode is
    /// ``TargetSize/Mode/exactly``.
    public static func resize(
        _ target: TargetSize, upscales: Bool = false, filter: Resampler.Filter = .lanczos3
    ) -> Self {
        ResizeTransformer(to: target, upscales: upscales, filter: filter)
    }

    /// Resizes to `width` × `height` pixels (or points); a side left out follows from the aspect ratio.
    ///
    /// - Parameters:
    ///   - mode: fit (the default), fill, stretch or exactly.
    ///   - unit: what the lengths mean. Default pixels.
    ///   - upscales: whether smaller pictures are enlarged. Default false.
    ///   - filter: how source pixels are weighed. Default Lanczos-3.
    public static func resize(
        width: Double? = nil, height: Double? = nil, mode: TargetSize.Mode = .fit, unit: TargetSize.Unit = .pixels,
        upscales: Bool = false, filter: Resampler.Filter = .lanczos3
    ) -> Self {
        var target = TargetSize.fit(width: width, height: height, unit: unit)
        target.mode = mode
        return ResizeTransformer(to: target, upscales: upscales, filter: filter)
    }
}
