// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageCore

/// The timeouts of the running transfers, for the loop and the callbacks of libcurl.
final class TransferTimeouts {
    private let bodyBudget: Int
    private let minimumSpeed: ImageDownloader.Configuration.MinimumSpeed?
    /// The earliest deadline, in nanoseconds of the monotonic clock. The actual deadline of a transfer can be later.
    private var next = Int64.max

    init(_ configuration: ImageDownloader.Configuration) {
        bodyBudget = configuration.maxBodyBytesInFlight
        minimumSpeed = configuration.minimumSpeed
    }

    func mustCheck(at now: Int64) -> Bool {
        guard now >= next else { return false }
        next = .max
        return true
    }

    /// Returns the error of a transfer that timed out, or otherwise `nil` after scheduling its next check.
    func check(_ transfer: Transfer, among running: [UInt64: Transfer], now: Int64) -> ImageError? {
        if let failure = lateness(of: transfer, among: running, now: now) { return failure }
        schedule(transfer, now: now)
        return nil
    }

    func schedule(_ transfer: Transfer, now: Int64) { add(deadline(of: transfer, now: now)) }
    func add(_ deadline: Int64) { next = min(next, deadline) }

    private func lateness(of transfer: Transfer, among running: [UInt64: Transfer], now: Int64) -> ImageError? {
        let limits = transfer.request.timeouts
        if let deadline = transfer.ignoredBodyDeadline, now >= deadline {
            return transfer.failure(.timedOut, phase: .receivingBody, detail: "the ignored body is incomplete")
        }
        if let deadline = pauseDeadline(of: transfer) {
            guard now >= deadline else { return nil }
            return transfer.failure(
                .timedOut, phase: .total,
                detail: "the bodies in flight exceed \(bodyBudget) bytes")
        }
        if now >= transfer.started + MonotonicTime.nanoseconds(limits.total) + transfer.pausedTime {
            let total = transfer.request.wholeTimeout ?? limits.total
            return transfer.failure(
                .timedOut, phase: .total, detail: "the total timeout is \(LoadTimeouts.text(total))")
        }
        if transfer.isTooSlow(at: now), let minimum = minimumSpeed {
            return transfer.failure(
                .timedOut, phase: .receivingBody,
                detail: "the body is slower than \(minimum.bytesPerSecond) bytes/s for "
                    + LoadTimeouts.text(minimum.duration / .seconds(1)))
        }
        let phase = transfer.phase
        guard phase == .waitingForResponse || phase == .receivingBody else {
            // libcurl enforces the connection timeout itself, but not while a transfer waits for the connection of
            // another one.
            if hasOthersAtWork(transfer, running) { transfer.lastActivity = now }
            let limit = MonotonicTime.nanoseconds(limits.connect) + 250_000_000
            guard now >= transfer.lastActivity + limit else { return nil }
            return transfer.failure(
                .timedOut, phase: phase, detail: "the connection timeout is \(LoadTimeouts.text(limits.connect))")
        }
        recordRequestSent(transfer)
        if isBehindPausedStream(transfer, running) { transfer.lastActivity = now }
        guard transfer.isIdle(for: idleLimit(of: transfer), at: now) else { return nil }
        recordBytes(transfer, now: now)
        guard transfer.isIdle(for: idleLimit(of: transfer), at: now) else { return nil }
        return transfer.failure(.timedOut, phase: phase, detail: "no data for \(LoadTimeouts.text(limits.idle))")
    }

    /// If so, a transfer without a connection waits for a stream or a slot there, and the other transfer has its own
    /// timeouts.
    private func hasOthersAtWork(_ transfer: Transfer, _ running: [UInt64: Transfer]) -> Bool {
        running.values.contains {
            $0 !== transfer && $0.request.origin == transfer.request.origin
                && [.waitingForResponse, .receivingBody].contains($0.phase)
        }
    }

    /// Returns whether a paused transfer uses the same HTTP/2 connection, because its data blocks the other streams.
    private func isBehindPausedStream(_ transfer: Transfer, _ running: [UInt64: Transfer]) -> Bool {
        guard let connection = transfer.connection, connection.isMultiplexed else { return false }
        return running.values.contains { $0.isPaused && $0.connection === connection }
    }

    private func recordRequestSent(_ transfer: Transfer) {
        guard !transfer.hasBytes, let handle = transfer.handle else { return }
        let sent = transfer.started + Int64(handle.offset(CURLINFO_PRETRANSFER_TIME_T)) * 1_000
        transfer.lastActivity = max(transfer.lastActivity, sent)
    }

    /// Accounts for received bytes that no callback has seen, such as those of an incomplete header line or TLS
    /// record. The streams of an HTTP/2 connection can't be distinguished in this way.
    private func recordBytes(_ transfer: Transfer, now: Int64) {
        guard let connection = transfer.connection, !connection.isMultiplexed, let idle = connection.idleMilliseconds
        else { return }
        transfer.lastActivity = max(transfer.lastActivity, now - idle * 1_000_000)
    }

    /// Returns the next time to check the transfer, in nanoseconds of the monotonic clock.
    private func deadline(of transfer: Transfer, now: Int64) -> Int64 {
        if let deadline = pauseDeadline(of: transfer) { return deadline }
        let limits = transfer.request.timeouts
        let end = transfer.started + MonotonicTime.nanoseconds(limits.total) + transfer.pausedTime
        let total = min(end, transfer.ignoredBodyDeadline ?? .max, transfer.speedDeadline ?? .max)
        let idle = idleLimit(of: transfer)
        guard transfer.phase == .waitingForResponse || transfer.phase == .receivingBody else {
            // The start of the wait for the first byte is still unknown, so check several times.
            let connect = MonotonicTime.nanoseconds(limits.connect) + 250_000_000
            return min(total, transfer.lastActivity + connect, now + max(idle / 4, 10_000_000))
        }
        return min(total, transfer.lastActivity + idle)
    }

    /// Returns `nil` if the transfer isn't paused. Without this limit, code that loads another image while it retains
    /// bodies could wait indefinitely.
    private func pauseDeadline(of transfer: Transfer) -> Int64? {
        transfer.pauseStart.map { $0 + MonotonicTime.nanoseconds(transfer.request.timeouts.total) }
    }

    /// For a discarded body, the timeout is at most one second, so the slot becomes available soon.
    private func idleLimit(of transfer: Transfer) -> Int64 {
        let idle = MonotonicTime.nanoseconds(transfer.request.timeouts.idle)
        return transfer.isDiscarding ? min(idle, 1_000_000_000) : idle
    }

    /// Returns the number of milliseconds until the next check or the given start of a transfer.
    func milliseconds(toStart start: Int64?) -> Int32 {
        let next = min(next, start ?? .max)
        guard next != .max else { return 3_600_000 }
        let left = next - MonotonicTime.now
        return Int32(clamping: max(0, (left + 999_999) / 1_000_000))
    }
}
