// SPDX-License-Identifier: MIT

/// A state machine that tracks the subscribers of shared jobs.
///
/// Transitions return the actions that ``SharedJobs`` performs after unlocking.
///
/// A job exists from the first `join` of its key until it finishes or its last subscriber leaves. The key is then free,
/// so a later subscriber starts a new job even if the old one is still stopping.
@usableFromInline
struct SharedJobsStateMachine<Key: Hashable & Sendable, Update: Sendable, Priority: Comparable & Sendable>: Sendable {
    @usableFromInline typealias JobID = Int
    @usableFromInline typealias SubscriberID = Int

    @usableFromInline
    struct Job: Sendable {
        @usableFromInline let key: Key
        /// The subscribers with their priorities. An array is sufficient because a job rarely has many subscribers.
        @usableFromInline var subscribers: [(id: SubscriberID, priority: Priority)]
        @usableFromInline var priority: Priority
        @usableFromInline var lastUpdate: Update?
        /// The priority of a job that was opened without subscribers and continues without them, or `nil` for all other
        /// jobs.
        @usableFromInline var ownPriority: Priority?

        @inlinable
        init(
            key: Key, subscribers: [(id: SubscriberID, priority: Priority)], priority: Priority,
            ownPriority: Priority? = nil
        ) {
            self.key = key
            self.subscribers = subscribers
            self.priority = priority
            self.ownPriority = ownPriority
        }

        /// The highest of all priorities, or `nil` if the job has no subscribers and no priority of its own.
        @inlinable
        var effectivePriority: Priority? {
            guard let highest = subscribers.lazy.map(\.priority).max() else { return ownPriority }
            return ownPriority.map { max($0, highest) } ?? highest
        }

        @inlinable
        func index(of subscriber: SubscriberID) -> Int? { subscribers.firstIndex { $0.id == subscriber } }
    }

    @usableFromInline
    enum JoinAction {
        /// Starts a new job because no job is running for the key.
        case start(JobID)
        /// Joins the running job. The value `raise` is the new priority of the job, or `nil` if it didn't change.
        case joined(JobID, lastUpdate: Update?, raise: Priority?)
    }

    @usableFromInline
    enum LeaveAction: Equatable {
        case nothing
        case cancel(JobID)
        case setPriority(JobID, Priority)
    }

    @usableFromInline var jobs: [JobID: Job] = [:]
    @usableFromInline var byKey: [Key: JobID] = [:]
    @usableFromInline var nextID = 0

    @inlinable
    init() {}

    @inlinable
    func isRunning(_ key: Key) -> Bool { byKey[key] != nil }

    @inlinable
    func subscriberCount(of key: Key) -> Int { byKey[key].flatMap { jobs[$0]?.subscribers.count } ?? 0 }

    /// Opens a job without subscribers. Call this method only if no job for the key is running.
    @inlinable
    mutating func open(_ key: Key, _ priority: Priority) -> JobID {
        nextID += 1
        jobs[nextID] = Job(key: key, subscribers: [], priority: priority, ownPriority: priority)
        byKey[key] = nextID
        return nextID
    }

    @inlinable
    mutating func makeSubscriber() -> SubscriberID {
        nextID += 1
        return nextID
    }

    @inlinable
    mutating func join(_ key: Key, _ subscriber: SubscriberID, _ priority: Priority) -> JoinAction {
        if let id = byKey[key], jobs[id] != nil {
            let before = jobs[id]?.priority ?? priority
            jobs[id]?.subscribers.append((subscriber, priority))
            jobs[id]?.priority = max(before, priority)
            return .joined(id, lastUpdate: jobs[id]?.lastUpdate, raise: priority > before ? priority : nil)
        }
        nextID += 1
        jobs[nextID] = Job(key: key, subscribers: [(subscriber, priority)], priority: priority)
        byKey[key] = nextID
        return .start(nextID)
    }

    @inlinable
    mutating func leave(_ id: JobID, _ subscriber: SubscriberID) -> LeaveAction {
        guard var job = jobs[id], let index = job.index(of: subscriber) else { return .nothing }
        job.subscribers.remove(at: index)
        guard let highest = job.effectivePriority else {
            remove(id)
            return .cancel(id)
        }
        let changed = highest != job.priority
        job.priority = highest
        jobs[id] = job
        return changed ? .setPriority(id, highest) : .nothing
    }

    @inlinable
    mutating func setPriority(_ id: JobID, _ subscriber: SubscriberID, _ priority: Priority) -> LeaveAction {
        guard var job = jobs[id], let index = job.index(of: subscriber) else { return .nothing }
        job.subscribers[index].priority = priority
        let highest = job.effectivePriority ?? priority
        let changed = highest != job.priority
        job.priority = highest
        jobs[id] = job
        return changed ? .setPriority(id, highest) : .nothing
    }

    /// Stores an update for later subscribers and returns the subscribers that receive it.
    @inlinable
    mutating func update(_ id: JobID, _ update: Update) -> [SubscriberID] {
        guard jobs[id] != nil else { return [] }
        jobs[id]?.lastUpdate = update
        return jobs[id]?.subscribers.map(\.id) ?? []
    }

    @inlinable
    mutating func finish(_ id: JobID) -> [SubscriberID] {
        guard let job = jobs[id] else { return [] }
        remove(id)
        return job.subscribers.map(\.id)
    }

    @inlinable
    mutating func remove(_ id: JobID) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        if byKey[job.key] == id { byKey[job.key] = nil }
    }
}
