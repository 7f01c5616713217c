// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// The transfers that wait for their start, and the limits that decide when they start.
final class WaitingTransfers {
    private var queue: TransferQueue
    private var limiter: TokenBucket
    private var transfers: [UInt64: Transfer] = [:]
    /// The transfers that were enqueued in this pass and want to know why they wait.
    private var arrivals: [UInt64] = []
    var isSuspended = false

    init(_ configuration: ImageDownloader.Configuration) {
        queue = TransferQueue(
            perOrigin: configuration.maxConnectionsPerHost, perMultiplexedOrigin: configuration.maxStreamsPerConnection,
            total: configuration.maxConnections, order: configuration.queueOrder)
        limiter = TokenBucket(
            perSecond: configuration.maxStartsPerSecond, burst: configuration.startBurst, now: MonotonicTime.now)
    }

    func setLimits(_ limits: ConnectionLimits) { queue.setLimits(perOrigin: limits.perHost, total: limits.total) }

    func enqueue(_ submission: QueuedTransfer) {
        transfers[submission.id] = Transfer(submission)
        queue.enqueue(submission.id, origin: submission.request.origin, priority: submission.priority)
        if submission.requestsBody { arrivals.append(submission.id) }
    }

    func remove(_ id: UInt64) -> Transfer? {
        guard let transfer = transfers.removeValue(forKey: id) else { return nil }
        queue.remove(id)
        return transfer
    }

    func removeAll() -> [Transfer] {
        defer { transfers = [:] }
        return Array(transfers.values)
    }

    func setPriority(_ id: UInt64, _ priority: RequestPriority) {
        queue.setPriority(id, priority)
        transfers[id]?.setPriority(priority)
    }

    /// Removes and returns the transfer that may start, or returns `nil` if all must wait. It then has a slot.
    func next() -> Transfer? {
        while !isSuspended, limiter.allowsStart(now: MonotonicTime.now), let id = queue.next() {
            if let transfer = transfers.removeValue(forKey: id) { return transfer }
        }
        return nil
    }

    func recordStart() { limiter.recordStart() }
    /// Returns the time at which the start rate allows a transfer that otherwise can start.
    var nextStart: Int64? { !isSuspended && queue.canStart ? limiter.nextStart : nil }

    func releaseSlot(of transfer: Transfer) { queue.release(origin: transfer.request.origin) }
    func setMultiplexed(_ origin: String) { queue.setMultiplexed(origin) }

    /// Reports the reason for the wait to transfers that were enqueued and didn't start.
    func reportReasons() {
        guard !arrivals.isEmpty else { return }
        for id in arrivals {
            guard let submission = transfers[id]?.submission, !submission.promise.isResolved else { continue }
            submission.observer(.waiting(reason(of: id)))
        }
        arrivals.removeAll(keepingCapacity: true)
    }

    private func reason(of id: UInt64) -> WaitReason {
        if let reason = queue.waitReason(of: id) { return reason }
        return isSuspended ? .connectionLimit : .rateLimit
    }
}
