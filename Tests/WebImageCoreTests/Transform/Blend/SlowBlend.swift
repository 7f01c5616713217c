// SPDX-License-Identifier: MIT

import WebImageCore

/// A literal implementation of Compositing and Blending Level 1 (W3C) in double precision.
enum SlowBlend {
    /// Returns the unpremultiplied color of the blend mode. `back` and `front` are in the range 0 to 1.
    static func color(_ mode: ImageBlendMode, _ back: Double, _ front: Double) -> Double {
        switch mode {
        case .normal, .sourceAtop, .sourceIn: return front
        case .multiply: return back * front
        case .screen: return 1 - (1 - back) * (1 - front)
        case .overlay: return color(.hardLight, front, back)
        case .darken: return min(back, front)
        case .lighten: return max(back, front)
        case .colorDodge: return back == 0 ? 0 : front == 1 ? 1 : min(1, back / (1 - front))
        case .colorBurn: return back == 1 ? 1 : front == 0 ? 0 : 1 - min(1, (1 - back) / front)
        case .hardLight:
            return front <= 0.5 ? color(.multiply, back, 2 * front) : color(.screen, back, 2 * front - 1)
        case .softLight:
            if front <= 0.5 { return back - (1 - 2 * front) * back * (1 - back) }
            let d = back <= 0.25 ? ((16 * back - 12) * back + 4) * back : back.squareRoot()
            return back + (2 * front - 1) * (d - back)
        case .difference: return abs(back - front)
        case .exclusion: return back + front - 2 * back * front
        }
    }

    /// Blends premultiplied pixels in the range 0 to 1.
    ///
    /// - Parameter keepsShape: A Boolean value that indicates whether the front is visible only on the back.
    static func pixel(
        _ mode: ImageBlendMode, back: [Double], front: [Double], opacity: Double = 1, keepsShape: Bool = false
    ) -> [Double] {
        let (ab, af) = (back[3], front[3] * opacity)
        if mode == .sourceIn { return front.map { $0 * opacity * ab } }
        let colors = (0..<3).map { channel in
            let cb = ab > 0 ? back[channel] / ab : 0
            let cf = front[3] > 0 ? front[channel] / front[3] : 0
            let mixed = (1 - ab) * cf + ab * color(mode, cb, cf)
            if keepsShape || mode == .sourceAtop { return af * ab * color(mode, cb, cf) + (1 - af) * ab * cb }
            return af * mixed + (1 - af) * ab * cb
        }
        return colors + [keepsShape || mode == .sourceAtop ? ab : af + ab * (1 - af)]
    }
}
