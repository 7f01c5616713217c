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
///
/// The ``AnimationDecoderTable`` bounds the decoders of all pools. It closes idle decoders, and the pool creates them
/// again for the next frame.
final class DecoderPool<Decoder: ~Copyable>: Sendable {
    /// A decoder and its position.
    ///
    /// Safe: only the caller that took the box from the pool reads or writes it.
    private final class Box: @unchecked Sendable {
        var decoder: Decoder
        /// The frame that was decoded last, or `nil` if decoding failed.
        var frameIndex: Int?
        /// The permission to keep the decoder, or `nil` if it's closed after one frame.
        let ticket: AnimationDecoderTable.Ticket?

        init(_ decoder: consuming sending Decoder, _ ticket: AnimationDecoderTable.Ticket?) {
            self.decoder = decoder
            self.ticket = ticket
        }
    }

    private struct State {
        var idle: [Box] = []
        /// Whether a frame was requested.
        var isUsed = false
    }

    private let byteCount: Int
    private let limits: ImageLimits
    private let table: AnimationDecoderTable
    private let state = Lock(State())
    private let make: @Sendable () throws(ImageError) -> sending Decoder

    /// Creates a pool with one decoder. The pool calls `make` to create further decoders. `byteCount` is the memory of
    /// one decoder.
    init(
        _ first: consuming sending Decoder, byteCount: Int, limits: ImageLimits,
        table: AnimationDecoderTable = .shared,
        make: @escaping @Sendable () throws(ImageError) -> sending Decoder
    ) {
        self.byteCount = byteCount
        self.limits = limits
        self.table = table
        self.make = make
        // Without permission, the decoder is closed, and the first frame opens another one.
        putBack(Box(first, try? openTicket()))
    }

    /// Decodes the frame `place` with a decoder that no other thread uses. The first call always obtains a decoder, so
    /// that each animation can show a frame. Throws the error of `body`, or the ``ImageError/LimitFailure`` of
    /// ``AnimationDecoderTable``.
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
        let (taken, isFirst) = state.withLock { state -> (Box?, Bool) in
            let isFirst = !state.isUsed
            state.isUsed = true
            let ahead = state.idle.indices.filter { state.idle[$0].frameIndex.map { $0 <= place } ?? false }
            let best =
                ahead.max { (state.idle[$0].frameIndex ?? 0) < (state.idle[$1].frameIndex ?? 0) }
                ?? state.idle.indices.first
            return (best.map { state.idle.remove(at: $0) }, isFirst)
        }
        if let taken {
            taken.ticket?.begin()
            return taken
        }
        var ticket: AnimationDecoderTable.Ticket?
        do throws(ImageError) {
            ticket = try openTicket()
        } catch {
            guard isFirst else { throw error }
        }
        return Box(try make(), ticket)
    }

    private func putBack(_ box: Box) {
        guard let ticket = box.ticket else { return }
        let idleLimit = limits.idleDecoders(byteCount: byteCount)
        // If the pool is full, the box is released after unlocking.
        let isKept = state.withLock { state in
            guard state.idle.count < idleLimit else { return false }
            state.idle.append(box)
            return true
        }
        if isKept { ticket.end() }
    }

    private func openTicket() throws(ImageError) -> AnimationDecoderTable.Ticket {
        try table.open(byteCount: byteCount, limits: limits) { [weak self] number in self?.close(number) }
    }

    /// Closes the decoder with a number if it's idle. The box is released after unlocking.
    private func close(_ number: UInt64) {
        _ = state.withLock { state -> Box? in
            state.idle.firstIndex { $0.ticket?.number == number }.map { state.idle.remove(at: $0) }
        }
    }
}
