// SPDX-License-Identifier: MIT

import Foundation

/// Brings the light of PQ and HLG pictures into what sRGB can show: the EETF of Report ITU-R BT.2390 (section 5.4),
/// a spline in PQ samples that leaves dark and middle tones as they are and rolls off what is bright, on the largest of
/// the three channels, so that hues stay.
struct ToneCurve {
    /// Reference white of BT.2408 in cd/m²: what becomes sRGB's white.
    static let white = 203.0
    /// Brightest light of the source in cd/m²: what HDR pictures are graded for where nothing else is said, and the
    /// nominal peak of an HLG display (BT.2100).
    static let peak = 1_000.0

    /// The system gamma of HLG at ``peak`` (BT.2100 table 5), less the one power that light has by itself.
    static let hlgPower = 0.2
    /// Weights of luminance in BT.2020.
    static let luminance: (Float, Float, Float) = (0.2627, 0.6780, 0.0593)

    /// By how much light is multiplied whose square root is `root` times that of ``peak``.
    static func factor(root: Double) -> Double {
        let light = max(root * root, 1e-9) * peak
        return compressed(light) / light
    }

    /// cd/m² after the EETF, for `light` up to ``peak``.
    static func compressed(_ light: Double) -> Double {
        let top = pq(luminance: peak)
        let target = pq(luminance: white) / top
        let value = pq(luminance: light) / top
        let knee = 1.5 * target - 0.5
        guard value > knee else { return light }
        let t = (value - knee) / (1 - knee)
        let t2 = t * t
        let t3 = t2 * t
        let spline =
            (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * target
        return luminance(pq: spline * top)
    }

    /// cd/m² of a PQ sample (BT.2100 table 4).
    static func luminance(pq: Double) -> Double {
        let root = pow(max(pq, 0), 1 / 78.84375)
        return 10_000 * pow(max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
    }

    /// The PQ sample of cd/m².
    static func pq(luminance: Double) -> Double {
        let root = pow(max(luminance, 0) / 10_000, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * root) / (1 + 18.6875 * root), 78.84375)
    }
}
