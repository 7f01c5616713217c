// SPDX-License-Identifier: MIT

/// Variants whose parameters have package types. The command-line tool uses them because it parses all choices.
extension ImageTransformer where Self == StandardTransformer {
    @_disfavoredOverload
    package static func resize(
        _ target: TargetSize, upscales: Bool, filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        StandardTransformer(ResizeTransformer(to: target, upscales: upscales, filter: filter))
    }

    @_disfavoredOverload
    package static func resize(
        width: Double? = nil, height: Double? = nil, mode: TargetSize.Mode = .fit, unit: TargetSize.Unit = .pixels,
        upscales: Bool = false, filter: ResamplingFilter = .lanczos3
    ) -> StandardTransformer {
        var target = TargetSize.fit(width: width, height: height, unit: unit)
        target.mode = mode
        return StandardTransformer(ResizeTransformer(to: target, upscales: upscales, filter: filter))
    }

    @_disfavoredOverload
    package static func crop(_ rect: PixelRect) -> StandardTransformer {
        .crop(x: Double(rect.x), y: Double(rect.y), width: Double(rect.width), height: Double(rect.height))
    }

    @_disfavoredOverload
    package static func roundedCorners(
        radius: Double, corners: StandardTransformer.Corners = .all, border: RoundedCornersTransformer.Border?,
        unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(RoundedCornersTransformer(radius: radius, corners: corners, border: border, unit: unit))
    }

    @_disfavoredOverload
    package static func roundedCorners(
        radiusFraction: Double, corners: StandardTransformer.Corners = .all, border: RoundedCornersTransformer.Border?,
        unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            RoundedCornersTransformer(.fraction(radiusFraction), corners: corners, border: border, unit: unit))
    }

    @_disfavoredOverload
    package static func circle(
        border: RoundedCornersTransformer.Border?, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(CircleTransformer(border: border, unit: unit))
    }

    @_disfavoredOverload
    package static func border(
        width: Double, color: PixelColor, placement: BorderTransformer.Placement, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(BorderTransformer(width: width, color: color, placement: placement, unit: unit))
    }

    @_disfavoredOverload
    package static func flip(_ direction: FlipTransformer.Direction) -> StandardTransformer {
        StandardTransformer(FlipTransformer(direction))
    }

    @_disfavoredOverload
    package static func rotate(
        degrees: Double, mode: RotateTransformer.Mode, background: PixelColor = .clear
    ) -> StandardTransformer {
        StandardTransformer(RotateTransformer(degrees: degrees, mode: mode, background: background))
    }

    @_disfavoredOverload
    package static func pad(
        _ edges: PadTransformer.Edges, color: PixelColor = .clear, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(PadTransformer(edges, color: color, unit: unit))
    }

    @_disfavoredOverload
    package static func blur(
        radius: Double, saturation: Double = 1, tint: PixelColor? = nil, mask: PixelMask,
        unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            BlurTransformer(radius: radius, saturation: saturation, tint: tint, mask: mask, unit: unit))
    }

    /// Returns a transformer that applies a blur style of YYWebImage.
    @_disfavoredOverload
    package static func blur(_ style: BlurTransformer.Style, mask: PixelMask? = nil) -> StandardTransformer {
        StandardTransformer(BlurTransformer(style, mask: mask))
    }

    @_disfavoredOverload
    package static func overlay(
        _ overlay: PixelBuffer, at placement: OverlayTransformer.Placement, opacity: Double = 1,
        blendMode: ImageBlendMode = .normal, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            OverlayTransformer(overlay, at: placement, opacity: opacity, mode: blendMode, unit: unit))
    }

    @_disfavoredOverload
    package static func mask(_ pixels: PixelBuffer, channel: PixelMask.Channel) -> StandardTransformer {
        StandardTransformer(MaskTransformer(PixelMask(pixels, channel: channel)))
    }

    @_disfavoredOverload
    package static func combined(_ transformers: any ImageTransformer...) -> StandardTransformer {
        StandardTransformer(ComposedTransformer(transformers))
    }
}
