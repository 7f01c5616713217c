// SPDX-License-Identifier: MIT

/// A simulated cache that stores every requested object.
protocol PolicySimulation {
    /// Requests an object, and stores it if it isn't in the cache. Returns `true` if it was.
    mutating func request(_ object: Int, size: Int) -> Bool
}

/// A list of objects that are linked by their numbers. Objects are numbered from 0.
private struct LinkedObjects {
    private var older: [Int]
    private var newer: [Int]
    private(set) var oldest = -1
    private(set) var newest = -1

    init(count: Int) {
        older = Array(repeating: -1, count: count)
        newer = Array(repeating: -1, count: count)
    }

    var isEmpty: Bool { oldest < 0 }

    mutating func append(_ object: Int) {
        older[object] = newest
        newer[object] = -1
        if newest < 0 { oldest = object } else { newer[newest] = object }
        newest = object
    }

    mutating func remove(_ object: Int) {
        let (before, after) = (older[object], newer[object])
        if before < 0 { oldest = after } else { newer[before] = after }
        if after < 0 { newest = before } else { older[after] = before }
    }

    func next(after object: Int) -> Int { newer[object] }
}

/// The objects in a simulated cache and their sizes.
private struct Contents {
    let capacity: Int
    private(set) var used = 0
    private var sizes: [Int]

    init(count: Int, capacity: Int) {
        self.capacity = capacity
        sizes = Array(repeating: 0, count: count)
    }

    func contains(_ object: Int) -> Bool { sizes[object] > 0 }
    func size(_ object: Int) -> Int { sizes[object] }
    func lacksRoom(for size: Int) -> Bool { used + size > capacity }

    mutating func insert(_ object: Int, size: Int) {
        sizes[object] = size
        used += size
    }

    mutating func remove(_ object: Int) {
        used -= sizes[object]
        sizes[object] = 0
    }
}

/// Evicts the least recently used object.
struct LRUSimulation: PolicySimulation {
    private var contents: Contents
    private var list: LinkedObjects

    init(objects: Int, capacity: Int) {
        contents = Contents(count: objects, capacity: capacity)
        list = LinkedObjects(count: objects)
    }

    mutating func request(_ object: Int, size: Int) -> Bool {
        if contents.contains(object) {
            list.remove(object)
            list.append(object)
            return true
        }
        guard size <= contents.capacity else { return false }
        while contents.lacksRoom(for: size) {
            let victim = list.oldest
            list.remove(victim)
            contents.remove(victim)
        }
        list.append(object)
        contents.insert(object, size: size)
        return false
    }
}

/// Evicts the oldest object, and gives objects that were read a second chance.
struct ClockSimulation: PolicySimulation {
    private var contents: Contents
    private var list: LinkedObjects
    private var wasRead: [Bool]

    init(objects: Int, capacity: Int) {
        contents = Contents(count: objects, capacity: capacity)
        list = LinkedObjects(count: objects)
        wasRead = Array(repeating: false, count: objects)
    }

    mutating func request(_ object: Int, size: Int) -> Bool {
        if contents.contains(object) {
            wasRead[object] = true
            return true
        }
        guard size <= contents.capacity else { return false }
        while contents.lacksRoom(for: size) {
            let victim = list.oldest
            list.remove(victim)
            if wasRead[victim] { list.append(victim) } else { contents.remove(victim) }
            wasRead[victim] = false
        }
        list.append(object)
        contents.insert(object, size: size)
        return false
    }
}

/// SIEVE (Zhang et al., NSDI 2024): like Clock, but objects that were read remain in their place.
struct SieveSimulation: PolicySimulation {
    private var contents: Contents
    private var list: LinkedObjects
    private var wasRead: [Bool]
    private var hand = -1

    init(objects: Int, capacity: Int) {
        contents = Contents(count: objects, capacity: capacity)
        list = LinkedObjects(count: objects)
        wasRead = Array(repeating: false, count: objects)
    }

    mutating func request(_ object: Int, size: Int) -> Bool {
        if contents.contains(object) {
            wasRead[object] = true
            return true
        }
        guard size <= contents.capacity else { return false }
        while contents.lacksRoom(for: size) { evict() }
        list.append(object)
        wasRead[object] = false
        contents.insert(object, size: size)
        return false
    }

