// SPDX-License-Identifier: MIT

import WebImageCore

/// A pure state machine that selects the next image to prefetch. It orders lists by priority and then by age, and each
/// list keeps its own order.
struct PrefetchStateMachine {
    /// The reason for starting no requests.
    enum SuspensionReason: Hashable, CaseIterable {
        case paused
        case metered
        case memory
    }

    /// The effect of visible requests on the number of items that run at the same time.
    enum Yielding: Hashable, CaseIterable {
        /// No visible requests are waiting, so the concurrency applies.
        case none
        /// Visible requests are waiting, so no items start.
        case complete
        /// Visible requests have been waiting for a long time, so one item at a time runs. Otherwise, prefetching would
        /// never end during a sequence of visible requests without pauses.
        case partial
    }

    enum Outcome: Equatable {
        case loaded
        case skipped
        case failed(ImageError)
        case cancelled
    }

    struct Item {
        let id: Int
        let list: Int
        let request: ImageRequest
        let destination: ImagePrefetcher.Destination
        let priority: RequestPriority
    }

    struct List {
        var pending: [ImageRequest] = []
        /// The number of requests in `pending` that are in flight or finished.
        var head = 0
        var running: Set<Int> = []
        var progress = PrefetchTask.Progress()
        var priority: RequestPriority
        let destination: ImagePrefetcher.Destination
        var isPaused = false
        var isOpen: Bool

        var waiting: Int { pending.count - head }
        var isFinished: Bool { !isOpen && waiting == 0 && running.isEmpty }

        fileprivate mutating func dequeue() -> ImageRequest {
            defer {
                head += 1
                if head > 64, head * 2 > pending.count {
                    pending.removeFirst(head)
                    head = 0
                }
            }
            return pending[head]
        }
    }

    private(set) var concurrency: Int
    var yielding = Yielding.none
    /// Whether the items are needed as soon as the visible requests, so that `yielding` is ignored.
    private(set) var isUrgent = false
    private let initialConcurrency: Int
    private(set) var suspensionReasons: Set<SuspensionReason> = []
    private(set) var lists: [Int: List] = [:]
    private(set) var running = 0
    /// The finished items of all lists since there was no list last.
    private var finished = ImagePrefetcher.Progress()
    private var receivedCount = 0
    private var openListCount = 0
    private var nextID = 0

    init(concurrency: Int) {
        initialConcurrency = max(1, concurrency)
        self.concurrency = initialConcurrency
    }

    mutating func setUrgent(concurrency: Int?) {
        isUrgent = concurrency != nil
        self.concurrency = max(1, concurrency ?? initialConcurrency)
    }

    /// Whether fewer items run because visible requests are in flight.
    var isLimited: Bool { yielding != .none && !isUrgent }

    mutating func add(
        _ requests: [ImageRequest], isOpen: Bool, _ destination: ImagePrefetcher.Destination,
        _ priority: RequestPriority
    ) -> Int {
        nextID += 1
        if lists.isEmpty {
            finished = ImagePrefetcher.Progress()
            receivedCount = 0
        }
        receivedCount += requests.count
        openListCount += isOpen ? 1 : 0
        var list = List(priority: priority, destination: destination, isOpen: isOpen)
        list.pending = requests
        list.progress.totalCount = isOpen ? nil : requests.count
        lists[nextID] = list
        return nextID
    }

    /// Appends a request to an open list. Returns `false` if the list is finished.
    mutating func append(_ request: ImageRequest, to list: Int) -> Bool {
        guard lists[list]?.isOpen == true else { return false }
        lists[list]?.pending.append(request)
        receivedCount += 1
        return true
    }

    mutating func close(_ id: Int) {
        guard var list = lists[id], list.isOpen else { return }
        list.isOpen = false
        list.progress.totalCount = list.progress.finishedCount + list.running.count + list.waiting
        lists[id] = list
        openListCount -= 1
    }

    var progress: ImagePrefetcher.Progress {
        var progress = finished
        progress.totalCount = openListCount == 0 ? receivedCount : nil
        return progress
    }

    mutating func set(_ hold: SuspensionReason, _ isHeld: Bool) {
        if isHeld { suspensionReasons.insert(hold) } else { suspensionReasons.remove(hold) }
    }

    mutating func setPaused(_ isPaused: Bool, _ list: Int) { lists[list]?.isPaused = isPaused }

    mutating func setPriority(_ priority: RequestPriority, _ list: Int) { lists[list]?.priority = priority }

    private var capacity: Int {
        switch isUrgent ? .none : yielding {
        case .none: concurrency
        case .complete: 0
        case .partial: 1
        }
    }

    mutating func next() -> Item? {
        guard suspensionReasons.isEmpty, running < capacity else { return nil }
        let ready = lists.filter { !$0.value.isPaused && $0.value.waiting > 0 }
        let best = ready.max { left, right in
            (left.value.priority.rawValue, -left.key) < (right.value.priority.rawValue, -right.key)
        }
        guard let (id, chosen) = best else { return nil }
        var list = chosen
        // Release the dictionary's reference so that the array is changed in place.
        lists[id] = nil
        nextID += 1
        running += 1
        let item = Item(
            id: nextID, list: id, request: list.dequeue(), destination: list.destination, priority: list.priority)
        list.running.insert(item.id)
        lists[id] = list
        return item
    }

    /// Finishes an item and returns the new state of its list, or `nil` if the list was canceled.
    mutating func finish(_ item: Item, _ outcome: Outcome) -> List? {
        running -= 1
        guard var list = lists[item.list], list.running.remove(item.id) != nil else { return nil }
        switch outcome {
        case .loaded:
            list.progress.loadedCount += 1
            finished.loadedCount += 1
        case .skipped:
            list.progress.skippedCount += 1
            finished.skippedCount += 1
        case .failed(let error):
            list.progress.add(PrefetchFailure(item.request, error))
            finished.failedCount += 1
        case .cancelled:
            list.progress.cancelledCount += 1
            finished.cancelledCount += 1
        }
        lists[item.list] = list.isFinished ? nil : list
        return list
    }

    /// Removes a list and returns it. Its running items count toward the concurrency until they finish.
    mutating func cancel(_ id: Int) -> List? {
        guard var list = lists.removeValue(forKey: id) else { return nil }
        let count = list.waiting + list.running.count
        list.progress.cancelledCount += count
        finished.cancelledCount += count
        if list.isOpen { openListCount -= 1 }
        list.progress.totalCount = list.progress.finishedCount
        return list
    }

    /// Removes a list that finished without running an item, such as an empty one, and returns it.
    mutating func removeIfFinished(_ id: Int) -> List? {
        guard let list = lists[id], list.isFinished else { return nil }
        return lists.removeValue(forKey: id)
    }
}
