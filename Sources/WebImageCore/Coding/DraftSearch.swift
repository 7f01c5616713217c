// SPDX-License-Identifier: MIT

import Foundation

/// The decisions of a ``FileSizeSearch`` for an encoder that is much faster with the lowest effort.
///
/// Files with the lowest effort, which are called drafts, predict the sizes of the files. Drafts of a sample of the image
/// take so little time that they find the quality. A draft of the whole image corrects them, and the sample with both
/// efforts provides the ratio of a file to a draft, which depends on the image. The first file is usually also the last
/// one, because the prediction is precise enough.
struct DraftSearch {
    /// A step of the search. The number is the index of the rung of the ladder.
    enum Step: Hashable {
        /// Encode a sample of the image as a draft.
        case partialDraft(Int)
        case draft(Int)
        /// Encode a sample of the image with both efforts.
        case ratio(Int)
        case file(Int)
    }

    static let maxFiles = 4
    static let maxDrafts = 2
    static let maxPartialDrafts = 8
    static let maxRatios = 2
    /// The minimum number of pixels for which drafts are worth their time.
    static let minPixelCount = 200_000

    /// The share of the limit without metadata that the next file aims at.
    private static let aim = 0.94
    /// The share of the limit without metadata that the first file must use to end the search, and the share that another
    /// file must use. The steps of the quantizer of HEVC change some files by a fifth.
    private static let sufficientShare = 0.85
    private static let lastShare = 0.8
    /// The number of standard deviations by which the size of the requested quality must be smaller than the limit.
    private static let margin = 1.0
    /// The standard deviations of the ratio before and after it was measured.
    private static let unknownRatio = 0.12
    private static let measuredRatio = 0.045
    /// The standard deviation of a prediction for which no draft is necessary.
    private static let sufficientDeviation = 0.06
    /// The difference between the expected logarithms of two sizes for which one draft, or one ratio, is sufficient.
    private static let draftDistance = 0.25
    private static let ratioDistance = 0.6

    private let ladder: EncodingLadder
    private let drafts: EncodedSizeModel.Drafts
    /// The maximum file size, in bytes.
    private let limit: Int
    private let headers: Int
    private let metadata: Int
    private let pixelCount: Int
    /// Whether the image is large enough for a sample.
    private var hasSample = true
    private var ratios: [(index: Int, logRatio: Double)] = []
    private var samples: [FileSizePrediction.Sample] = []
    private var bracket = FileSizeBracket()

    /// The sizes are in bytes, and that of the headers is approximate.
    init(
        _ ladder: EncodingLadder, drafts: EncodedSizeModel.Drafts, limit: Int, headers: Int, metadata: Int,
        pixelCount: Int
    ) {
        self.ladder = ladder
        self.drafts = drafts
        self.limit = limit
        self.headers = headers
        self.metadata = metadata
        self.pixelCount = pixelCount
    }

    private var low: FileSizePrediction.Sample? { bracket.low }
    private var high: FileSizePrediction.Sample? { bracket.high }

    var smallestByteCount: Int { samples.filter { $0.kind == .file }.map(\.byteCount).min() ?? 0 }

    private func count(_ kind: FileSizePrediction.Kind) -> Int { samples.count { $0.kind == kind } }

    // MARK: Results

    /// Records the size that the draft of a sample implies for a draft of the image, in bytes, or `nil` if the image has no
    /// sample.
    mutating func addPartialDraft(index: Int, byteCount: Int?) {
        guard let byteCount else {
            hasSample = false
            return
        }
        samples.append(FileSizePrediction.Sample(index: index, byteCount: byteCount, kind: .partialDraft))
    }

    mutating func addDraft(index: Int, byteCount: Int) {
        samples.append(FileSizePrediction.Sample(index: index, byteCount: byteCount, kind: .draft))
    }

    /// Records the natural logarithm of the ratio of the size of a file to the size of a draft, or `nil` if the image has
    /// no sample.
    mutating func addRatio(index: Int, logRatio: Double?) {
        ratios.append((index, logRatio ?? self.logRatio(index)))
    }

