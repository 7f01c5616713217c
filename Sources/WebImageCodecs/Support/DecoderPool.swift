// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The decoders of one animation's frames.
///
/// A caller takes a decoder out, works with it alone and outside the lock, and puts it back. A caller that finds no idle
/// decoder makes another one, so no thread waits until another thread has decoded a frame. Two idle decoders are kept, for
/// two players at different places of the animation.
final class DecoderPool<Decoder: ~Copyable>: Sendable {
    /// A decoder and where it is.
    ///
    /// Safe: only the caller that took the box out of the pool reads or writes it.
    private final class Box: @unchecked Sendable {
        var decoder: Decoder
        /// The last frame that was decoded; nil if that failed.
        var place: Int?

        init(_ decoder: consuming sending Decoder) { self.decoder = decoder }
    }

    private static var mostIdle: Int { 2 }

    private let idle: Lock<[Box]>
    private let make: @Sendable () throws(ImageError) -> sending Decoder

    /// Creates a pool with one decoder; `make` makes further ones.
    init(_ first: consuming sending Decoder, make: @escaping @Sendable () throws(ImageError) -> sending Decoder) {
        idle = Lock([Box(first)])
        self.make = make
    }

    /// Decodes the frame `place` with a decoder that no other thread uses.
    func decode<Result>(
        _ place: Int, _ body: (inout Decoder) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        let box = try take(for: place)
        box.place = nil
        defer { putBack(box) }
        let result = try body(&box.decoder)
        box.place = place
        return result
    }

    /// The decoder that has the shortest way to `place`: going forward is one frame at a time, going back begins again.
    private func take(for place: Int) throws(ImageError) -> Box {
        let taken = idle.withLock { idle -> Box? in
            let ahead = idle.indices.filter { idle[$0].place.map { $0 <= place } ?? false }
            let best = ahead.max { (idle[$0].place ?? 0) < (idle[$1].place ?? 0) } ?? idle.indices.first
            return best.map { idle.remove(at: $0) }
        }
        if let taken { return taken }
        return Box(try make())
    }

    private func putBack(_ box: Box) {
        // A box that is too many is released after the lock.
        idle.withLock { if $0.count < Self.mostIdle { $0.append(box) } }
    }
}
