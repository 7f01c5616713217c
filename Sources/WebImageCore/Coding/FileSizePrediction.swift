// SPDX-License-Identifier: MIT

import Foundation

/// A prediction of file sizes along an ``EncodingLadder`` from the sizes of the files that were encoded.
///
/// A file consists of a fixed part, such as metadata, and a part that depends on the pixels. The logarithm of the second
/// part deviates from the expectation of the ladder. The deviation is a Gaussian process that is zero for the requested
/// encoding. It changes linearly and, to a smaller degree, irregularly with the quality and with the dimensions. So the
/// prediction passes through the sizes of the files, interpolates between them, and extrapolates their tendency.
struct FileSizePrediction {
    /// An encoded file.
    struct Sample {
        let index: Int
        let byteCount: Int
        var kind = Kind.file
        /// The natural logarithm of the expected ratio of the size of a file to this size. It's 0 for files with the
        /// requested effort.
        var logRatio = 0.0
    }

    /// The kinds of encoded files.
    enum Kind: Int {
        /// A file with the requested effort.
        case file
        /// A file with the lowest effort, which is called a draft.
        case draft
        /// A size that follows from a draft of a small part of the image.
        case partialDraft
    }

    /// The differences between a file and the first sample.
    private struct Point {
        let steps: EncodingLadder.Steps
        /// The standard deviation of the ratio of files to drafts, or 0 if both or none of the files are drafts.
        let effort: Double
        /// The standard deviation of the size that follows from a part of the image, or 0 if that's the case for both or
        /// none of the files.
        let part: Double
    }

    /// The prior standard deviations. They describe the variation among photographs.
    private enum Prior {
        /// The deviation of the effect of the quality, relative to the expectation.
        static let quality = 0.35
        /// The variance of irregular changes per unit of the expected effect of the quality.
        static let irregularQuality = 0.15
        /// The deviation of the exponent with which the size grows with the longer side.
        static let dimension = 0.6
        /// The variance of irregular changes per unit of the logarithm of the longer side.
        static let irregularDimension = 0.03
        /// The deviation of the effect of the chroma resolution.
        static let chroma = 0.3
        /// The deviation of a single file.
        static let noise = 0.02
        /// The deviation of a size that follows from a part of the image.
        static let part = 0.12
    }

    /// The part of each file that doesn't depend on the pixels, in bytes.
    let fixedByteCount: Double
    let logLikelihood: Double

    private let ladder: EncodingLadder
    /// The logarithm of the variable part of the requested encoding, relative to the ladder.
    private let offset: Double
    private let points: [Point]
    /// The kind of the first sample, and the standard deviation of the ratio of files to drafts.
    private let firstKind: Kind
    private let ratioDeviation: Double
    /// The Cholesky factor of the covariance of the samples.
    private let factor: [[Double]]
    /// The deviations of the samples, multiplied by the inverse of their covariance.
    private let weights: [Double]

    /// Creates a prediction from files, the first of which has the requested encoding. `fixedByteCount` must be less
    /// than the size of every file, and `ratioDeviation` is the standard deviation of the ratio of files to drafts.
    private init(_ samples: [Sample], _ ladder: EncodingLadder, fixedByteCount: Double, ratioDeviation: Double) {
        func logSize(_ sample: Sample) -> Double {
            log(max(1e-3, Double(sample.byteCount) - fixedByteCount)) + sample.logRatio
        }
        let offset = logSize(samples[0]) - ladder.logSize(samples[0].index)
        let others = samples.dropFirst()
        let firstKind = samples[0].kind
        let points = others.map { Self.point($0.index, $0.kind, firstKind, ladder, ratioDeviation) }
        let deviations = others.map { logSize($0) - offset - ladder.logSize($0.index) }
        let factor = Self.factor(of: points)
        let standardized = Self.forward(factor, deviations)
        weights = Self.backward(factor, standardized)
        let quadratic = standardized.reduce(0) { $0 + $1 * $1 }
        let determinant = factor.indices.reduce(0) { $0 + log(factor[$1][$1]) }
        logLikelihood = -0.5 * quadratic - determinant - others.reduce(0) { $0 + logSize($1) }
        self.factor = factor
        self.ladder = ladder
        self.offset = offset
        self.points = points
        self.firstKind = firstKind
        self.ratioDeviation = ratioDeviation
        self.fixedByteCount = fixedByteCount
    }

