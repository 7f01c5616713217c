// SPDX-License-Identifier: MIT

import WebImageCore

extension ColorConversion {
    /// Returns the conversion for an embedded profile, or `nil` if the pixels stay unchanged. Profiles for other color
    /// models are ignored, but an RGB profile is also used for grayscale images. Code points in the profile take precedence
    /// over its curves and tables.
    static func from(profile: [UInt8]?, model: ColorSpaceModel = .rgb) -> ColorConversion? {
        guard let profile, profile.count <= ICCProfile.maxBytes else { return nil }
        if model != .cmyk, let points = ColorCodePoints(iccProfile: profile) { return from(points) }
        let conversion = ColorCache.shared.conversion(.profile(profile)) { ColorConversion(profile: profile) }
        guard let conversion else { return nil }
        switch (model, conversion.source) {
        case (.cmyk, .cmyk), (.rgb, .rgb), (.gray, .gray), (.gray, .rgb): return conversion
        default: return nil
        }
    }

    /// Returns the conversion for code points, or `nil` if the pixels stay unchanged. Unspecified code points mean
    /// sRGB, and unknown code points are ignored.
    static func from(_ codePoints: ColorCodePoints?) -> ColorConversion? {
        guard let codePoints, let primaries = Chromaticities(codePoints),
            let transfer = TransferFunction(codePoint: codePoints.transfer)
        else { return nil }
        return ColorCache.shared.conversion(.codePoints(codePoints)) { ColorConversion(primaries, transfer) }
    }

    /// Returns the conversion for primaries and a transfer function from a file, or `nil` if the pixels stay
    /// unchanged.
    static func from(_ primaries: Chromaticities, _ transfer: TransferFunction) -> ColorConversion? {
        ColorCache.shared.conversion(.numbers(primaries, transfer)) { ColorConversion(primaries, transfer) }
    }
}

/// The color space of decoded pixels, and the conversion of the stored samples to it.
struct DecodedColors {
    let color: ImageColorSpace
    /// The conversion, or `nil` if the samples stay unchanged.
    let conversion: ColorConversion?
    let sourceCurve: LightCurve
    var curve: LightCurve { color == .source ? sourceCurve : .sRGB }

    fileprivate init(_ color: ImageColorSpace, _ conversion: ColorConversion?, of source: ColorConversion?) {
        self.color = color
        self.conversion = conversion
        sourceCurve = source?.sourceCurve ?? .sRGB
    }

    /// Returns the profile for the metadata, which describes the samples of the file. If the file has no embedded
    /// profile, the result is the equivalent one, with the colors that the file describes by other means, unless both
    /// the samples of the file and those of the result are sRGB.
    func describingProfile(_ profile: [UInt8]?, or equivalent: @autoclosure () -> [UInt8]?) -> [UInt8]? {
        guard profile == nil, color == .source || conversion != nil else { return profile }
        return equivalent()
    }
}

extension ImageDecodingOptions {
    /// Returns the color space of the result for a file with a conversion to sRGB. If the conversion is `nil`, the file
    /// is sRGB.
    func colors(_ conversion: ColorConversion?) -> DecodedColors {
        guard keepsGamut, color == .sRGB else {
            return DecodedColors(color, self.conversion(conversion), of: conversion)
        }
        guard let conversion else { return DecodedColors(.sRGB, nil, of: nil) }
        // No pixel format has four inks, and 8 bits aren't enough for PQ and HLG.
        guard conversion.source != .cmyk, !conversion.mapsTones else {
            return DecodedColors(.displayP3, .toDisplayP3(from: conversion), of: conversion)
        }
        // 8 bits aren't enough for linear light, either.
        if conversion.sourceCurve == .linear, !preservesBitDepth {
            guard conversion.clips(to: .sRGB) else { return DecodedColors(.sRGB, conversion, of: conversion) }
            return DecodedColors(.displayP3, .toDisplayP3(from: conversion), of: conversion)
        }
        return DecodedColors(.source, nil, of: conversion)
    }

    /// Excludes color spaces other than sRGB, for containers whose metadata doesn't describe them. The color space of the
    /// source remains if the options request it.
    mutating func requireSRGB() {
        if color == .displayP3 { color = .sRGB }
        keepsGamut = false
    }

    /// Returns the conversion, or `nil` if the request asks for the color space of the file.
    func conversion(_ conversion: @autoclosure () -> ColorConversion?) -> ColorConversion? {
        switch color {
        case .sRGB: conversion()
        case .displayP3: ColorConversion.toDisplayP3(from: conversion())
        case .source: nil
        }
    }
}
