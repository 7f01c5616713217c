// SPDX-License-Identifier: MIT

import CPixelKernels
import Foundation

/// The SSIMULACRA2 score of an image (version 2.1): 100 for an image that equals its reference, about 90 if no difference
/// is visible, 70 for high quality, and 50 for medium quality.
///
/// The score computes structural differences and differences of edges at six scales in the XYB color space. The result
/// differs from that of the Python package ssimulacra2 by less than 0.1, because both use the same formulas and weights.
/// Samples are interpreted as sRGB.
package struct VisualScore {
    /// The weighted sum of the differences, from 0 for equal images.
    let distortion: Double

    /// The score, which is at most 100.
    package var value: Double { Self.score(ofDistortion: distortion) }

    init(distortion: Double) { self.distortion = distortion }

    /// Compares images of the same size. This initializer blocks.
    ///
    /// - Parameters:
    ///   - image: The image to measure.
    ///   - reference: The image without loss.
    ///   - background: The color behind transparent pixels.
    ///   - context: The cancellation and the deadline.
    package init(
        _ image: PixelBuffer, reference: PixelBuffer, background: PixelColor, context: ImageProcessingContext
    ) throws(ImageError) {
        guard image.size == reference.size,
            let visual = wi_visual_open(
                UInt32(clamping: image.width), UInt32(clamping: image.height))
        else { throw .decoding(.outOfMemory(byteCount: reference.width * Self.bytesPerColumn)) }
        defer { wi_visual_close(visual) }
        let color = [background.red, background.green, background.blue]
        for row in stride(from: 0, to: image.height, by: Self.rowsPerCheck) {
            try context.checkCancellation()
            let count = UInt32(min(Self.rowsPerCheck, image.height - row))
            image.withUnsafeBytes { own in
                reference.withUnsafeBytes { other in
                    guard let own = own.baseAddress, let other = other.baseAddress else { return }
                    wi_visual_add(
                        visual, other + row * reference.bytesPerRow, reference.bytesPerRow,
                        reference.format.layout.isWide ? 1 : 0, own + row * image.bytesPerRow, image.bytesPerRow,
                        image.format.layout.isWide ? 1 : 0, count, color)
                }
            }
        }
        var features = [Float](repeating: 0, count: Int(WI_VISUAL_FEATURES))
        wi_visual_finish(visual, &features)
        distortion = Self.distortion(of: features, scaleCount: Self.scaleCount(of: image.size))
    }

    /// Returns the number of scales, of which each has half the size of the previous one and at least 8 pixels per side.
    private static func scaleCount(of size: PixelSize) -> Int {
        var (width, height, count) = (size.width, size.height, 0)
        while count < Int(WI_VISUAL_SCALES), width >= 8, height >= 8 {
            (width, height, count) = ((width + 1) / 2, (height + 1) / 2, count + 1)
        }
        return count
    }

    /// Returns the weighted sum of the features.
    ///
    /// As in the reference implementation, the scales of an image with fewer than six scales have the weights from the
    /// beginning of the list, so the weights of its second and third channel are those of other scales.
    private static func distortion(of features: [Float], scaleCount: Int) -> Double {
        var (sum, next) = (0.0, 0)
        for channel in 0..<3 {
            for scale in 0..<scaleCount {
                let first = (scale * 3 + channel) * 6
                for feature in [0, 2, 4, 1, 3, 5] {
                    sum += weights[next] * Double(features[first + feature])
                    next += 1
                }
            }
        }
        return sum * factor
    }

    /// Returns the score of a distortion, with the formula of SSIMULACRA2 2.1.
    private static func score(ofDistortion distortion: Double) -> Double {
        100 - 10 * pow(max(0, stretched(distortion)), exponent)
    }

    /// Returns the distortion of a score from 1 to 100.
    static func distortion(ofScore score: Double) -> Double {
        let target = pow((100 - min(max(score, 0), 100)) / 10, 1 / exponent)
        var (low, high) = (0.0, 100.0)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if stretched(middle) < target { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    private static func stretched(_ u: Double) -> Double {
        2.326_765_642_9 * u - 0.020_884_521_2 * u * u + 0.000_062_484_966_3 * u * u * u
    }

    private static let exponent = 0.627_633_646_8
    private static let rowsPerCheck = 64
    /// The approximate memory of a comparison per column of pixels, in bytes.
    private static let bytesPerColumn = 2_200
    /// The factor of the weighted sum, and the weights of the features, from SSIMULACRA2 2.1. The list contains the
    /// channels X, Y, and B, with the scales of each. For each scale, it contains the means of the structural difference,
    /// of added edges, and of lost edges, and then their means of fourth powers.
    private static let factor = 0.956_238_261_7
    // swift-format-ignore
    private static let weights: [Double] = [
        0, 0.000_737_660_7, 0, 0, 0.000_779_348_2, 0, 0, 0.000_437_115_6, 0, 1.104_173, 0.000_662_848_3,
        0.000_152_316_3, 0, 0.001_640_644, 0, 1.842_246, 11.441_17, 0, 0.000_798_910_9, 0.000_176_816_4, 0,
        1.878_759, 10.949_07, 0, 0.000_728_934_7, 0.967_793_7, 0, 0.000_140_034_2, 0.998_176_7, 0.000_319_497_6,
        0.000_455_099_2, 0, 0, 0.001_364_877, 0, 0, 0, 0, 0, 7.466_89, 0, 17.445_83, 0.000_623_560_2, 0, 0,
        6.683_678, 0.000_377_244_1, 1.027_89, 225.205_2, 0, 0, 19.213_24, 0.001_140_152, 0.001_237_756, 176.393_2,
        0, 0, 24.433_01, 0.285_208, 0.000_448_543_7, 0, 0, 0, 34.779_06, 44.835_63, 0, 0, 0, 0, 0, 0, 0, 0,
        0.000_868_055_7, 0, 0, 0, 0, 0, 0.000_531_319_2, 0, 0.000_165_338_1, 0, 0, 0, 0, 0, 0.000_417_917_2,
        0.001_729_083, 0, 0.002_082_701, 0, 0, 8.826_983, 23.192_43, 0, 95.108_05, 0.986_397_8, 0.983_438_3,
        0.001_228_641, 171.266_7, 0.980_785_9, 0, 0, 0, 0.000_513_006_5, 0, 0.000_108_540_6,
    ]
}
