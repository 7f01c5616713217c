// SPDX-License-Identifier: MIT

import Foundation

/// The decisions of a ``FileSizeSearch``, which depend only on the sizes of the files.
///
/// The first encode is the requested one. The next ones follow from a ``FileSizePrediction``. The search doesn't rely on
/// sizes that increase along the ladder.
struct LadderSearch {
    static let maxEncodes = 5
    /// The share of the limit without metadata that a file must use to end the search.
    private static let sufficientShare = 0.95
    /// The share of the limit without metadata that the next file aims at.
    private static let aim = 0.95
    /// The share of the whole limit that the result should use, and the lowest share without metadata that the last
    /// file aims at to reach it.
    private static let requiredShare = 0.9
    private static let lowestAim = 0.6
    /// The reductions of the aim if all previous files exceed the limit, by the number of previous files: the number of
    /// standard deviations, and the natural logarithm of a factor. The last encode would otherwise waste most of the
    /// limit, because it has to fit.
    private static let cautions: [Int: (deviations: Double, reduction: Double)] = [2: (0.5, 0.1), 3: (1, 0.4)]
    /// The minimum distance from both ends of the bracket, as a share of it, after two attempts on one side.
    private static let balance = 0.05

    private let ladder: EncodingLadder
    /// The maximum file size, in bytes.
    private let limit: Int
    private let headers: Int
    private let metadata: Int
    private var samples: [FileSizePrediction.Sample] = []
    private var bracket = FileSizeBracket()

    /// The sizes are in bytes, and that of the headers is approximate.
    init(_ ladder: EncodingLadder, limit: Int, headers: Int, metadata: Int) {
        self.ladder = ladder
        self.limit = limit
        self.headers = headers
        self.metadata = metadata
    }

    var low: FileSizePrediction.Sample? { bracket.low }
    private var high: FileSizePrediction.Sample? { bracket.high }

    var smallestByteCount: Int { samples.map(\.byteCount).min() ?? 0 }

    /// Records a file, and returns whether it's the best one that fits.
    mutating func add(index: Int, byteCount: Int) -> Bool {
        let sample = FileSizePrediction.Sample(index: index, byteCount: byteCount)
        samples.append(sample)
        return bracket.add(sample, limit: limit)
    }

    /// Returns the index of the next encode, or `nil` if the search is complete.
    func next() -> Int? {
        guard let high else { return samples.isEmpty ? ladder.count - 1 : nil }
        guard samples.count < Self.maxEncodes, high.index > 0 else { return nil }
        let prediction = FileSizePrediction.best(of: samples, ladder, headers: headers, metadata: metadata)
        guard let low else {
            // The last encode decides whether the limit can be met.
            guard samples.count < Self.maxEncodes - 1 else { return 0 }
            return index(in: 0...high.index - 1, prediction, caution: Self.cautions[samples.count] ?? (0, 0))
        }
        // A file with much metadata uses most of the limit even if it has few pixels, so subtract the metadata.
        let (used, usable) = (
            Double(low.byteCount) - prediction.fixedByteCount, Double(limit) - prediction.fixedByteCount
        )
        guard high.index > low.index + 1, used < usable * Self.sufficientShare else { return nil }
        let best = index(in: low.index + 1...high.index - 1, prediction, caution: (0, 0))
        return balanced(best, between: low.index, and: high.index)
    }

    /// Returns the index in a range whose predicted size is nearest to the aim.
    private func index(
        in range: ClosedRange<Int>, _ prediction: FileSizePrediction, caution: (deviations: Double, reduction: Double)
    ) -> Int {
        let usable = Double(limit) - prediction.fixedByteCount
        guard usable > 1 else { return range.lowerBound }
        var aim = usable * Self.aim
        if let low, samples.count == Self.maxEncodes - 1, Double(low.byteCount) < Double(limit) * Self.requiredShare {
            // The last file must fit, and it may be small enough to use the center of the remaining range.
            let center = Double(limit) * (1 + Self.requiredShare) / 2 - prediction.fixedByteCount
            aim = max(min(aim, center), usable * Self.lowestAim)
        }
        return prediction.index(
            in: range, target: log(aim) - caution.reduction, deviations: caution.deviations)
    }

    /// Moves an index away from the ends of the bracket if the last two files are on the same side.
    private func balanced(_ index: Int, between low: Int, and high: Int) -> Int {
        let fits = samples.suffix(2).map { $0.byteCount <= limit }
        guard samples.count >= 3, fits[0] == fits[1] else { return index }
        let distance = Int(Double(high - low) * Self.balance)
        let range = low + 1...high - 1
        let moved = fits[0] ? max(index, low + distance) : min(index, high - distance)
        return min(max(moved, range.lowerBound), range.upperBound)
    }
}
