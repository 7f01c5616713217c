// SPDX-License-Identifier: MIT

import Foundation

/// The ways to encode an image within a size limit, ordered from the smallest expected file to the largest one.
///
/// The last way is the requested encoding. The ways before it lower the quality and then reduce the image with the
/// lowest quality.
struct EncodingLadder {
    /// One way to encode the image.
    struct Rung {
        let encoding: ImageEncoding
        /// The length of the longer side, in pixels, or `nil` for the size of the image.
        let side: Int?
    }

    /// The lowest quality. Below it, fewer pixels at a higher quality look better.
    private static let lowestQuality = 10
    /// The minimum length of the longer side, in pixels.
    private static let minDimension = 16
    /// The exponent by which the file size grows with the number of pixels. It's less than 1 because a reduced image has
    /// more detail per pixel.
    private static let pixelExponent = 0.9

    /// The encodings of the whole image, with the natural logarithms of their expected relative sizes.
    private let encodings: [(encoding: ImageEncoding, logSize: Double, hasFullChroma: Bool)]
    private let longerSide: Int
    /// The number of reduced sizes.
    private let reductions: Int

    init(for encoding: ImageEncoding, size: PixelSize) {
        longerSide = max(size.width, size.height)
        reductions = max(0, longerSide - Self.minDimension)
        encodings = Self.encodings(encoding)
    }

    /// The number of rungs, which is at least 1.
    var count: Int { reductions + encodings.count }

    func rung(_ index: Int) -> Rung {
        guard index < reductions else { return Rung(encoding: encodings[index - reductions].encoding, side: nil) }
        return Rung(encoding: encodings[0].encoding, side: Self.minDimension + index)
    }

    /// Returns the natural logarithm of the expected relative file size at an index. It never decreases with the index.
    func logSize(_ index: Int) -> Double {
        guard index < reductions else { return encodings[index - reductions].logSize }
        let ratio = Double(Self.minDimension + index) / Double(longerSide)
        return encodings[0].logSize + 2 * Self.pixelExponent * log(ratio)
    }

    /// Returns the natural logarithm of the expected relative file size at an index without the effect of the dimensions.
    func qualityLogSize(_ index: Int) -> Double { encodings[max(0, index - reductions)].logSize }

    /// Returns the approximate number of pixels at an index as a fraction of those of the image.
    func pixelShare(_ index: Int) -> Double { exp(-2 * steps(index).dimension) }

    /// The differences between a rung and the requested encoding. Each one is 0 for the requested encoding.
    struct Steps {
        /// The expected decrease of the natural logarithm of the size because of the lower quality.
        let quality: Double
        /// The decrease of the natural logarithm of the longer side.
        let dimension: Double
        /// 1 if the rung reduces the chroma resolution and the requested encoding doesn't.
        let chroma: Double
    }

    /// Returns the differences between the rung at an index and the requested encoding.
    func steps(_ index: Int) -> Steps {
        let encoding = encodings[max(0, index - reductions)]
        let requested = encodings[encodings.count - 1]
        let ratio = index < reductions ? Double(Self.minDimension + index) / Double(longerSide) : 1
        return Steps(
            quality: max(0, requested.logSize - encoding.logSize), dimension: -log(ratio),
            chroma: requested.hasFullChroma && !encoding.hasFullChroma ? 1 : 0)
    }

    private static func encodings(
        _ encoding: ImageEncoding
    ) -> [(encoding: ImageEncoding, logSize: Double, hasFullChroma: Bool)] {
        guard !encoding.isLossless, let model = EncodedSizeModel.model(of: encoding.formatOrAutomatic) else {
            return [(encoding, 0, false)]
        }
        let highest = encoding.quality ?? model.defaultQuality
        let firstFull = EncodedSizeModel.lowestFullChromaQuality
        let changes = model.changesSubsampling && encoding.chromaSubsampling == nil && highest >= firstFull
        var encodings: [(encoding: ImageEncoding, logSize: Double, hasFullChroma: Bool)] = []
        func append(_ qualities: Range<Int>, isReduced: Bool = false, hasFullChroma: Bool = false) {
            for quality in qualities {
                var lower = encoding
                lower.quality = quality
                if isReduced { lower.chromaSubsampling = .yuv420 }
                let logSize = model.logSize(quality: quality, hasFullChroma: hasFullChroma)
                encodings.append((lower, logSize, hasFullChroma))
            }
        }
        let lowest = min(lowestQuality, highest)
        append(lowest..<(changes ? firstFull : highest))
        if changes {
            // Full chroma resolution enlarges a file by about a quarter. Without these rungs, no encoding would use the
            // space in between. No rung exceeds the requested quality.
            let highestReduced = min(highest, EncodedSizeModel.highestReducedChromaQuality)
            append(firstFull..<highestReduced + 1, isReduced: true)
            append(firstFull..<highest, hasFullChroma: true)
        }
        encodings.append((encoding, model.logSize(quality: highest, hasFullChroma: changes), changes))
        return encodings
    }
}
