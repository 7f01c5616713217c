// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The colors of an encoded file: the color space in its metadata, and the conversion of the pixels to it.
///
/// The rule is that no color is clipped unless the encoding requests it or the format has no color spaces. The pixels
/// keep their color space, and the metadata describes it in the smallest form: with code points, with a compact profile,
/// or with the profile of the source. PQ and HLG are mapped to standard dynamic range if the encoding requests it or the
/// format can't store them.
struct EncodedColors {
    /// The means of a format to describe color spaces.
    enum Support {
        case none
        case profiles
        /// Profiles and the code points of ITU-T H.273.
        case codePoints

        init(_ format: ImageFormat) {
            switch format {
            case .png, .apng, .avif, .heif, .jxl: self = .codePoints
            default: self = format.canDescribeColors ? .profiles : .none
            }
        }
    }

    private(set) var metadata: ImageMetadata
    private(set) var conversion: ColorConversion?

    init(of image: DecodedImage, as encoding: ImageEncoding) {
        metadata = image.metadata
        let support = Support(encoding.formatOrAutomatic)
        let target = support == .none ? .sRGB : encoding.color
        switch (metadata.color, target) {
        case (.sRGB, .displayP3): convert(.toDisplayP3(from: nil), to: .displayP3)
        case (.displayP3, .sRGB): convert(.from(.displayP3), to: .sRGB)
        case (.source, _): describeSource(image, target, encoding)
        default: break
        }
    }

    /// Converts pixels in the color space of the source, or describes them.
    private mutating func describeSource(_ image: DecodedImage, _ target: ImageColorSpace, _ encoding: ImageEncoding) {
        let format = encoding.formatOrAutomatic
        let profile = image.metadata.iccProfile.map { [UInt8]($0) }
        let codeSpace = Self.codeSpace(of: image)
        let fromSource = codeSpace.map { .from($0.primaries, $0.transfer) } ?? Self.conversion(of: profile)
        guard let fromSource else { return set(.sRGB) }
        switch target {
        case .sRGB: return convert(fromSource, to: .sRGB)
        case .displayP3: return convert(.toDisplayP3(from: fromSource), to: .displayP3)
        case .source: break
        }
        if let codeSpace { return describe(codeSpace, fromSource, encoding) }
        guard let profile else { return }
        if fromSource.source == .gray {
            // Only these encoders write gray samples, which gray profiles require.
            let keepsGray = (format == .jpeg || format == .png) && image.pixels.isGray()
            return keepsGray ? set(.source, profile: profile) : convert(fromSource, to: .sRGB)
        }
        guard let space = StandardColorSpace(matching: profile) else { return set(.source, profile: profile) }
        space == .displayP3 ? set(.displayP3) : set(.source, profile: space.profile ?? profile)
    }

    /// Returns the color space that the code points of the source describe, or `nil` if the profile or nothing does.
    private static func codeSpace(of image: DecodedImage) -> StandardColorSpace? {
        // In PNG and JPEG XL, code points take precedence over profiles. Those in a profile always do.
        let prefersCodePoints = image.format.map { [.png, .apng, .jxl].contains($0) } ?? false
        let profile = image.metadata.iccProfile.map { [UInt8]($0) }
        let usesCodePoints = profile.map { prefersCodePoints || ColorCodePoints(iccProfile: $0) != nil } ?? true
        return usesCodePoints ? StandardColorSpace(image.metadata.sourceCodePoints) : nil
    }

    private mutating func describe(
        _ space: StandardColorSpace, _ fromSource: ColorConversion, _ encoding: ImageEncoding
    ) {
        let format = encoding.formatOrAutomatic
        if space == .displayP3 { return set(.displayP3) }
        // The HEIF encoder has only 8 bits per sample, which aren't enough for PQ and HLG.
        let keepsTones = format != .heif && encoding.preservesDynamicRange
        if Support(format) == .codePoints, keepsTones || !fromSource.mapsTones {
            return set(.source, codePoints: metadata.codePoints?.specified)
        }
        guard let profile = space.profile else {
            return convert(.toDisplayP3(from: fromSource), to: .displayP3)
        }
        set(.source, profile: profile)
    }