    /// Returns the most probable prediction among several sizes of the fixed part. The first sample has the requested
    /// encoding. The sizes are in bytes. That of the headers is approximate, and a coder may compress or omit the
    /// metadata. `ratioDeviation` is the standard deviation of the ratio of files to drafts, and 0 without drafts.
    static func best(
        of samples: [Sample], _ ladder: EncodingLadder, headers: Int, metadata: Int, ratioDeviation: Double = 0
    ) -> FileSizePrediction {
        func prediction(_ fixed: Double) -> FileSizePrediction {
            FileSizePrediction(samples, ladder, fixedByteCount: fixed, ratioDeviation: ratioDeviation)
        }
        let smallest = Double(samples.map(\.byteCount).min() ?? 0)
        let (headers, metadata) = (Double(headers), Double(metadata))
        let expected = headers + metadata
        // Each candidate has the logarithm of its relative prior probability.
        var candidates: [(fixed: Double, prior: Double)] = [
            (expected, 0), (headers * 0.7 + metadata, -1), (headers * 0.4 + metadata, -2),
        ]
        if metadata > 0 { candidates += [(headers, -2.5), (metadata * 0.3, -4), (metadata * 0.6, -4)] }
        if samples.count > 1 {
            // Thumbnails and other parts are unknown.
            let least = expected < smallest ? expected : headers
            candidates += [0.3, 0.6, 0.8, 0.9].map { (least + (smallest - least) * $0, -4) }
        }
        var best = prediction(0)
        var bestScore = -Double.infinity
        for candidate in candidates where candidate.fixed < smallest * 0.99 {
            let other = prediction(candidate.fixed)
            let score = other.logLikelihood + candidate.prior
            if score > bestScore { (best, bestScore) = (other, score) }
        }
        return best
    }

    /// Returns the index in a range whose predicted size is nearest to `target`, which is the natural logarithm of the
    /// variable part of the file. The predictions are increased by `deviations` standard deviations.
    func index(in range: ClosedRange<Int>, target: Double, deviations: Double = 0) -> Int {
        func excess(_ index: Int) -> Double {
            let (mean, deviation) = logSize(index)
            return mean + deviations * deviation - target
        }
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high + 1) / 2
            if excess(middle) <= 0 { low = middle } else { high = middle - 1 }
        }
        guard low < range.upperBound, abs(excess(low + 1)) < abs(excess(low)) else { return low }
        return low + 1
    }

    /// Returns the expected logarithm of the variable part of a file with the requested effort, and its standard
    /// deviation.
    func logSize(_ index: Int) -> (mean: Double, deviation: Double) {
        let own = Self.point(index, .file, firstKind, ladder, ratioDeviation)
        let covariances = points.map { Self.covariance($0, own) }
        let mean = zip(covariances, weights).reduce(offset + ladder.logSize(index)) { $0 + $1.0 * $1.1 }
        let explained = Self.forward(factor, covariances).reduce(0) { $0 + $1 * $1 }
        let variance = max(0, Self.covariance(own, own) - explained) + Prior.noise * Prior.noise
        return (mean, variance.squareRoot())
    }

    private static func point(
        _ index: Int, _ kind: Kind, _ first: Kind, _ ladder: EncodingLadder, _ ratioDeviation: Double
    ) -> Point {
        func difference(_ least: Kind) -> Double {
            (kind.rawValue >= least.rawValue ? 1 : 0) - (first.rawValue >= least.rawValue ? 1 : 0)
        }
        return Point(
            steps: ladder.steps(index), effort: difference(.draft) * ratioDeviation,
            part: difference(.partialDraft) * Prior.part)
    }

    private static func covariance(_ leftPoint: Point, _ rightPoint: Point) -> Double {
        let (left, right) = (leftPoint.steps, rightPoint.steps)
        let kinds = leftPoint.effort * rightPoint.effort + leftPoint.part * rightPoint.part
        return kinds + Prior.quality * Prior.quality * left.quality * right.quality
            + Prior.irregularQuality * min(left.quality, right.quality)
            + Prior.dimension * Prior.dimension * left.dimension * right.dimension
            + Prior.irregularDimension * min(left.dimension, right.dimension)
            + Prior.chroma * Prior.chroma * left.chroma * right.chroma
    }

    /// Returns the lower triangular matrix whose product with its transpose is the covariance of the samples.
    private static func factor(of points: [Point]) -> [[Double]] {
        var factor: [[Double]] = []
        for row in points.indices {
            var values: [Double] = []
            for column in 0...row {
                var sum = covariance(points[row], points[column])
                if row == column { sum += Prior.noise * Prior.noise }
                for inner in 0..<column { sum -= values[inner] * (column == row ? values : factor[column])[inner] }
                // The noise makes the matrix positive definite, except for rounding errors.
                values.append(row == column ? max(sum, 1e-9).squareRoot() : sum / factor[column][column])
            }
            factor.append(values)
        }
        return factor
    }

    /// Solves a linear system with a lower triangular matrix.
    private static func forward(_ factor: [[Double]], _ right: [Double]) -> [Double] {
        var result: [Double] = []
        for row in factor.indices {
            var sum = right[row]
            for column in 0..<row { sum -= factor[row][column] * result[column] }
            result.append(sum / factor[row][row])
        }
        return result
    }

    /// Solves a linear system with the transpose of a lower triangular matrix.
    private static func backward(_ factor: [[Double]], _ right: [Double]) -> [Double] {
        var result = right
        for row in factor.indices.reversed() {
            for column in factor.indices where column > row { result[row] -= factor[column][row] * result[column] }
            result[row] /= factor[row][row]
        }
        return result
    }
}
