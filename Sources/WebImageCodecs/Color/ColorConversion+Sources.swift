// SPDX-License-Identifier: MIT

import WebImageCore

extension ColorConversion {
    /// Returns the conversion for an embedded profile, or `nil` if the pixels stay unchanged.
    ///
    /// - Parameter model: The color model of the image. Profiles for other models are ignored, but an RGB profile is
    ///   also used for grayscale images.
    static func from(profile: [UInt8]?, model: ColorSpaceModel = .rgb) -> ColorConversion? {
        guard let profile, profile.count <= ICCProfile.maxBytes else { return nil }
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
        guard let codePoints, let primaries = Chromaticities(codePoint: codePoints.primaries),
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

extension ImageDecodingOptions {
    /// Returns the conversion, or `nil` if the request asks for the color space of the file.
    func conversion(_ conversion: @autoclosure () -> ColorConversion?) -> ColorConversion? {
        convertsToSRGB ? conversion() : nil
    }
}
