// SPDX-License-Identifier: MIT

import Glibc

/// The relation between encoded samples and the light of a display, for averages of light. Both are from 0 to 1.
///
/// The resampler distinguishes the curves with different averages. Curves of power functions near 2.2 and of BT.709
/// resemble ``sRGB``.
package enum LightCurve: UInt8, Sendable, Hashable, CaseIterable {
    /// The curve of sRGB (IEC 61966-2-1).
    case sRGB
    /// Samples that are proportional to light.
    case linear
    /// A power function with the exponent 1.8, as in ProPhoto RGB.
    case gamma18
    /// The perceptual quantizer (SMPTE ST 2084). The light 1 is 10,000 cd/m².
    case pq
    /// Hybrid log-gamma (ARIB STD-B67) with the system gamma 1.2 of a display with 1,000 cd/m², by channel. The light 1
    /// is the peak of the display.
    case hlg

    /// The curve with the light `light` of the sample 0.5.
    package init(middle light: Double) {
        // The middle of power functions with the exponents 2 and 1.4.
        self = light < 0.25 ? .sRGB : light < 0.379 ? .gamma18 : .linear
    }

    /// The exponent from the light of the scene to that of a display (BT.2100, table 5).
    private static let hlgGamma = 1.2

    /// Returns the light of a sample.
    package func light(_ value: Double) -> Double {
        switch self {
        case .sRGB: return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        case .linear: return value
        case .gamma18: return pow(value, 1.8)
        case .pq:
            let root = pow(max(value, 0), 1 / 78.84375)
            return pow(max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
        case .hlg:
            let scene =
                value <= 0.5 ? value * value / 3 : (exp((value - 0.559_910_73) / 0.178_832_77) + 0.284_668_92) / 12
            return pow(scene, Self.hlgGamma)
        }
    }

    /// Returns the sample for light.
    package func encoded(_ light: Double) -> Double {
        switch self {
        case .sRGB: return light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        case .linear: return light
        case .gamma18: return pow(light, 1 / 1.8)
        case .pq:
            let root = pow(max(light, 0), 0.1593017578125)
            return pow((0.8359375 + 18.8515625 * root) / (1 + 18.6875 * root), 78.84375)
        case .hlg:
            let scene = pow(light, 1 / Self.hlgGamma)
            return scene <= 1.0 / 12 ? sqrt(3 * scene) : 0.178_832_77 * log(12 * scene - 0.284_668_92) + 0.559_910_73
        }
    }

    /// The number of square roots after which light is so evenly distributed that linear interpolation in a table of
    /// samples is exact.
    var roots: Int {
        switch self {
        case .sRGB, .linear, .gamma18: 1
        case .hlg: 2
        case .pq: 3
        }
    }
}
