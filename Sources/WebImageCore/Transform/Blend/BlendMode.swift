// SPDX-License-Identifier: MIT

import CPixelKernels

/// How a colour or a picture is drawn on another: the separable modes of Compositing and Blending Level 1 (W3C),
/// section 10.1, and two operators of section 9.1.
public enum BlendMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// The front covers.
    case normal
    /// Product: never lighter.
    case multiply
    /// Product of the opposites: never darker.
    case screen
    /// Hard light with front and back exchanged.
    case overlay
    /// The darker of the two.
    case darken
    /// The lighter of the two.
    case lighten
    /// Lightens the back by the front.
    case colorDodge
    /// Darkens the back by the front.
    case colorBurn
    /// Multiply or screen, by the front.
    case hardLight
    /// A gentle hard light.
    case softLight
    /// The distance of the two.
    case difference
    /// Difference with less contrast.
    case exclusion
    /// The front covers where there is a back; the back's shape stays.
    case sourceAtop
    /// The front replaces the back in the back's shape.
    case sourceIn

    var kernel: wi_blend_mode {
        switch self {
        case .normal, .sourceAtop, .sourceIn: wi_blend_normal
        case .multiply: wi_blend_multiply
        case .screen: wi_blend_screen
        case .overlay: wi_blend_overlay
        case .darken: wi_blend_darken
        case .lighten: wi_blend_lighten
        case .colorDodge: wi_blend_color_dodge
        case .colorBurn: wi_blend_color_burn
        case .hardLight: wi_blend_hard_light
        case .softLight: wi_blend_soft_light
        case .difference: wi_blend_difference
        case .exclusion: wi_blend_exclusion
        }
    }

    /// Where the front is seen when nothing else is said.
    var place: wi_blend_place {
        switch self {
        case .sourceIn: wi_blend_in
        case .sourceAtop: wi_blend_atop
        default: wi_blend_over
        }
    }
}

/// Draws rows on rows.
struct RowBlend {
    let format: PixelFormat
    let opacity: Float
    let mode: wi_blend_mode
    let place: wi_blend_place

    /// `to` may be `back`. `coverage` holds one value a pixel.
    func draw(
        _ front: UnsafeRawPointer, on back: UnsafeRawPointer, to: UnsafeMutableRawPointer, coverage: [Float],
        count: Int
    ) {
        switch format {
        case .rgba8:
            wi_blend_rgba8(back.samples8, front.samples8, to.samples8, coverage, opacity, mode, place, count)
        case .rgba16:
            wi_blend_rgba16(back.samples16, front.samples16, to.samples16, coverage, opacity, mode, place, count)
        }
    }
}
