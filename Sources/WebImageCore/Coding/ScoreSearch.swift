// SPDX-License-Identifier: MIT

import Foundation

/// The decisions of a ``VisualScoreSearch``, which depend only on the distortions of the encoded images.
///
/// The first encode has the quality at which photographs have the target score on average. After it, the search assumes
/// that the logarithm of the distortion differs from the average by a constant, and between two encodes by a linear
/// function of the average.
struct ScoreSearch {
    static let maxEncodes = 5
    /// The number of encodes after which a result within ``acceptableDifference`` ends the search.
    static let usualEncodes = 4
    /// The difference from the target that ends the search, in points of the score.
    private static let tolerance = 1.25
    /// The difference from the target that's worth another encode after ``usualEncodes``. Few photographs need it, because
    /// their scores aren't monotonic, so it increases the mean number of encodes by less than 0.1.
    private static let acceptableDifference = 2.0

    /// An encoded image.
    private struct Sample {
        let quality: Int
        let logDistortion: Double
    }

    private let curve: [(quality: Double, logDistortion: Double)]
    private let target: Double
    private let targetScore: Double
    private var samples: [Sample] = []
    private var bestDifference = Double.infinity

    /// Creates a search for a score from 1 to 100, or returns `nil` for a format whose encoder has no quality or no
    /// known average.
    init?(_ format: ImageFormat, score: Int, hasFullChroma: Bool) {
        guard let curve = Self.curve(format, hasFullChroma: hasFullChroma) else { return nil }
        self.curve = curve
        targetScore = Double(score)
        target = log(max(1e-3, VisualScore.distortion(ofScore: Double(score))))
    }

    mutating func add(quality: Int, _ score: VisualScore) {
        samples.append(Sample(quality: quality, logDistortion: log(max(1e-3, score.distortion))))
        bestDifference = min(bestDifference, abs(score.value - targetScore))
    }

    /// Returns the quality of the next encode, or `nil` if the search is complete.
    func next() -> Int? {
        let limit = bestDifference > Self.acceptableDifference ? Self.maxEncodes : Self.usualEncodes
        guard bestDifference > Self.tolerance, samples.count < limit else { return nil }
        let quality = predicted()
        return samples.contains { $0.quality == quality } ? nil : quality
    }

    /// Returns the quality with the predicted distortion that is nearest to the target.
    private func predicted() -> Int {
        let worse = samples.filter { $0.logDistortion > target }.max { $0.quality < $1.quality }
        let better = samples.filter { $0.logDistortion <= target }.min { $0.quality < $1.quality }
        var range = 1...100
        if let worse, worse.quality < 100 { range = worse.quality + 1...100 }
        if let better, better.quality > range.lowerBound { range = range.lowerBound...better.quality - 1 }
        return range.min { abs(expected($0, worse, better) - target) < abs(expected($1, worse, better) - target) }
            ?? 100
    }

    /// Returns the expected logarithm of the distortion.
    private func expected(_ quality: Int, _ worse: Sample?, _ better: Sample?) -> Double {
        func offset(_ sample: Sample) -> Double { sample.logDistortion - average(sample.quality) }
        switch (worse, better) {
        case (nil, nil): return average(quality)
        case (let sample?, nil), (nil, let sample?): return average(quality) + offset(sample)
        case (let worse?, let better?):
            let span = max(1, Double(better.quality - worse.quality))
            let share = Double(quality - worse.quality) / span
            return average(quality) + offset(worse) * (1 - share) + offset(better) * share
        }
    }

    /// Returns the average logarithm of the distortion of photographs. The result decreases with the quality.
    private func average(_ quality: Int) -> Double {
        let quality = Double(quality)
        let upper = curve.firstIndex { $0.quality >= quality } ?? curve.count - 1
        let (first, second) = (curve[max(0, upper - 1)], curve[max(1, upper)])
        let slope = (second.logDistortion - first.logDistortion) / (second.quality - first.quality)
        return first.logDistortion + slope * (quality - first.quality)
    }

    /// Returns the average logarithm of the distortion by quality of the photographs in the directory `nature` of
    /// Debian's package mate-backgrounds, which `Benchmarks/Peers/looks_limits.py` prints.
    private static func curve(_ format: ImageFormat, hasFullChroma: Bool) -> [(quality: Double, logDistortion: Double)]?
    {
        switch format {
        case .jpeg:
            hasFullChroma
                ? [
                    (15, 3.189), (30, 2.228), (45, 1.650), (60, 1.219), (70, 0.836), (80, 0.233), (88, -0.262),
                    (94, -1.079), (98, -1.915),
                ]
                : [
                    (15, 3.268), (30, 2.335), (45, 1.784), (60, 1.370), (70, 0.998), (80, 0.448), (88, -0.016),
                    (94, -0.692), (98, -1.380),
                ]
        case .avif:
            hasFullChroma
                ? [
                    (15, 2.400), (35, 1.319), (50, 0.592), (62, 0.084), (74, -0.397), (80, -0.625), (88, -1.176),
                    (96, -1.889),
                ]
                : [
                    (15, 2.539), (35, 1.497), (50, 0.797), (62, 0.323), (74, -0.112), (80, -0.303), (88, -0.713),
                    (96, -1.225),
                ]
        case .webp:
            [
                (8, 2.387), (25, 1.825), (45, 1.350), (62, 1.016), (74, 0.814), (80, 0.492), (86, 0.124),
                (92, -0.397), (97, -0.865), (100, -1.014),
            ]
        case .jxl:
            [
                (35, 1.233), (50, 0.968), (65, 0.532), (75, 0.188), (84, -0.184), (91, -0.773), (97, -1.684),
            ]
        default: nil
        }
    }
}
