// SPDX-License-Identifier: MIT

import Foundation

/// Looks for the best file that is not larger than a limit. Sizes are not trusted to grow with quality or with pixels:
/// of what was tried the best that fits is taken.
struct EncodingSearch {
    /// Below it fewer pixels look better than more of them.
    static let lowestQuality = 10
    /// Of the longer side, in pixels; smaller pictures are not made.
    static let shortestSide = 16
    /// Qualities that are tried between the lowest and the wanted one, per size.
    private static let qualitiesPerSize = 6
    /// Sizes that are tried before the smallest.
    private static let sizes = 16

    let coder: any ImageCoder
    let encoding: ImageEncoding
    /// In bytes.
    let limit: Int
    let context: CodingContext

    /// - Throws: a ``LimitError`` of kind encodedBytes, and what the encoder throws.
    func run(_ image: Image) throws(ImageError) -> Data {
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

    /// Formats without a choice, and lossless files, are as large as they are.
    private var hasQuality: Bool {
        let fixed: Set<ImageFormat> = [.png, .apng, .gif, .bmp, .ico, .tiff]
        return !encoding.isLossless && !fixed.contains(encoding.format) && highestQuality > Self.lowestQuality
    }

    private var highestQuality: Int { encoding.quality ?? 90 }

    /// The highest quality that fits, by halving; `lowest` is known to.
    private func bestQuality(_ image: Image, _ lowest: Data) throws(ImageError) -> Data {
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

    /// Fewer and fewer pixels, by what the last try was too large.
    private func reduced(_ image: Image, _ count: Int) throws(ImageError) -> Data {
        var side = max(image.size.width, image.size.height)
        var (last, smallest) = (count, count)
        for step in 1...Self.sizes where side > Self.shortestSide {
            let ratio = (Double(limit) / Double(last)).squareRoot() * 0.95
            let next = Int(Double(side) * min(0.9, max(0.25, ratio)))
            side = step == Self.sizes ? Self.shortestSide : max(Self.shortestSide, next)
            let smaller = try image.limited(to: side, context)
            let data = try encoded(smaller, hasQuality ? Self.lowestQuality : encoding.quality)
            if data.count <= limit { return hasQuality ? try bestQuality(smaller, data) : data }
            last = data.count
            smallest = min(smallest, last)
        }
        let detail = "the smallest \(encoding.format) that was made"
        throw .limit(LimitError(.encodedBytes, limit: limit, actual: smallest, detail: detail))
    }

    private func encoded(_ image: Image, _ quality: Int?) throws(ImageError) -> Data {
        try context.checkpoint()
        var tried = encoding
        tried.quality = quality
        return try coder.encode(image, as: tried, context: context)
    }
}
