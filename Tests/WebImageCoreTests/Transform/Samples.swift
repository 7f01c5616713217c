// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

/// Every transformer with several variants of its parameters.
enum Samples {
    struct Named: Sendable, CustomTestStringConvertible {
        let transformer: any ImageTransformer
        var testDescription: String { transformer.identifier }
    }

    /// The transformers that don't depend on another image.
    private static var plain: [any ImageTransformer] {
        let red = PixelColor(red: 255, green: 0, blue: 0)
        let glass = PixelColor(red: 0, green: 90, blue: 255, alpha: 100)
        return [
            .resize(width: 9), .crop(width: 5, height: 4), .roundedCorners(radius: 4),
            .circle, .circle(border: .init(width: 1.5, color: red)), .circle(border: .init(width: 1.5, color: glass)),
            .circle(border: .init(width: 1.5, color: red), unit: .points),
            .border(width: 2, color: red), .border(width: 2, color: red, placement: .outside),
            .border(width: 2, color: glass), .border(width: 2, color: red, unit: .points),
            .flip(.horizontal), .flip(.vertical), .flip(.both),
            .rotate(degrees: 90), .rotate(degrees: 180), .rotate(degrees: 270), .rotate(degrees: 15),
            .rotate(degrees: -15), .rotate(degrees: 15, mode: .clip), .rotate(degrees: 15, background: red),
            .rotate(degrees: 90, mode: .clip),
            .pad(3), .pad(3, color: red), .pad(.init(top: 1)), .pad(.init(leading: 1)), .pad(.init(bottom: 1)),
            .pad(.init(trailing: 1)), .inset(2), .pad(3, unit: .points),
            .blur(radius: 3), .blur(radius: 3.5), .blur(radius: 3, saturation: 0), .blur(radius: 3, tint: glass),
            .blur(radius: 3, unit: .points), .blur(.soft), .blur(.light), .blur(.extraLight), .blur(.dark),
            .blur(.tinted(red)), .sharpen(), .sharpen(amount: 2), .sharpen(radius: 3), .sharpen(threshold: 0.1),
            .sharpen(unit: .points),
            .saturation(0.5), .brightness(0.5), .contrast(0.5), .grayscale(0.5), .sepia(0.5), .invert(0.5),
            .hueRotation(degrees: 30), .hueRotation(degrees: -30), .colorMatrix(.sepia(0.5)),
            .colorMatrix(ColorMatrix(alpha: .init(red: 1))),
            .vignette(), .vignette(strength: 0.5), .vignette(start: 0.5), .vignette(color: red),
            .combined(), .combined(.flip(.both)), .combined(.flip(.both), .sharpen()),
            .combined(.combined(.flip(.both)), .sharpen()), .custom(id: "same") { pixels, _ in pixels },
        ]
            + ImageBlendMode.allCases.flatMap { mode -> [any ImageTransformer] in
                [.tint(glass, blendMode: mode), .tint(red, blendMode: mode)]
            }
    }

    /// The transformers that place or select parts of an image, and those with parameters relative to other values.
    private static var placed: [any ImageTransformer] {
        let red = PixelColor(red: 255, green: 0, blue: 0)
        let glass = PixelColor(red: 0, green: 90, blue: 255, alpha: 100)
        return [
            .roundedCorners(radiusFraction: 0.25), .roundedCorners(radiusFraction: 1),
            .roundedCorners(radiusFraction: 0.25, border: .init(width: 1.5, color: red)),
            .canvas(width: 20, height: 9), .canvas(width: 20, height: 9, mode: .fill),
            .canvas(width: 20, height: 9, mode: .stretch), .canvas(width: 20, height: 9, mode: .original),
            .canvas(width: 20, height: 9, anchor: .bottomTrailing), .canvas(width: 20, height: 9, background: red),
            .canvas(width: 20, height: 9, background: glass), .canvas(width: 20, height: 9, upscales: true),
            .canvas(width: 20, height: 9, mode: .fill, upscales: true), .canvas(width: 20, height: 9, unit: .points),
            .trim(), .trim(tolerance: 0.5), .trim(color: red), .smartCrop(width: 9, height: 5),
            .smartCrop(width: 5, height: 9), .smartCrop(width: 9, height: 5, strategy: .entropy),
            .smartCrop(width: 9, height: 5, unit: .points),
            .blur(radius: 3, tint: glass, tintBlendMode: .multiply),
            .blur(radius: 3, tint: red, tintBlendMode: .screen),
            .blur(radius: 3, tint: glass, tintBlendMode: .sourceIn),
        ]
    }

    /// The transformers that depend on another image.
    private static func pictured() throws -> [any ImageTransformer] {
        let badge = try PixelMaking.noise(7, 5, opaque: false, seed: 40)
        let other = try PixelMaking.noise(7, 5, opaque: false, seed: 41)
        let placements: [OverlayTransformer.Placement] = [
            .at(x: -2, y: 3), .at(x: 2.5, y: 3), .anchored(.bottomTrailing), .anchored(.bottomTrailing, margin: 2),
            .anchored(.top), .stretched,
        ]
        return placements.map { .overlay(badge, at: $0) }
            + ImageBlendMode.allCases.dropFirst().map { .overlay(badge, at: .stretched, blendMode: $0) }
            + [
                .overlay(other, at: .stretched), .overlay(badge, at: .stretched, opacity: 0.5),
                .overlay(badge, at: .at(x: -2, y: 3), unit: .points),
                .mask(badge), .mask(other), .mask(badge, channel: .luminance),
                .blur(radius: 3, mask: PixelMask(badge)), .blur(radius: 3, mask: PixelMask(badge, channel: .luminance)),
            ]
    }

    static let all: [Named] = (plain + placed + ((try? pictured()) ?? [])).map(Named.init)
}
