// SPDX-License-Identifier: MIT

import Foundation

/// A search for the best encoded file that doesn't exceed a size limit, with at most five encodes.
///
/// The first encode is the requested one. The next ones follow from the expected sizes of the ``EncodingLadder``, which
/// are corrected by the sizes of the previous files: the logarithm of the size is interpolated between the best file
/// that fits and the nearest file that exceeds the limit. The search doesn't rely on sizes that increase along the
/// ladder. It returns the best file that fits.
struct FileSizeSearch {
    /// The maximum number of encodes.
    private static let maxEncodes = 5
    /// The share of the limit that a file must use to end the search.
    private static let sufficientShare = 0.95
    /// The share of the limit that the next file aims at.
    private static let aim = 0.96
    /// The reduction of the last aim that can find a file that fits, as a natural logarithm. Sizes that deviate so much
    /// from the expectation are rare, and the smallest rung would waste most of the limit.
    private static let caution = 0.5
    /// The range for the ratio of the logarithm of the actual change of the size to that of the expected change.
    private static let slopes = 0.15...3
    /// The maximum distance to the other end of the bracket, as a share of the bracket, after two attempts on one side.
    private static let balance = 0.35

    /// An encoded file with its position on the ladder.
    private struct Attempt {
        let index: Int
        let data: Data

        var logSize: Double { log(Double(max(1, data.count))) }
    }

    private let coder: any ImageCoder
    /// The maximum file size, in bytes.
    private let limit: Int
    private let context: ImageProcessingContext
    private let image: DecodedImage
    private let ladder: EncodingLadder

    private var attempts: [Attempt] = []
    /// The best file that fits.
    private var low: Attempt?
    /// The file with the lowest index that exceeds the limit.
    private var high: Attempt?

    init(
        for image: DecodedImage, as encoding: ImageEncoding, coder: any ImageCoder, limit: Int,
        context: ImageProcessingContext
    ) {
        self.image = image
        self.coder = coder
        self.limit = limit
        self.context = context
        ladder = EncodingLadder(for: encoding, size: image.size)
    }

    /// Runs the search and returns the encoded file.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/encodedSize``, or an error
    ///   of the encoder.
    static func run(
        _ image: DecodedImage, as encoding: ImageEncoding, coder: any ImageCoder, limit: Int,
        context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        var search = FileSizeSearch(for: image, as: encoding, coder: coder, limit: limit, context: context)
        while let index = search.next() { try search.encode(index) }
        if let low = search.low { return low.data }
        let detail = "the smallest encoded \(encoding.formatOrAutomatic)"
        let smallest = search.attempts.map(\.data.count).min() ?? 0
        throw .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: limit, actual: smallest, detail: detail))
    }

    private mutating func encode(_ index: Int) throws(ImageError) {
        try context.checkCancellation()
        let rung = ladder.rung(index)
        let reduced = if let side = rung.side { try image.limited(to: side, context) } else { image }
        let attempt = Attempt(index: index, data: try coder.encode(reduced, as: rung.encoding, context: context))
        attempts.append(attempt)
        if attempt.data.count > limit {
            if index < high?.index ?? .max { high = attempt }
        } else if index > low?.index ?? -1 {
            low = attempt
        }
    }

    /// Returns the index of the next encode, or `nil` if the search is complete.
    private func next() -> Int? {
        guard let high else { return attempts.isEmpty ? ladder.count - 1 : nil }
        guard attempts.count < Self.maxEncodes else { return nil }
        guard let low else { return high.index == 0 ? nil : nextWithoutFit(below: high) }
        guard high.index > low.index + 1, Double(low.data.count) < Double(limit) * Self.sufficientShare else {
            return nil
        }
        return next(between: low, and: high)
    }

    /// Returns the next index if all files exceed the limit.
    private func nextWithoutFit(below high: Attempt) -> Int {
        // The last encode decides whether the limit can be met.
        guard attempts.count < Self.maxEncodes - 1 else { return 0 }
        var slope = 1.0
        if attempts.count > 1, high.index < attempts[0].index {
            let expected = ladder.logSize(attempts[0].index) - ladder.logSize(high.index)
            slope = (attempts[0].logSize - high.logSize) / max(1e-6, expected)
            slope = min(max(slope, Self.slopes.lowerBound), Self.slopes.upperBound)
        }
        let isLastChance = attempts.count == Self.maxEncodes - 2
        let excess = high.logSize - target + (isLastChance ? Self.caution : 0)
        return ladder.index(in: 0...high.index - 1, upTo: ladder.logSize(high.index) - excess / slope)
    }

    /// Returns the next index between a file that fits and one that doesn't.
    private func next(between low: Attempt, and high: Attempt) -> Int {
        var share = (target - low.logSize) / (high.logSize - low.logSize)
        // If one end of the bracket remains, plain interpolation approaches the limit slowly (regula falsi).
        if attempts.count >= 3 {
            let fits = attempts.suffix(2).map { $0.data.count <= limit }
            if fits == [true, true] { share = max(share, Self.balance) }
            if fits == [false, false] { share = min(share, 1 - Self.balance) }
        }
        share = min(max(share, 0.02), 0.98)
        let (start, end) = (ladder.logSize(low.index), ladder.logSize(high.index))
        return ladder.index(in: low.index + 1...high.index - 1, upTo: start + share * (end - start))
    }

    /// The natural logarithm of the size that the next file aims at.
    private var target: Double { log(Double(limit) * Self.aim) }
}
