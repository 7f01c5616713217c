// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The decoders that the animations of the process keep between frames.
///
/// The table bounds their number and their memory. If a bound is reached, the table closes the decoder that was used the
/// longest time ago. Decoders that animations used within the last two seconds aren't closed, because they belong to
/// animations that play, which would otherwise close each other's decoders for each frame.
final class AnimationDecoderTable: Sendable {
    static let shared = AnimationDecoderTable()
    /// The number of seconds after the last frame during which a decoder isn't closed.
    static let protectedSeconds = 2.0

    /// The permission to keep a decoder. Releasing it removes the decoder from the table.
    final class Ticket: Sendable {
        let number: UInt64
        private let table: AnimationDecoderTable

        fileprivate init(_ number: UInt64, _ table: AnimationDecoderTable) {
            self.number = number
            self.table = table
        }

        deinit { table.remove(number) }

        /// Reports that a frame is decoded.
        func begin() { table.mark(number, isIdle: false) }
        /// Reports that the decoder is idle.
        func end() { table.mark(number, isIdle: true) }
    }

    private struct Entry {
        let byteCount: Int
        var lastUse: Double
        var isIdle = false
        /// A closure that closes the decoder, unless it's in use.
        let close: @Sendable (UInt64) -> Void
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var byteCount = 0
        var lastNumber: UInt64 = 0
    }

    private enum Step {
        case opened(UInt64)
        case close(UInt64, @Sendable (UInt64) -> Void)
        case failed(ImageError)
    }

    private let state = Lock(State())
    private let time: TimeSource

    init(time: TimeSource = .system) { self.time = time }

    var count: Int { state.withLock { $0.entries.count } }

    /// Returns the permission to keep another decoder, which is in use until ``Ticket/end()``. `close` closes the
    /// decoder with a number, unless it's in use. Any thread may call it. Throws an ``ImageError/LimitFailure`` of the
    /// kind ``ImageError/LimitFailure/Kind/animationDecoderCount`` or ``ImageError/LimitFailure/Kind/decodedSize``.
    func open(
        byteCount: Int, limits: ImageLimits, close: @escaping @Sendable (UInt64) -> Void
    ) throws(ImageError) -> Ticket {
        while true {
            let now = time.uptime()
            switch state.withLock({ Self.step(&$0, byteCount, limits, now, close) }) {
            case .opened(let number): return Ticket(number, self)
            // The decoder is released outside the lock, because that removes its entry.
            case .close(let number, let close): close(number)
            case .failed(let error): throw error
            }
        }
    }

    private static func step(
        _ state: inout State, _ byteCount: Int, _ limits: ImageLimits, _ now: Double,
        _ close: @escaping @Sendable (UInt64) -> Void
    ) -> Step {
        guard let error = failure(state, byteCount, limits) else {
            state.lastNumber += 1
            state.byteCount += byteCount
            state.entries[state.lastNumber] = Entry(byteCount: byteCount, lastUse: now, close: close)
            return .opened(state.lastNumber)
        }
        let candidates = state.entries.filter { $0.value.isIdle && now - $0.value.lastUse >= protectedSeconds }
        guard let oldest = candidates.min(by: { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) }) else {
            return .failed(error)
        }
        // Don't select the decoder again if its animation has just begun to use it.
        state.entries[oldest.key]?.isIdle = false
        return .close(oldest.key, oldest.value.close)
    }

    private static func failure(_ state: State, _ byteCount: Int, _ limits: ImageLimits) -> ImageError? {
        let count = state.entries.count + 1
        guard count <= limits.maxAnimationDecoders else {
            return .limitExceeded(
                ImageError.LimitFailure(.animationDecoderCount, limit: limits.maxAnimationDecoders, actual: count))
        }
        let (byteLimit, isUnlimited) = limits.maxDecodedBytes.multipliedReportingOverflow(by: 4)
        let (bytes, isHuge) = state.byteCount.addingReportingOverflow(byteCount)
        guard !isUnlimited, isHuge || bytes > byteLimit else { return nil }
        return .limitExceeded(
            ImageError.LimitFailure(
                .decodedSize, limit: byteLimit, actual: isHuge ? .max : bytes,
                detail: "the canvases of all animations in use"))
    }

    private func mark(_ number: UInt64, isIdle: Bool) {
        let now = time.uptime()
        state.withLock { state in
            state.entries[number]?.isIdle = isIdle
            state.entries[number]?.lastUse = now
        }
    }

    private func remove(_ number: UInt64) {
        state.withLock { state in
            if let entry = state.entries.removeValue(forKey: number) { state.byteCount -= entry.byteCount }
        }
    }
}
