// SPDX-License-Identifier: MIT

/// A bounded queue that shares a number of slots between clients.
///
/// The clients take turns, so a client with many requests delays the others by one request at most per slot. If the
/// queue is full, a request of a client with few waiting requests replaces the newest request of the client with the
/// most.
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

    /// The number of requests that run at the same time.
    package let slots: Int
    /// The maximum number of waiting requests.
    package let limit: Int
    /// The number of running requests.
    package private(set) var runningCount = 0
    /// The number of waiting requests.
    package private(set) var waitingCount = 0
    private var waiting: [String: [ID]] = [:]
    private var turns: [String] = []

    /// Creates an empty queue with at least one slot.
    package init(slots: Int, limit: Int) {
        self.slots = max(1, slots)
        self.limit = max(0, limit)
    }

    /// Adds a request of a client.
    package mutating func add(_ id: ID, client: String) -> Admission {
        if runningCount < slots {
            runningCount += 1
            return .runs
        }
        var removed: ID?
        if waitingCount >= limit {
            let own = waiting[client]?.count ?? 0
            // A client with the same number of requests, or with one more, isn't affected. Otherwise, two clients would
            // replace each other's requests in turn.
            guard let largest = waiting.max(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) }),
                largest.value.count > own + 1, let newest = largest.value.last
            else { return .rejected }
            withdraw(newest, client: largest.key)
            removed = newest
        }
        if waiting[client] == nil { turns.append(client) }
        waiting[client, default: []].append(id)
        waitingCount += 1
        return removed.map { .replaces($0) } ?? .waits
    }

    /// Removes a waiting request. Returns `false` if it doesn't wait.
    @discardableResult
    package mutating func withdraw(_ id: ID, client: String) -> Bool {
        guard let index = waiting[client]?.firstIndex(of: id) else { return false }
        waiting[client]?.remove(at: index)
        waitingCount -= 1
        if waiting[client]?.isEmpty == true {
            waiting[client] = nil
            turns.removeAll { $0 == client }
        }
        return true
    }

    /// Ends a running request, and returns the waiting request that receives its slot.
    package mutating func finish() -> ID? {
        guard let client = turns.first, let id = waiting[client]?.first else {
            runningCount -= 1
            return nil
        }
        withdraw(id, client: client)
        // The next turn of the client comes after those of all others.
        if waiting[client] != nil { turns.append(turns.removeFirst()) }
        return id
    }
}
