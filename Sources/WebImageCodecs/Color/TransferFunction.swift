// SPDX-License-Identifier: MIT

import Foundation

/// How the samples of an RGB space mean light. 1 is the light of white; for PQ and HLG see ``ToneCurve``.
enum TransferFunction: Hashable {
    /// IEC 61966-2-1.
    case sRGB
    /// The inverse of the camera curve of BT.709, BT.601 and BT.2020.
    case bt709
    /// SMPTE 240M, also the inverse of a camera curve.
    case smpte240
    /// light = sample to this power.
    case gamma(Double)
    /// SMPTE ST 2084, perceptual quantizer: absolute, up to 10,000 cd/m².
    case pq
    /// ARIB STD-B67, hybrid log-gamma: light of the scene.
    case hlg

    /// The function of a code point (ITU-T H.273 table 3); unspecified is sRGB. Nil for those that are unknown or
    /// reserved.
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

    /// Light of the sample `v` (0...1).
    func light(_ v: Double) -> Double {
        switch self {
        case .sRGB: v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
        case .bt709: v < 0.081_242_86 ? v / 4.5 : pow((v + 0.099_296_83) / 1.099_296_83, 1 / 0.45)
        case .smpte240: v < 0.0912 ? v / 4 : pow((v + 0.1115) / 1.1115, 1 / 0.45)
        case .gamma(let power): pow(v, power)
        case .pq: ToneCurve.luminance(pq: v) / ToneCurve.white
        case .hlg: v <= 0.5 ? v * v / 3 : (exp((v - 0.559_910_73) / 0.178_832_77) + 0.284_668_92) / 12
        }
    }

    /// The sRGB sample (0...1) of light.
    static func encodeSRGB(_ light: Double) -> Double {
        light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
