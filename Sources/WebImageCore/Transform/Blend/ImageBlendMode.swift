// SPDX-License-Identifier: MIT

import CPixelKernels

/// A mode for drawing a color or an image (the source) over another image (the backdrop).
///
/// The modes are the separable blend modes of Compositing and Blending Level 1 (W3C), section 10.1, and two operators
/// of section 9.1.
public enum ImageBlendMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// The source covers the backdrop.
    case normal
    /// The product of both. The result is never lighter.
    case multiply
    /// The inverted product of the inverted colors. The result is never darker.
    case screen
    /// Hard light with the source and the backdrop swapped.
    case overlay
    /// The darker of both.
    case darken
    /// The lighter of both.
    case lighten
    /// The backdrop, lightened by the source.
    case colorDodge
    /// The backdrop, darkened by the source.
    case colorBurn
    /// Multiply or screen, depending on the source.
    case hardLight
    /// A softer variant of hard light.
    case softLight
    /// The absolute difference between both.
    case difference
    /// A difference with less contrast.
    case exclusion
    /// The source over the backdrop, limited to the shape of the backdrop.
    case sourceAtop
    /// The source instead of the backdrop, in the shape of the backdrop.
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

    var compositingOperator: wi_blend_place {
        switch self {
        case .sourceIn: wi_blend_in
        case .sourceAtop: wi_blend_atop
        default: wi_blend_over
        }
    }
}

/// A function that blends rows, with its parameters.
struct RowBlender {
    let format: PixelFormat
    let opacity: Float
    let mode: wi_blend_mode
    let compositingOperator: wi_blend_place

    /// Blends a row. The pointers `to` and `back` may be equal, and `coverage` has one value per pixel.
    func draw(
        _ front: UnsafeRawPointer, on back: UnsafeRawPointer, to: UnsafeMutableRawPointer, coverage: [Float],
        count: Int
    ) {
        format.kernels.blend(back, front, to, coverage, opacity, mode, compositingOperator, count)
    }
}
