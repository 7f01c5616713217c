// SPDX-License-Identifier: MIT

import Foundation

/// The relation between the samples of an RGB color space and linear light. 1 is the light of white. For PQ and HLG,
/// see ``HDRToneMapping``.
enum TransferFunction: Hashable {
    /// The transfer function of sRGB (IEC 61966-2-1).
    case sRGB
    /// The inverse of the camera curve of BT.709, BT.601, and BT.2020.
    case bt709
    /// The inverse of the camera curve of SMPTE 240M.
    case smpte240
    /// A power function: the light is the sample raised to this power.
    case gamma(Double)
    /// The perceptual quantizer (SMPTE ST 2084), which is absolute up to 10,000 cd/m².
    case pq
    /// Hybrid log-gamma (ARIB STD-B67), which describes the light of the scene.
    case hlg

    /// Creates the function of a code point (ITU-T H.273, table 3). The unspecified code point means sRGB. The
    /// initializer returns `nil` for unknown and reserved code points.
    init?(codePoint: Int) {
        switch codePoint {
        case 1, 6, 14, 15: self = .bt709
        case 2, 13: self = .sRGB
        case 4: self = .gamma(2.2)
        case 5: self = .gamma(2.8)
        case 7: self = .smpte240
        case 8: self = .gamma(1)
        case 16: self = .pq
        case 17: self = .gamma(2.6)
        case 18: self = .hlg
        default: return nil
        }
    }

    /// The code point that JPEG XL supports, or 0 and the exponent of a power function. The curve of SMPTE 240M becomes
    /// that of BT.709, from which it differs by less than 1%.
    var codePointOrGamma: (codePoint: Int, gamma: Double) {
        switch self {
        case .sRGB: (13, 0)
        case .bt709, .smpte240: (1, 0)
        case .gamma(1): (8, 0)
        case .gamma(let power): (0, power)
        case .pq: (16, 0)
        case .hlg: (18, 0)
        }
    }

    /// Returns the linear light of the sample `v`, which is between 0 and 1.
    func light(_ v: Double) -> Double {
        switch self {
        case .sRGB: v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
        case .bt709: v < 0.081_242_86 ? v / 4.5 : pow((v + 0.099_296_83) / 1.099_296_83, 1 / 0.45)
        case .smpte240: v < 0.0912 ? v / 4 : pow((v + 0.1115) / 1.1115, 1 / 0.45)
        case .gamma(let power): pow(v, power)
        case .pq: HDRToneMapping.luminance(pq: v) / HDRToneMapping.white
        case .hlg: v <= 0.5 ? v * v / 3 : (exp((v - 0.559_910_73) / 0.178_832_77) + 0.284_668_92) / 12
        }
    }

    /// Returns the sRGB sample of linear light. Both are between 0 and 1.
    static func encodeSRGB(_ light: Double) -> Double {
        light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
