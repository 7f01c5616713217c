// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

/// The color information in the chunks before the pixels (PNG third edition, section 11.3.2), except for the profile.
struct PNGColor {
    /// The contents of the chunk `cICP`. In PNG files, only full-range RGB is valid.
    let codePoints: ColorCodePoints?
    private let gamma: Double?
    private let chromaticities: Chromaticities?
    private let isSRGB: Bool

    init(_ found: wi_png_colors) {
        let code = found.code_points
        let isUsable = found.has_code_points != 0 && code.2 == 0 && code.3 == 1
        codePoints = isUsable ? ColorCodePoints(primaries: Int(code.0), transfer: Int(code.1)) : nil
        isSRGB = found.is_srgb != 0
        let value = Double(found.gamma) / 100_000
        // Almost every encoder that writes 1 ÷ 2.2 means the sRGB curve, and the specification describes both as
        // similar.
        gamma = (0.01...10).contains(value) && abs(value * 2.2 - 1) > 0.005 ? value : nil
        let points = found.chromaticities
        chromaticities =
            found.has_chromaticities == 0
            ? nil
            : Chromaticities(
                whiteFirst: [
                    points.0, points.1, points.2, points.3, points.4, points.5, points.6, points.7,
                ].map { Double($0) / 100_000 })
    }

    /// Returns a profile of the color space that `gAMA` and `cHRM` describe, or `nil` if they don't apply or mean sRGB.
    func equivalentProfile(isGray: Bool) -> [UInt8]? {
        guard codePoints == nil, let conversion = conversion(profile: nil, isGray: isGray),
            case .numbers(let primaries, let transfer) = conversion.origin
        else { return nil }
        return StandardColorSpace(primaries: primaries, transfer: transfer).profile
    }

    /// Returns the conversion to sRGB, or `nil` if the pixels stay unchanged. The order of precedence is `cICP`,
    /// `iCCP`, `sRGB`, and then `gAMA` with `cHRM` (section 4.3).
    func conversion(profile: [UInt8]?, isGray: Bool) -> ColorConversion? {
        if let codePoints, Chromaticities(codePoints) != nil, TransferFunction(codePoint: codePoints.transfer) != nil {
            return .from(codePoints)
        }
        if let profile { return .from(profile: profile, model: isGray ? .gray : .rgb) }
        if isSRGB || (gamma == nil && chromaticities == nil) { return nil }
        let transfer = gamma.map { TransferFunction.gamma(1 / $0) } ?? .sRGB
        return .from(isGray ? .sRGB : chromaticities ?? .sRGB, transfer)
    }
}
