// SPDX-License-Identifier: MIT

import WebImageCore

/// What waits for a worker thread: five levels, first come first served within a level. Every operation is O(1)
/// amortised. A pure value; ``WorkerPool`` guards it.
struct WorkQueue<Item> {
    struct Entry {
        let id: Int
        let cost: Int
        let item: Item
    }

    private struct Ticket {
        let id: Int
        let number: Int
    }

    private struct Place {
        var level: Int
        var number: Int
        var entry: Entry
    }

    // A level holds tickets in order; a ticket whose entry is gone or has a newer ticket is skipped.
    private var levels: [[Ticket]] = Array(repeating: [], count: RequestPriority.allCases.count)
    private var nextNumber = 0
    private var heads: [Int] = Array(repeating: 0, count: RequestPriority.allCases.count)
    private var places: [Int: Place] = [:]

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }

    mutating func push(_ entry: Entry, _ priority: RequestPriority) {
        places[entry.id] = Place(level: priority.rawValue, number: 0, entry: entry)
        queue(entry.id, priority)
    }

    /// Takes an entry out wherever it stands; nil when it is not waiting.
    mutating func remove(_ id: Int) -> Entry? { places.removeValue(forKey: id)?.entry }

    mutating func setPriority(_ id: Int, _ priority: RequestPriority) {
        guard let place = places[id], place.level != priority.rawValue else { return }
        queue(id, priority)
    }

    private mutating func queue(_ id: Int, _ priority: RequestPriority) {
        nextNumber += 1
        places[id]?.level = priority.rawValue
        places[id]?.number = nextNumber
        levels[priority.rawValue].append(Ticket(id: id, number: nextNumber))
    }

    /// The first entry, most urgent level first; `admits` may hold it back, then nothing is taken: a dear entry
    /// must not starve behind cheap ones.
    mutating func popFirst(where admits: (Entry) -> Bool) -> Entry? {
        for level in levels.indices.reversed() {
            while heads[level] < levels[level].count {
                let ticket = levels[level][heads[level]]
                guard let place = places[ticket.id], place.number == ticket.number else {
                    advance(level)
                    continue
                }
                guard admits(place.entry) else { return nil }
                advance(level)
                places[ticket.id] = nil
                return place.entry
            }
        }
        return nil
    }

    private mutating func advance(_ level: Int) {
        heads[level] += 1
        if heads[level] > 64, heads[level] * 2 > levels[level].count {
            levels[level].removeFirst(heads[level])
            heads[level] = 0
        }
    }
}
