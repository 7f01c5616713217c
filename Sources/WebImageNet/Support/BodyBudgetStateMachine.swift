// SPDX-License-Identifier: MIT

import WebImageCore

/// The decisions of the budget that all response bodies of a process share: which transfers receive data, and which
/// ones are paused.
///
/// It's a pure state machine without sockets or locks. Below the limit, all transfers receive data. At the limit, only
/// one transfer does, the leader: the one with the highest priority, and of these, the oldest. Its own size limit
/// bounds its body, so it finishes and releases its memory. So no two transfers wait for each other. The leader waits
/// only if finished bodies that are still in use fill half of the budget, because they're released without the network.
///
/// Data of a paused HTTP/2 stream would block the other streams of its connection. Therefore, the transfers of one
/// connection form a group that is paused as a whole. If the group of the leader exceeds the limit again, its other
/// transfers fail.
struct BodyBudgetStateMachine: Sendable {
    /// The action for data that arrived.
    enum Decision: Hashable {
        case receive
        /// Pause the transfer until it's resumed.
        case pause
        case fail
    }

    private struct Member {
        let order: Int
        var priority: RequestPriority
        /// The connection that the transfer shares with others, or `nil` for a connection of its own.
        var group: Int?
        var bytes = 0
        var isPaused = false
        /// Whether the transfer runs. The body of a finished transfer may still be in use.
        var isRunning = true
    }

    /// The number of bytes for which one paused transfer is resumed.
    static let step = 256 << 10

    /// The minimum of ``finishedLimit``, which exceeds the data that a manager retains while requests run.
    static let leastFinishedLimit = 8 << 20

    /// The limit in bytes.
    let limit: Int
    /// The size of finished bodies in use, in bytes, from which on the leader waits for their release.
    let finishedLimit: Int
    /// The size of finished bodies that are still in use, in bytes.
    private var finished = 0
    /// The size of all bodies, in bytes.
    private(set) var used = 0
    private var members: [Int: Member] = [:]
    private var leader: Int?
    private var next = 0

    init(limit: Int) {
        self.limit = max(0, limit)
        finishedLimit = max(self.limit / 2, Self.leastFinishedLimit)
    }

    private(set) var pausedCount = 0

    mutating func add(_ priority: RequestPriority) -> Int {
        next += 1
        members[next] = Member(order: next, priority: priority)
        return next
    }

    /// `group` identifies a connection with several transfers, or is `nil`. Also returns the transfers to resume.
    mutating func arrive(_ id: Int, group: Int?) -> (decision: Decision, resumed: [Int]) {
        guard let member = members[id] else { return (.receive, []) }
        // This method runs for each chunk, so don't change the table without need.
        if member.group != group { members[id]?.group = group }
        if member.isPaused { setPaused(id, false) }
        guard used >= limit else {
            leader = nil
            return (.receive, [])
        }
        guard finished < finishedLimit else {
            if leader == id { leader = nil }
            setPaused(id, true)
            return (.pause, [])
        }
        if leader == id { return (.receive, resumeGroup(of: id)) }
        if let first = leader.flatMap({ members[$0] }) {
            // To pause another stream of the same connection would block the leader.
            if let group, first.group == group { return (used - limit >= limit ? .fail : .receive, []) }
            // The orders are swapped, because among equal priorities the older transfer, with the smaller number, is
            // preferred.
            guard (member.priority, first.order) > (first.priority, member.order) else {
                setPaused(id, true)
                return (.pause, [])
            }
        }
        leader = id
        return (.receive, resumeGroup(of: id))
    }

    /// Resumes the other transfers of a connection, because they would block `id`, and returns them.
    private mutating func resumeGroup(of id: Int) -> [Int] {
        guard pausedCount > 0, let group = members[id]?.group else { return [] }
        let peers = members.filter { $0.value.isPaused && $0.value.group == group }.map(\.key).sorted()
        for peer in peers { setPaused(peer, false) }
        return peers
    }

    private mutating func setPaused(_ id: Int, _ isPaused: Bool) {
        guard let wasPaused = members[id]?.isPaused, wasPaused != isPaused else { return }
        members[id]?.isPaused = isPaused
        pausedCount += isPaused ? 1 : -1
    }

    mutating func charge(_ id: Int, _ bytes: Int) {
        guard let known = members[id]?.bytes else { return }
        members[id]?.bytes = max(0, bytes)
        used += max(0, bytes) - known
        if members[id]?.isRunning == false { finished += max(0, bytes) - known }
    }

    /// Changes the priority of a transfer. Returns the transfers to resume.
    mutating func setPriority(_ id: Int, _ priority: RequestPriority) -> [Int] {
        guard members[id] != nil else { return [] }
        members[id]?.priority = priority
        return pausedToResume()
    }

    /// Ends a transfer whose body remains in use. Returns the transfers to resume.
    mutating func finish(_ id: Int) -> [Int] {
        guard let member = members[id], member.isRunning else { return [] }
        finished += member.bytes
        members[id]?.isRunning = false
        setPaused(id, false)
        if leader == id { leader = nil }
        return pausedToResume()
    }

    /// Removes a transfer and its body. Returns the transfers to resume.
    mutating func remove(_ id: Int) -> [Int] {
        guard let member = members.removeValue(forKey: id) else { return [] }
        used -= member.bytes
        if member.isPaused { pausedCount -= 1 }
        if !member.isRunning { finished -= member.bytes }
        if leader == id { leader = nil }
        return pausedToResume()
    }

    /// Returns the transfers that can receive data again, the most urgent one first. They're no longer paused.
    private mutating func pausedToResume() -> [Int] {
        guard pausedCount > 0 else { return [] }
        let paused = members.filter { $0.value.isPaused }.sorted {
            ($0.value.priority, $1.value.order) > ($1.value.priority, $0.value.order)
        }
        guard let first = paused.first else { return [] }
        var resumed: [Int] = []
        if used < limit {
            // Each resumed transfer delivers the data that libcurl retained for it, so resume only as many as there is
            // room for.
            let room = max(1, (limit - used) / Self.step)
            resumed = paused.prefix(room).map(\.key)
        } else {
            guard finished < finishedLimit else { return [] }
            let current = leader.flatMap { members[$0] }
            let isMoreUrgent = current.map { $0.priority < first.value.priority } ?? true
            guard isMoreUrgent else { return [] }
            leader = first.key
            resumed = [first.key]
        }
        for id in resumed { setPaused(id, false) }
        return resumed + resumed.flatMap { resumeGroup(of: $0) }
    }
}