    private static func conversion(of profile: [UInt8]?) -> ColorConversion? {
        if let conversion = ColorConversion.from(profile: profile, model: .rgb) { return conversion }
        let conversion = ColorConversion.from(profile: profile, model: .gray)
        return conversion?.source == .gray ? conversion : nil
    }

    private mutating func convert(_ conversion: ColorConversion?, to color: ImageColorSpace) {
        self.conversion = conversion
        set(color)
    }

    private mutating func set(_ color: ImageColorSpace, profile: [UInt8]? = nil, codePoints: ColorCodePoints? = nil) {
        metadata.color = color
        metadata.fileCodePoints = codePoints
        metadata.iccProfile = profile.map { Data($0) }
        metadata.colorPrimaries = codePoints?.primaries
        metadata.transferCharacteristics = codePoints?.transfer
    }
}

extension ColorCodePoints {
    /// The same color space without unspecified and unknown numbers. Other decoders can interpret such numbers
    /// differently, for example as sRGB.
    fileprivate var specified: ColorCodePoints {
        var result = self
        if primaries == 2 {
            result.primaries = ColorCodePoints.sRGB.primaries
        } else if isHDR, Chromaticities(codePoint: primaries) == nil {
            result.primaries = HDRPixels.Primaries.bt2020.rawValue
        }
        if transfer == 2 { result.transfer = ColorCodePoints.sRGB.transfer }
        return result
    }
}

extension EncodedColors {
    /// Returns the color space to which decoding and encoding clip the colors of the source, although the encoding doesn't
    /// request it. The result is `nil` if no color space of the source is clipped.
    ///
    /// The result depends on the color space of the source, not on its pixels: A gray photograph in Display P3 counts as
    /// clipped in a format for sRGB.
    static func clippedSpace(of image: DecodedImage, as encoding: ImageEncoding) -> ColorConversion.Target? {
        let spaces = [image.metadata.color, EncodedColors(of: image, as: encoding).metadata.color]
        let target: ColorConversion.Target
        if spaces.contains(.sRGB) {
            target = .sRGB
        } else if spaces.contains(.displayP3) {
            target = .displayP3
        } else {
            return nil
        }
        switch (encoding.color, target) {
        case (.sRGB, _), (.displayP3, .displayP3): return nil
        default: break
        }
        let profile = image.metadata.iccProfile.map { [UInt8]($0) }
        let conversion =
            codeSpace(of: image).map { .from($0.primaries, $0.transfer) }
            ?? Self.conversion(of: profile) ?? .from(profile: profile, model: .cmyk)
        return conversion?.clips(to: target) ?? false ? target : nil
    }
}

extension DecodedImage {
    /// Returns the color space to which a file of the encoding clips the colors of the source, although the encoding doesn't
    /// request it, or `nil` if the file keeps the gamut. The decoder may have clipped the pixels already.
    package func clippedColorSpace(as encoding: ImageEncoding) -> ImageColorSpace? {
        switch EncodedColors.clippedSpace(of: self, as: encoding) {
        case .sRGB: .sRGB
        case .displayP3: .displayP3
        case nil: nil
        }
    }

    /// Returns the image in a color space that the encoding requests and that its format can describe. The frames of an
    /// animation are converted on demand.
    func withEncodableColors(
        as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        let colors = EncodedColors(of: self, as: encoding)
        guard let conversion = colors.conversion else {
            return colors.metadata == metadata ? self : with(metadata: colors.metadata)
        }
        let transformer = ColorTransformer(conversion: conversion)
        return replacing(
            pixels: try transformer.transform(pixels, context: context),
            animation: animation?.transformed(by: transformer, context: context),
            // A gain map for samples of PQ or HLG doesn't apply to pixels with mapped tones.
            gainMap: conversion.mapsTones ? nil : gainMap
        ).with(metadata: colors.metadata)
    }
}

/// A conversion of the frames of an animation.
private struct ColorTransformer: ImageTransformer {
    let conversion: ColorConversion

    /// The encoder uses the transformer only for one encode, so no key contains the identifier.
    var identifier: String { "color" }

    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try conversion.converted(pixels, context: context)
    }
}
