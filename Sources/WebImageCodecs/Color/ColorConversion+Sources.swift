// SPDX-License-Identifier: MIT

import WebImageCore

extension ColorConversion {
    /// The conversion for an embedded profile; nil where pixels stay as they are.
    ///
    /// - Parameter model: what the pictures's samples are. A profile for others is ignored; one for RGB also serves
    ///   grey pictures.
    static func from(profile: [UInt8]?, model: ColorSpaceModel = .rgb) -> ColorConversion? {
        guard let profile, profile.count <= ICCProfile.maxBytes else { return nil }
        let conversion = ColorCache.shared.conversion(.profile(profile)) { ColorConversion(profile: profile) }
        guard let conversion else { return nil }
        switch (model, conversion.source) {
        case (.cmyk, .cmyk), (.rgb, .rgb), (.gray, .gray), (.gray, .rgb): return conversion
        default: return nil
        }
    }

    /// The conversion for code points; nil where pixels stay as they are. What is unspecified is sRGB; code points that
    /// are unknown are ignored.
    static func from(_ codePoints: ColorCodePoints?) -> ColorConversion? {
        guard let codePoints, let primaries = Chromaticities(codePoint: codePoints.primaries),
            let transfer = TransferFunction(codePoint: codePoints.transfer)
        else { return nil }
        return ColorCache.shared.conversion(.codePoints(codePoints)) { ColorConversion(primaries, transfer) }
    }

    /// The conversion for primaries and a transfer function of a file's own; nil where pixels stay as they are.
    static func from(_ primaries: Chromaticities, _ transfer: TransferFunction) -> ColorConversion? {
        ColorCache.shared.conversion(.numbers(primaries, transfer)) { ColorConversion(primaries, transfer) }
    }
}

extension DecodeOptions {
    /// The conversion, unless the file's own colours are wanted.
    func conversion(_ conversion: @autoclosure () -> ColorConversion?) -> ColorConversion? {
        color == .sRGB ? conversion() : nil
    }
}
