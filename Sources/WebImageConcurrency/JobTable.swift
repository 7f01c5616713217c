// SPDX-License-Identifier: MIT

/// Who waits for which shared work: a pure state machine. Its transitions return what is to be done; ``SharedJobs``
/// does it after unlocking.
///
/// A job lives from the first `join` of its key until it finishes or its last subscriber leaves. From that moment
/// the key is free: who joins later starts a new job, even while the old one is still winding down.
struct JobTable<Key: Hashable & Sendable, Update: Sendable, Priority: Comparable & Sendable> {
    typealias JobID = Int
    typealias SubscriberID = Int

    struct Job {
        let key: Key
        var subscribers: [SubscriberID: Priority]
        var priority: Priority
        var lastUpdate: Update?
        /// The priority of a job that was opened for nobody: it goes on without subscribers. `nil` for all others.
        var ownPriority: Priority?

        /// The highest of all priorities; `nil` if nobody wants the job.
        fileprivate var wanted: Priority? {
            guard let highest = subscribers.values.max() else { return ownPriority }
            return ownPriority.map { max($0, highest) } ?? highest
        }
    }

    enum JoinAction {
        /// Nobody works on this key: start.
        case start(JobID)
        /// Join the running job; `raise` is its new priority where that changed.
        case joined(JobID, lastUpdate: Update?, raise: Priority?)
    }

    enum LeaveAction: Equatable {
        case nothing
        /// The last subscriber left.
        case cancel(JobID)
        case setPriority(JobID, Priority)
    }

    private(set) var jobs: [JobID: Job] = [:]
    private var byKey: [Key: JobID] = [:]
    private var nextID = 0

    /// Whether a job of `key` runs.
    func isRunning(_ key: Key) -> Bool { byKey[key] != nil }

    /// The number of subscribers of the job of `key`.
    func subscriberCount(of key: Key) -> Int { byKey[key].flatMap { jobs[$0]?.subscribers.count } ?? 0 }

    /// Opens a job for nobody; to be called while none of `key` runs.
    mutating func open(_ key: Key, _ priority: Priority) -> JobID {
        nextID += 1
        jobs[nextID] = Job(key: key, subscribers: [:], priority: priority, ownPriority: priority)
        byKey[key] = nextID
        return nextID
    }

    /// Makes an identifier for a subscriber that is about to join.
    mutating func makeSubscriber() -> SubscriberID {
        nextID += 1
        return nextID
    }

    mutating func join(_ key: Key, _ subscriber: SubscriberID, _ priority: Priority) -> JoinAction {
        if let id = byKey[key], jobs[id] != nil {
            let before = jobs[id]?.priority ?? priority
            jobs[id]?.subscribers[subscriber] = priority
            jobs[id]?.priority = max(before, priority)
            return .joined(id, lastUpdate: jobs[id]?.lastUpdate, raise: priority > before ? priority : nil)
        }
        nextID += 1
        jobs[nextID] = Job(key: key, subscribers: [subscriber: priority], priority: priority)
        byKey[key] = nextID
        return .start(nextID)
    }

    mutating func leave(_ id: JobID, _ subscriber: SubscriberID) -> LeaveAction {
        guard var job = jobs[id], job.subscribers.removeValue(forKey: subscriber) != nil else { return .nothing }
        guard let highest = job.wanted else {
            remove(id)
            return .cancel(id)
        }
        let changed = highest != job.priority
        job.priority = highest
        jobs[id] = job
        return changed ? .setPriority(id, highest) : .nothing
    }

    mutating func setPriority(_ id: JobID, _ subscriber: SubscriberID, _ priority: Priority) -> LeaveAction {
        guard var job = jobs[id], job.subscribers[subscriber] != nil else { return .nothing }
        job.subscribers[subscriber] = priority
        let highest = job.wanted ?? priority
        let changed = highest != job.priority
        job.priority = highest
        jobs[id] = job
        return changed ? .setPriority(id, highest) : .nothing
    }

    /// Remembers `update` for late joiners and tells who is to hear it.
    mutating func update(_ id: JobID, _ update: Update) -> [SubscriberID] {
        guard jobs[id] != nil else { return [] }
        jobs[id]?.lastUpdate = update
        return jobs[id].map { Array($0.subscribers.keys) } ?? []
    }

    /// The job ended; tells who is to get the result. Empty when everybody left before.
    mutating func finish(_ id: JobID) -> [SubscriberID] {
        guard let job = jobs[id] else { return [] }
        remove(id)
        return Array(job.subscribers.keys)
    }

    private mutating func remove(_ id: JobID) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        if byKey[job.key] == id { byKey[job.key] = nil }
    }
}
