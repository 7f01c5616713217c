// SPDX-License-Identifier: MIT

import Foundation

/// A search for the best encoded file that doesn't exceed a size limit.
///
/// The search doesn't assume that file sizes grow with the quality or the number of pixels. It returns the best
/// attempt that fits.
struct FileSizeSearch {
    /// The lowest quality. Below it, fewer pixels at a higher quality look better.
    static let lowestQuality = 10
    /// The minimum length of the longer side, in pixels.
    static let minDimension = 16
    /// The maximum number of qualities to try between the lowest and the requested one, for each size.
    private static let qualitiesPerSize = 6
    /// The maximum number of sizes to try, including the smallest one.
    private static let sizes = 16

    let coder: any ImageCoder
    let encoding: ImageEncoding
    /// The maximum file size, in bytes.
    let limit: Int
    let context: ImageProcessingContext

    /// Runs the search and returns the encoded file.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/encodedSize``, or an error
    ///   of the encoder.
    func run(_ image: DecodedImage) throws(ImageError) -> Data {
        let data = try encoded(image, encoding.quality)
        if data.count <= limit { return data }
        var smallest = data.count
        if hasQuality {
            let lowest = try encoded(image, Self.lowestQuality)
            if lowest.count <= limit { return try bestQuality(image, lowest) }
            smallest = min(smallest, lowest.count)
        }
        return try reduced(image, smallest)
    }

    /// Whether the quality affects the file size. It doesn't for lossless files and for some formats.
    private var hasQuality: Bool {
        let fixed: Set<ImageFormat> = [.png, .apng, .gif, .bmp, .ico, .tiff]
        return !encoding.isLossless && !fixed.contains(encoding.formatOrAutomatic)
            && highestQuality > Self.lowestQuality
    }

    private var highestQuality: Int { encoding.quality ?? 90 }

    /// Returns the file with the highest quality that fits, found by binary search. The file `lowest` is known to fit.
    private func bestQuality(_ image: DecodedImage, _ lowest: Data) throws(ImageError) -> Data {
        var best = lowest
        var range = (low: Self.lowestQuality + 1, high: highestQuality)
        for _ in 0..<Self.qualitiesPerSize where range.low <= range.high {
            let quality = (range.low + range.high + 1) / 2
            let data = try encoded(image, quality)
            if data.count <= limit {
                best = data
                range.low = quality + 1
            } else {
                range.high = quality - 1
            }
        }
        return best
    }

    /// Reduces the image step by step. The size of the previous attempt determines each reduction.
    private func reduced(_ image: DecodedImage, _ count: Int) throws(ImageError) -> Data {
        var side = max(image.size.width, image.size.height)
        var (last, smallest) = (count, count)
        for step in 1...Self.sizes where side > Self.minDimension {
            let ratio = (Double(limit) / Double(last)).squareRoot() * 0.95
            let next = Int(Double(side) * min(0.9, max(0.25, ratio)))
            side = step == Self.sizes ? Self.minDimension : max(Self.minDimension, next)
            let smaller = try image.limited(to: side, context)
            let data = try encoded(smaller, hasQuality ? Self.lowestQuality : encoding.quality)
            if data.count <= limit { return hasQuality ? try bestQuality(smaller, data) : data }
            last = data.count
            smallest = min(smallest, last)
        }
        let detail = "the smallest encoded \(encoding.formatOrAutomatic)"
        throw .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: limit, actual: smallest, detail: detail))
    }

    private func encoded(_ image: DecodedImage, _ quality: Int?) throws(ImageError) -> Data {
        try context.checkCancellation()
        var tried = encoding
        tried.quality = quality
        return try coder.encode(image, as: tried, context: context)
    }
}
