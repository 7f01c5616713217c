// SPDX-License-Identifier: MIT

/// A filter for resized images: a kernel, which determines the weights of source pixels, and the light in which the
/// pixels are averaged.
///
/// The default of the library is Lanczos-3 in linear light. All kernels except ``nearest`` become wider when they reduce
/// an image, so every source pixel contributes to the result.
public struct ResamplingFilter: Sendable, Hashable {
    /// The values of pixels that are averaged when an image is reduced. Enlarged images always use the encoded values,
    /// in which the ringing of a kernel is visible equally on dark and bright edges.
    public enum Light: String, Sendable, Hashable, CaseIterable {
        /// Intensities of light. The values are decoded with the transfer function of the color space, averaged, and
        /// encoded again, so a fine pattern keeps the brightness that it has from a distance.
        case linear
        /// The stored values. Fine patterns become darker, as in most other image libraries.
        case encoded
    }

    package enum Kernel: String, Sendable, Hashable, CaseIterable {
        case nearest
        case box
        case bilinear
        case catmullRom
        case mitchell
        case lanczos3
    }

    package let kernel: Kernel
    /// The values that are averaged when an image is reduced.
    public let light: Light

    package init(_ kernel: Kernel, light: Light = .linear) {
        self.kernel = kernel
        // A copied pixel is the same in any light.
        self.light = kernel == .nearest ? .encoded : light
    }

    /// Lanczos with three lobes in linear light, which is sharp but can cause slight ringing at hard edges.
    public static let lanczos3 = lanczos3(light: .linear)
    /// The exact area average in linear light, which is softer and causes no ringing.
    public static let box = box(light: .linear)
    /// Linear interpolation in linear light, which is soft and causes no ringing.
    public static let bilinear = bilinear(light: .linear)
    /// The cubic kernel of Catmull and Rom in linear light, which is a little softer than Lanczos.
    public static let catmullRom = catmullRom(light: .linear)
    /// The cubic kernel of Mitchell and Netravali in linear light, which causes hardly any ringing.
    public static let mitchell = mitchell(light: .linear)
    /// The nearest source pixel, for pixel art. Its result contains only colors of the source.
    public static let nearest = ResamplingFilter(.nearest)

    /// Returns Lanczos with three lobes, which is sharp but can cause slight ringing at hard edges.
    public static func lanczos3(light: Light) -> ResamplingFilter { ResamplingFilter(.lanczos3, light: light) }
    /// Returns the exact area average, which is softer and causes no ringing.
    public static func box(light: Light) -> ResamplingFilter { ResamplingFilter(.box, light: light) }
    /// Returns linear interpolation, which is soft and causes no ringing.
    public static func bilinear(light: Light) -> ResamplingFilter { ResamplingFilter(.bilinear, light: light) }
    /// Returns the cubic kernel of Catmull and Rom, which is a little softer than Lanczos.
    public static func catmullRom(light: Light) -> ResamplingFilter { ResamplingFilter(.catmullRom, light: light) }
    /// Returns the cubic kernel of Mitchell and Netravali, which causes hardly any ringing.
    public static func mitchell(light: Light) -> ResamplingFilter { ResamplingFilter(.mitchell, light: light) }

    /// A string that identifies the filter in keys of images and transformers.
    package var identity: String { "\(kernel.rawValue):\(light.rawValue)" }

    /// Returns whether this filter averages intensities of light for this change of the size. Images that are neither
    /// reduced nor enlarged but moved by a fraction of a pixel are averaged like reduced ones.
    func usesLinearLight(from window: SampleRect, to output: PixelSize) -> Bool {
        guard light == .linear else { return false }
        let ratios = [window.width / Double(output.width), window.height / Double(output.height)]
        // Windows are computed in floating point, so tolerate an error of a millionth.
        return ratios.contains { $0 > 1 + 1e-6 } || ratios.allSatisfy { $0 > 1 - 1e-6 }
    }
}
