// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension ImageLimits {
    /// Returns the number of idle decoders to keep for an animation, each of which holds `byteCount` bytes.
    func idleDecoders(byteCount: Int) -> Int { maxDecodedBytes / 2 >= byteCount ? 2 : 1 }
}

/// The decoders of one animation's frames.
///
/// A caller takes a decoder from the pool, uses it exclusively and outside the lock, and puts it back. If no decoder
/// is idle, the caller creates another one, so no thread waits until another thread has decoded a frame. The pool
/// keeps up to two idle decoders, for two players at different positions of the animation. If the limits don't have
/// space for the memory of two decoders, it keeps one.
final class DecoderPool<Decoder: ~Copyable>: Sendable {
    /// A decoder and its position.
    ///
    /// Safe: only the caller that took the box from the pool reads or writes it.
    private final class Box: @unchecked Sendable {
        var decoder: Decoder
        /// The frame that was decoded last, or `nil` if decoding failed.
        var frameIndex: Int?

        init(_ decoder: consuming sending Decoder) { self.decoder = decoder }
    }

    private let idleLimit: Int
    private let idle: Lock<[Box]>
    private let make: @Sendable () throws(ImageError) -> sending Decoder

    /// Creates a pool with one decoder. The pool calls `make` to create further decoders.
    ///
    /// - Parameter idleLimit: The maximum number of idle decoders. The default is 2.
    init(
        _ first: consuming sending Decoder, idleLimit: Int = 2,
        make: @escaping @Sendable () throws(ImageError) -> sending Decoder
    ) {
        self.idleLimit = idleLimit
        idle = Lock([Box(first)])
        self.make = make
    }

    /// Decodes the frame `place` with a decoder that no other thread uses.
    func decode<Result>(
        _ place: Int, _ body: (inout Decoder) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        let box = try borrow(for: place)
        box.frameIndex = nil
        defer { putBack(box) }
        let result = try body(&box.decoder)
        box.frameIndex = place
        return result
    }

    /// Takes the decoder with the shortest path to `place`. A decoder advances one frame at a time and restarts to go
    /// back.
    private func borrow(for place: Int) throws(ImageError) -> Box {
        let taken = idle.withLock { idle -> Box? in
            let ahead = idle.indices.filter { idle[$0].frameIndex.map { $0 <= place } ?? false }
            let best = ahead.max { (idle[$0].frameIndex ?? 0) < (idle[$1].frameIndex ?? 0) } ?? idle.indices.first
            return best.map { idle.remove(at: $0) }
        }
        if let taken { return taken }
        return Box(try make())
    }

    private func putBack(_ box: Box) {
        // If the pool is full, the box is released after unlocking.
        idle.withLock { if $0.count < idleLimit { $0.append(box) } }
    }
}