    private mutating func evict() {
        if hand < 0 { hand = list.oldest }
        while wasRead[hand] {
            wasRead[hand] = false
            hand = list.next(after: hand)
            if hand < 0 { hand = list.oldest }
        }
        let victim = hand
        hand = list.next(after: victim)
        list.remove(victim)
        contents.remove(victim)
    }
}

/// S3-FIFO (Yang et al., SOSP 2023) with the parameters of the paper: a small queue of one tenth, promotion after two
/// reads, and ghost entries of the size of the main queue.
struct S3FIFOSimulation: PolicySimulation {
    private var contents: Contents
    private var small: LinkedObjects
    private var main: LinkedObjects
    private var reads: [UInt8]
    private var smallSize = 0
    private var ghosts: [(object: Int, size: Int)] = []
    private var firstGhost = 0
    private var ghostSize = 0
    private var ghostCounts: [Int]

    init(objects: Int, capacity: Int) {
        contents = Contents(count: objects, capacity: capacity)
        small = LinkedObjects(count: objects)
        main = LinkedObjects(count: objects)
        reads = Array(repeating: 0, count: objects)
        ghostCounts = Array(repeating: 0, count: objects)
    }

    mutating func request(_ object: Int, size: Int) -> Bool {
        if contents.contains(object) {
            reads[object] = min(3, reads[object] + 1)
            return true
        }
        guard size <= contents.capacity else { return false }
        let isGhost = ghostCounts[object] > 0
        while contents.lacksRoom(for: size) {
            if smallSize >= contents.capacity / 10 || main.isEmpty { evictSmall() } else { evictMain() }
        }
        reads[object] = 0
        if isGhost {
            main.append(object)
        } else {
            small.append(object)
            smallSize += size
        }
        contents.insert(object, size: size)
        return false
    }

    private mutating func evictSmall() {
        while !small.isEmpty {
            let object = small.oldest
            small.remove(object)
            smallSize -= contents.size(object)
            guard reads[object] >= 2 else {
                addGhost(object)
                return contents.remove(object)
            }
            reads[object] = 0
            main.append(object)
        }
        evictMain()
    }

    private mutating func evictMain() {
        while !main.isEmpty {
            let object = main.oldest
            main.remove(object)
            guard reads[object] > 0 else { return contents.remove(object) }
            reads[object] -= 1
            main.append(object)
        }
    }

    private mutating func addGhost(_ object: Int) {
        ghosts.append((object, contents.size(object)))
        ghostCounts[object] += 1
        ghostSize += contents.size(object)
        while ghostSize > contents.capacity * 9 / 10, firstGhost < ghosts.count {
            ghostSize -= ghosts[firstGhost].size
            ghostCounts[ghosts[firstGhost].object] -= 1
            firstGhost += 1
        }
    }
}

/// GreedyDual-Size-Frequency (Cherkasova, 1998): evicts the object with the fewest requests per byte, counted from a
/// level that rises with each eviction.
struct GDSFSimulation: PolicySimulation {
    private var contents: Contents
    private var requests: [Int]
    private var ranks: [Double]
    private var level = 0.0
    /// A binary heap with the lowest rank first. Outdated elements are skipped.
    private var heap: [(rank: Double, object: Int)] = []

    init(objects: Int, capacity: Int) {
        contents = Contents(count: objects, capacity: capacity)
        requests = Array(repeating: 0, count: objects)
        ranks = Array(repeating: 0, count: objects)
    }

    mutating func request(_ object: Int, size: Int) -> Bool {
        if contents.contains(object) {
            requests[object] += 1
            rank(object, size)
            return true
        }
        guard size <= contents.capacity else { return false }
        while contents.lacksRoom(for: size) {
            let lowest = pop()
            guard contents.contains(lowest.object), ranks[lowest.object] == lowest.rank else { continue }
            level = lowest.rank
            contents.remove(lowest.object)
        }
        requests[object] = 1
        contents.insert(object, size: size)
        rank(object, size)
        return false
    }

    private mutating func rank(_ object: Int, _ size: Int) {
        ranks[object] = level + Double(requests[object]) / Double(size)
        heap.append((ranks[object], object))
        var child = heap.count - 1
        while child > 0, heap[(child - 1) / 2].rank > heap[child].rank {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() -> (rank: Double, object: Int) {
        heap.swapAt(0, heap.count - 1)
        let lowest = heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].rank < heap[least].rank { least = child }
            }
            guard least != parent else { return lowest }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
