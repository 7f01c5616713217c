// SPDX-License-Identifier: MIT

/// A bounded queue that shares a number of slots between clients and between groups, such as the hosts of sources.
///
/// The clients take turns, so a client with many requests delays the others by one request at most per slot. If the
/// queue is full, a request of a client with few waiting requests replaces the newest request of the client with the
/// most.
///
/// The requests of one group occupy at most three quarters of the slots and three quarters of the queue, so a group whose
/// requests take a long time delays only its own requests. Requests without a group can use all slots.
package struct FairQueue<ID: Hashable> {
    /// The decision about a new request.
    package enum Admission: Equatable {
        /// The request has a slot.
        case runs
        /// The request waits.
        case waits
        /// The request waits, and another request was removed.
        case replaces(ID)
        /// The queue is full.
        case rejected
    }

    private struct Entry {
        let id: ID
        let group: String?
    }

    /// The numbers of requests of a group.
    private struct Usage {
        var running = 0
        var waiting = 0
    }

    /// The number of requests that run at the same time.
    package let slots: Int
    /// The maximum number of waiting requests.
    package let limit: Int
    /// The number of running requests.
    package private(set) var runningCount = 0
    /// The number of waiting requests.
    package private(set) var waitingCount = 0
    private var waiting: [String: [Entry]] = [:]
    private var turns: [String] = []
    private var groups: [String: Usage] = [:]

    /// Creates an empty queue with at least one slot.
    package init(slots: Int, limit: Int) {
        self.slots = max(1, slots)
        self.limit = max(0, limit)
    }

    /// The maximum number of running requests of one group.
    package var groupSlots: Int { max(1, slots - (slots + 3) / 4) }
    /// The maximum number of waiting requests of one group.
    package var groupLimit: Int { min(limit, max(1, limit - (limit + 3) / 4)) }

    /// Adds a request of a client. `group` is `nil` if no limit of a group applies to the request.
    package mutating func add(_ id: ID, client: String, group: String? = nil) -> Admission {
        // Waiting requests never have a slot that they can use, so the new request overtakes none.
        if mayRun(group) {
            begin(group)
            return .runs
        }
        var removed: ID?
        let isGroupFull = group.map { groups[$0, default: Usage()].waiting >= groupLimit } ?? false
        if isGroupFull || waitingCount >= limit {
            guard let (newest, owner) = loser(to: client, in: isGroupFull ? group : nil) else { return .rejected }
            withdraw(newest, client: owner)
            removed = newest
        }
        if waiting[client] == nil { turns.append(client) }
        waiting[client, default: []].append(Entry(id: id, group: group))
        waitingCount += 1
        change(group) { $0.waiting += 1 }
        return removed.map { .replaces($0) } ?? .waits
    }

    /// Removes a waiting request. Returns `false` if it doesn't wait.
    @discardableResult
    package mutating func withdraw(_ id: ID, client: String) -> Bool {
        guard let index = waiting[client]?.firstIndex(where: { $0.id == id }),
            let entry = waiting[client]?.remove(at: index)
        else { return false }
        waitingCount -= 1
        change(entry.group) { $0.waiting -= 1 }
        if waiting[client]?.isEmpty == true {
            waiting[client] = nil
            turns.removeAll { $0 == client }
        }
        return true
    }

    /// Ends a running request of a group, and returns the waiting request that receives a slot, with its group.
    package mutating func finish(group: String? = nil) -> (id: ID, group: String?)? {
        runningCount -= 1
        change(group) { $0.running -= 1 }
        for (turn, client) in turns.enumerated() {
            guard let entry = waiting[client]?.first(where: { mayRun($0.group) }) else { continue }
            withdraw(entry.id, client: client)
            // The next turn of the client comes after those of all others.
            if waiting[client] != nil { turns.append(turns.remove(at: turn)) }
            begin(entry.group)
            return (entry.id, entry.group)
        }
        return nil
    }

    // MARK: - Groups

    private func mayRun(_ group: String?) -> Bool {
        runningCount < slots && group.map { groups[$0, default: Usage()].running < groupSlots } ?? true
    }

    private mutating func begin(_ group: String?) {
        runningCount += 1
        change(group) { $0.running += 1 }
    }

    private mutating func change(_ group: String?, _ update: (inout Usage) -> Void) {
        guard let group else { return }
        var usage = groups[group, default: Usage()]
        update(&usage)
        groups[group] = usage.running == 0 && usage.waiting == 0 ? nil : usage
    }

    /// Returns the newest request of the client with the most waiting requests, or `nil` if no client has at least two more than
    /// `client`. If `group` isn't `nil`, only its requests count.
    private func loser(to client: String, in group: String?) -> (ID, client: String)? {
        let counts = waiting.mapValues { entries in
            group == nil ? entries.count : entries.count { $0.group == group }
        }
        let own = counts[client] ?? 0
        // A client with the same number of requests, or with one more, isn't affected. Otherwise, two clients would
        // replace each other's requests in turn.
        guard let largest = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), largest.value > own + 1,
            let newest = waiting[largest.key]?.last(where: { group == nil || $0.group == group })
        else { return nil }
        return (newest.id, largest.key)
    }
}
