// SPDX-License-Identifier: MIT

import WebImageCore

/// A tone curve that maps the light of PQ and HLG images to the range of sRGB or of a display with
/// more headroom.
///
/// The curve is the EETF of Report ITU-R BT.2390 (section 5.4), a spline in PQ samples. It preserves shadows and
/// midtones and rolls off highlights. Colors outside of the primaries of the result are first mixed with the gray of the same
/// luminance until no channel is negative. The curve is then applied to the largest of the three channels, so hues are
/// preserved, and no channel exceeds white.
struct HDRToneMapping {
    /// The reference white of BT.2408 in cd/m², which becomes the white of sRGB.
    static let white = 203.0
    /// The peak luminance of the source in cd/m². It's the usual grading peak of HDR images without further
    /// information, and the nominal peak of an HLG display (BT.2100).
    static let peak = 1_000.0

    /// The system gamma of HLG at ``peak`` (BT.2100, table 5) minus 1, because light already contributes one power.
    static let hlgPower = 0.2
    /// The luminance weights of BT.2020.
    static let luminance: (Float, Float, Float) = (0.2627, 0.6780, 0.0593)

    /// Returns the factor for light whose square root is `root`, from 0 to 1, times the square root of ``peak``. The
    /// headroom of the display is a factor of ``white``.
    static func factor(root: Double, headroom: Double = 1) -> Double {
        let light = max(root * root, 1e-9) * peak
        return compressed(light, headroom: headroom) / light
    }

    /// Returns the luminance in cd/m² after the EETF, for `light` up to ``peak``.
    static func compressed(_ light: Double, headroom: Double = 1) -> Double {
        let top = pq(luminance: peak)
        let target = pq(luminance: min(white * headroom, peak)) / top
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

    /// Returns the luminance of a PQ sample in cd/m² (BT.2100, table 4).
    static func luminance(pq: Double) -> Double {
        10_000 * LightCurve.pq.light(pq)
    }

    /// Returns the PQ sample for a luminance in cd/m².
    static func pq(luminance: Double) -> Double {
        LightCurve.pq.encoded(luminance / 10_000)
    }
}
