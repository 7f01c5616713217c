// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore

/// A file that is passed to a progressive decoder incrementally.
struct Feeding {
    let decoder: any ProgressiveImageDecoder
    let probe: ImageInfo
    private let data: Data
    private let limits: ImageLimits
    private(set) var appendedCount = 0

    /// Creates a feeding, or returns `nil` if the file has no previews.
    init?(_ data: Data, options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop)
        throws(ImageError)
    {
        let start = try ImageCoderRegistry.standard.progressiveStart(
            data, encodedBytes: data.count, options: options, context: ImageProcessingContext(limits: limits))
        guard case .decoder(let decoder, let probe) = start else { return nil }
        self.decoder = decoder
        self.probe = probe
        self.data = data
        self.limits = limits
    }

    var isFinished: Bool { appendedCount == data.count }

    /// Appends the bytes up to `end`.
    mutating func append(to end: Int) throws(ImageError) {
        let end = min(data.count, max(appendedCount, end))
        let part = data.dropFirst(appendedCount).prefix(end - appendedCount)
        appendedCount = end
        try decoder.append(part, isLast: isFinished, context: ImageProcessingContext(limits: limits))
    }

    func preview() throws(ImageError) -> ImagePreview? {
        try decoder.makePreview(context: ImageProcessingContext(limits: limits))
    }

    /// Appends the remaining bytes and returns the final preview.
    ///
    /// - Parameters:
    ///   - next: Returns the size of the next chunk, in bytes.
    ///   - inspect: Receives the previews in between.
    mutating func finish(
        chunks next: () -> Int = { .max }, inspect: ((ImagePreview) -> Void)? = nil
    ) throws(ImageError) -> ImagePreview? {
        while !isFinished {
            try append(to: appendedCount + min(data.count, max(1, next())))
            if !isFinished, let inspect, let preview = try preview() { inspect(preview) }
        }
        return try preview()
    }
}

/// Returns the offsets at which to split `data`: `count` random offsets from a fixed seed, or all offsets if the data
/// is small.
///
/// Without the long variants of tests, only each third offset of small data is returned. The first offset depends on
/// the size of the file, so the tests split the structure of a format everywhere.
func cuts(of data: Data, everywhereBelow limit: Int = 1_200, random count: Int = 40) -> [Int] {
    guard data.count > limit else {
        let step = LongTests.areEnabled ? 1 : 3
        return Array(stride(from: 1 + data.count % step, to: data.count, by: step))
    }
    var generator = SeededGenerator(UInt64(data.count))
    return (0..<count).map { _ in Int.random(in: 1..<data.count, using: &generator) }
}
