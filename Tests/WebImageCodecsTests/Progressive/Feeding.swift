// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore

/// A file that is passed to a progressive decoder incrementally.
struct Feeding {
    let decoder: any ProgressiveDecoder
    let probe: ImageProbe
    private let data: Data
    private let limits: Limits
    private(set) var given = 0

    /// Creates a feeding, or returns `nil` if the file has no previews.
    init?(_ data: Data, options: DecodeOptions = DecodeOptions(), limits: Limits = .desktop) throws(ImageError) {
        let start = try CoderRegistry.standard.progressiveStart(
            data, encodedBytes: data.count, options: options, context: CodingContext(limits: limits))
        guard case .decoder(let decoder, let probe) = start else { return nil }
        self.decoder = decoder
        self.probe = probe
        self.data = data
        self.limits = limits
    }

    var isOver: Bool { given == data.count }

    /// Appends the bytes up to `end`.
    mutating func give(to end: Int) throws(ImageError) {
        let end = min(data.count, max(given, end))
        let part = data.dropFirst(given).prefix(end - given)
        given = end
        try decoder.append(part, isLast: isOver, context: CodingContext(limits: limits))
    }

    func preview() throws(ImageError) -> Preview? { try decoder.preview(context: CodingContext(limits: limits)) }

    /// Appends the remaining bytes and returns the final preview.
    ///
    /// - Parameters:
    ///   - next: Returns the size of the next chunk, in bytes.
    ///   - look: Receives the previews in between.
    mutating func finish(
        pieces next: () -> Int = { .max }, look: ((Preview) -> Void)? = nil
    ) throws(ImageError) -> Preview? {
        while !isOver {
            try give(to: given + min(data.count, max(1, next())))
            if !isOver, let look, let preview = try preview() { look(preview) }
        }
        return try preview()
    }
}

/// Returns the offsets at which to split `data`: all offsets if the data is small, and otherwise `count` random
/// offsets from a fixed seed.
func cuts(of data: Data, everywhereBelow limit: Int = 1_200, random count: Int = 40) -> [Int] {
    guard data.count > limit else { return Array(1..<data.count) }
    var generator = SeededGenerator(UInt64(data.count))
    return (0..<count).map { _ in Int.random(in: 1..<data.count, using: &generator) }
}
