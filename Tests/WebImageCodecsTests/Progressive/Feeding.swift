// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore

/// A file that is given to a progressive decoder piece by piece.
struct Feeding {
    let decoder: any ProgressiveDecoder
    let probe: ImageProbe
    private let data: Data
    private let limits: Limits
    private(set) var given = 0

    /// Nil where there are no previews of the file.
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

    /// Gives the bytes up to `end`.
    mutating func give(to end: Int) throws(ImageError) {
        let end = min(data.count, max(given, end))
        let part = data.dropFirst(given).prefix(end - given)
        given = end
        try decoder.append(part, isLast: isOver, context: CodingContext(limits: limits))
    }

    func preview() throws(ImageError) -> Preview? { try decoder.preview(context: CodingContext(limits: limits)) }

    /// Gives the rest in pieces of the sizes that `next` says and returns the final picture. `look` sees the previews in
    /// between.
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

/// The parts of `data` where to cut it: everywhere where it is small, else so many seeded places.
func cuts(of data: Data, everywhereBelow limit: Int = 1_200, random count: Int = 40) -> [Int] {
    guard data.count > limit else { return Array(1..<data.count) }
    var generator = SeededGenerator(UInt64(data.count))
    return (0..<count).map { _ in Int.random(in: 1..<data.count, using: &generator) }
}
