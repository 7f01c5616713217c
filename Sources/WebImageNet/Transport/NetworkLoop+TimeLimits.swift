// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageCore

/// Time limits.
extension NetworkLoop {
    /// True where anything ended.
    func finishLate() -> Bool {
        let now = MonotonicTime.now
        guard now >= nextDeadline else { return false }
        var hasEnded = false
        nextDeadline = .max
        for transfer in Array(running.values) {
            if let failure = lateness(of: transfer, now: now) {
                hasEnded = true
                end(transfer, .failure(failure))
            } else {
                nextDeadline = min(nextDeadline, deadline(of: transfer, now: now))
            }
        }
        return hasEnded
    }

    /// The error of a transfer that is late; nil where it has time.
    private func lateness(of transfer: Transfer, now: Int64) -> ImageError? {
        let limits = transfer.request.timeouts
        if now >= transfer.started + MonotonicTime.nanoseconds(limits.total) {
            return transfer.failure(.timedOut, phase: .total, detail: "\(limits.total) s")
        }
        let phase = transfer.phase
        guard phase == .head || phase == .body else {
            // libcurl watches over the connection's time itself, but not while a transfer waits for another's.
            if hasOthersAtWork(transfer) { transfer.lastActivity = now }
            let limit = MonotonicTime.nanoseconds(limits.connect) + 250_000_000
            guard now >= transfer.lastActivity + limit else { return nil }
            return transfer.failure(.timedOut, phase: phase, detail: "\(limits.connect) s")
        }
        noteRequestSent(transfer)
        guard transfer.isIdle(for: idleLimit(of: transfer), at: now) else { return nil }
        noteBytes(transfer, now: now)
        guard transfer.isIdle(for: idleLimit(of: transfer), at: now) else { return nil }
        return transfer.failure(.timedOut, phase: phase, detail: "no byte for \(limits.idle) s")
    }

    /// Whether a connection to the same origin stands: a transfer without one waits for a stream or a place there,
    /// and whoever holds it has a time limit of its own.
    private func hasOthersAtWork(_ transfer: Transfer) -> Bool {
        running.values.contains {
            $0 !== transfer && $0.request.origin == transfer.request.origin && [.head, .body].contains($0.phase)
        }
    }

    /// The wait for the first byte begins when the connection stands.
    private func noteRequestSent(_ transfer: Transfer) {
        guard !transfer.hasBytes, let handle = transfer.handle else { return }
        let sent = transfer.started + Int64(handle.offset(CURLINFO_PRETRANSFER_TIME_T)) * 1_000
        transfer.lastActivity = max(transfer.lastActivity, sent)
    }

    /// Takes bytes into account that came but that no callback has seen, such as those of an unfinished line of the head
    /// or TLS record. The streams of an HTTP/2 connection can't be distinguished that way.
    private func noteBytes(_ transfer: Transfer, now: Int64) {
        guard let connection = transfer.connection, !connection.isMultiplexed, let idle = connection.idleMilliseconds
        else { return }
        transfer.lastActivity = max(transfer.lastActivity, now - idle * 1_000_000)
    }

    /// When to look at the transfer again.
    func deadline(of transfer: Transfer, now: Int64) -> Int64 {
        let limits = transfer.request.timeouts
        let total = transfer.started + MonotonicTime.nanoseconds(limits.total)
        let idle = idleLimit(of: transfer)
        guard transfer.phase == .head || transfer.phase == .body else {
            // Not known yet when the wait for the first byte begins: look a few times.
            let connect = MonotonicTime.nanoseconds(limits.connect) + 250_000_000
            return min(total, transfer.lastActivity + connect, now + max(idle / 4, 10_000_000))
        }
        return min(total, transfer.lastActivity + idle)
    }

    /// Nobody waits for the rest of an uninteresting body: a second, then its place goes to others.
    private func idleLimit(of transfer: Transfer) -> Int64 {
        let idle = MonotonicTime.nanoseconds(transfer.request.timeouts.idle)
        return transfer.isDiscarding ? min(idle, 1_000_000_000) : idle
    }

    func pollTimeout() -> Int32 {
        var next = nextDeadline
        if !isSuspended, admission.canStart, let start = limiter.nextStart { next = min(next, start) }
        guard next != .max else { return 3_600_000 }
        let left = next - MonotonicTime.now
        return Int32(clamping: max(0, (left + 999_999) / 1_000_000))
    }
}
