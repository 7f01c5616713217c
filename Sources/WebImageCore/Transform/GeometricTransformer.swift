// SPDX-License-Identifier: MIT

/// A transformer that moves pixels, crops them, or adds pixels around them, so that it can do the same to a gain map.
protocol GeometricTransformer: ImageTransformer {
    /// Returns the gain map of the transformed image, or `nil` if that image can't have one. The gain map can be
    /// smaller than the image.
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap?
}

extension ImageTransformer {
    /// Whether the transformer only moves or crops pixels, or adds pixels around them. Such transformers apply to
    /// pixels in any color space.
    package var isGeometric: Bool {
        if let composed = self as? ComposedTransformer { return composed.transformers.allSatisfy(\.isGeometric) }
        if let wrapper = self as? any TransformerWrapper { return wrapper.base.isGeometric }
        return self is any GeometricTransformer
    }

    /// Returns the transformed pixels and their gain map. A transformer that changes colors removes the gain map.
    func transform(
        _ pixels: PixelBuffer, _ gainMap: GainMap?, context: ImageProcessingContext
    ) throws(ImageError) -> (pixels: PixelBuffer, gainMap: GainMap?) {
        guard let gainMap else { return (try transform(pixels, context: context), nil) }
        if let composed = self as? ComposedTransformer {
            var result: (pixels: PixelBuffer, gainMap: GainMap?) = (pixels, gainMap)
            for transformer in composed.transformers {
                try context.checkCancellation()
                result = try transformer.transform(result.pixels, result.gainMap, context: context)
            }
            return result
        }
        if let wrapper = self as? any TransformerWrapper {
            return try wrapper.base.transform(pixels, gainMap, context: context)
        }
        if selectsByContent {
            return try fixed(by: pixels, context: context).transform(pixels, gainMap, context: context)
        }
        let result = try transform(pixels, context: context)
        if result === pixels { return (result, gainMap) }
        guard let geometric = self as? any GeometricTransformer else { return (result, nil) }
        return (result, try geometric.transform(gainMap: gainMap, of: pixels.size, context: context))
    }
}

extension GainMap {
    /// The filter for resized maps. Their samples are logarithms and not light, so the stored values are averaged.
    private static let filter = ResamplingFilter.lanczos3(light: .encoded)

    /// Returns the map of a part of the image that's resized to `output`. The map is never enlarged.
    package func part(
        _ window: SampleRect, of size: PixelSize, to output: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap {
        let scaleX = Double(pixels.width) / Double(size.width)
        let scaleY = Double(pixels.height) / Double(size.height)
        var part = SampleRect(
            x: window.x * scaleX, y: window.y * scaleY, width: window.width * scaleX, height: window.height * scaleY)
        part.width = min(part.width, Double(pixels.width) - part.x)
        part.height = min(part.height, Double(pixels.height) - part.y)
        func side(_ length: Double, _ limit: Int) -> Int { max(1, min(Int(length.rounded(.up)), limit)) }
        let fitted = PixelSize(width: side(part.width, output.width), height: side(part.height, output.height))
        return with(
            pixels: try Resampler.resample(pixels, window: part, to: fitted, filter: Self.filter, context: context))
    }

    /// Returns the map after a transformation that needs a map of the size of the image.
    func transformed(
        by transformer: some ImageTransformer, atSizeOf size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap {
        let whole = try Resampler.resample(
            pixels, window: SampleRect(pixels.size), to: size, filter: Self.filter, context: context)
        return with(pixels: try transformer.transform(whole, context: context))
    }

    /// The samples for parts that a transformer adds, which keep their color.
    var neutralColor: PixelColor {
        let sample = metadata.neutralSample
        func byte(_ channel: Int) -> UInt8 { UInt8((sample[channel] * 255).rounded()) }
        return PixelColor(red: byte(0), green: byte(1), blue: byte(2))
    }
}