    /// Records a file, and returns whether it's the best one that fits.
    mutating func addFile(index: Int, byteCount: Int) -> Bool {
        let sample = FileSizePrediction.Sample(index: index, byteCount: byteCount)
        samples.append(sample)
        return bracket.add(sample, limit: limit)
    }

    // MARK: Decisions

    /// Returns the next step, or `nil` if the search is complete.
    func next() -> Step? {
        let top = ladder.count - 1
        guard !samples.isEmpty else { return hasSample ? .partialDraft(top) : .draft(top) }
        let fileCount = count(.file)
        guard fileCount < Self.maxFiles, low?.index != top, high?.index != 0 else { return nil }
        let prediction = FileSizePrediction.best(
            of: samples.map(corrected), ladder, headers: headers, metadata: metadata,
            ratioDeviation: ratios.isEmpty ? Self.unknownRatio : Self.measuredRatio)
        let usable = Double(limit) - prediction.fixedByteCount
        if high == nil, low == nil, usable > 1 {
            let (mean, deviation) = prediction.logSize(top)
            if mean - 2 * deviation <= log(usable) {
                if mean + 2 * deviation <= log(usable) { return .file(top) }
                if let step = refinement(of: top, deviation) { return step }
                // A slightly lower quality saves another file if the requested one possibly exceeds the limit.
                if mean + Self.margin * deviation <= log(usable) { return .file(top) }
            }
        }
        if let low {
            let share = fileCount == 1 ? Self.sufficientShare : Self.lastShare
            if Double(low.byteCount) - prediction.fixedByteCount >= usable * share { return nil }
        }
        let (first, last) = ((low?.index ?? -1) + 1, (high?.index ?? top) - 1)
        guard first <= last else { return nil }
        // The last file decides whether the limit can be met.
        if low == nil, fileCount == Self.maxFiles - 1 { return .file(0) }
        guard usable > 1 else { return .file(first) }
        let index = prediction.index(in: first...last, target: log(usable * Self.aim))
        return refinement(of: index, prediction.logSize(index).deviation) ?? .file(index)
    }

    /// Returns a step that makes the prediction for a rung more precise, or `nil` if none is worth its time.
    private func refinement(of index: Int, _ deviation: Double) -> Step? {
        guard deviation > Self.sufficientDeviation,
            Double(pixelCount) * ladder.pixelShare(index) >= Double(Self.minPixelCount)
        else { return nil }
        // The size can change in large steps, so the nearest partial draft isn't sufficient.
        if hasSample, count(.partialDraft) < Self.maxPartialDrafts, !samples.contains(where: { $0.index == index }) {
            return .partialDraft(index)
        }
        let size = ladder.logSize(index)
        let hasDraft = samples.contains {
            $0.kind != .partialDraft && abs(ladder.logSize($0.index) - size) <= Self.draftDistance
        }
        if !hasDraft, count(.draft) < Self.maxDrafts { return .draft(index) }
        let quality = ladder.qualityLogSize(index)
        let hasRatio = ratios.contains { abs(ladder.qualityLogSize($0.index) - quality) <= Self.ratioDistance }
        return hasRatio || ratios.count == Self.maxRatios ? nil : .ratio(index)
    }

    /// Returns a draft with the expected ratio of the file to it, and files unchanged.
    private func corrected(_ sample: FileSizePrediction.Sample) -> FileSizePrediction.Sample {
        guard sample.kind != .file else { return sample }
        var sample = sample
        sample.logRatio = logRatio(sample.index)
        return sample
    }

    /// Returns the expected natural logarithm of the ratio of the size of a file to the size of a draft.
    private func logRatio(_ index: Int) -> Double {
        let own = ladder.qualityLogSize(index)
        let nearest = ratios.min {
            abs(ladder.qualityLogSize($0.index) - own) < abs(ladder.qualityLogSize($1.index) - own)
        }
        guard let nearest else { return drafts.logRatio + drafts.slope * own }
        return nearest.logRatio + drafts.slope * (own - ladder.qualityLogSize(nearest.index))
    }
}
