// SPDX-License-Identifier: MIT

/// First in, first out (or last in, first out) within a few levels of priority; the highest level leaves first. Every
/// operation is O(1): the elements of a level form a doubly linked list in one array of nodes.
///
/// The members can be inlined, so that the queue is specialized where it is used.
package struct PriorityQueue<Element: Hashable, Priority: PriorityLevel> {
    /// The order of elements of the same priority.
    package enum Order: Sendable {
        case firstInFirstOut
        case lastInFirstOut
    }

    @usableFromInline
    struct Node {
        @usableFromInline var element: Element
        @usableFromInline var level: Int
        @usableFromInline var previous: Int?
        @usableFromInline var next: Int?

        @inlinable
        init(element: Element, level: Int, previous: Int?) {
            self.element = element
            self.level = level
            self.previous = previous
        }
    }

    @usableFromInline
    struct Ends {
        @usableFromInline var first: Int?
        @usableFromInline var last: Int?

        @inlinable
        init() {}
    }

    @usableFromInline let order: Order
    @usableFromInline var nodes: [Node?] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline var places: [Element: Int] = [:]
    @usableFromInline var levels: [Ends]

    /// Creates an empty queue.
    @inlinable
    package init(order: Order = .firstInFirstOut) {
        self.order = order
        levels = [Ends](repeating: Ends(), count: Priority.allCases.count)
    }

    /// The number of elements that wait.
    @inlinable
    package var count: Int { places.count }

    /// Whether no element waits.
    @inlinable
    package var isEmpty: Bool { places.isEmpty }

    /// Whether `element` waits.
    @inlinable
    package func contains(_ element: Element) -> Bool { places[element] != nil }

    /// The priority of the element that leaves next.
    @inlinable
    package var topPriority: Priority? {
        for level in levels.indices.reversed() where levels[level].first != nil { return Priority(rawValue: level) }
        return nil
    }

    /// The element that leaves next.
    @inlinable
    package var first: Element? { nextPlace.flatMap { nodes[$0]?.element } }

    /// Puts `element` behind the others of its priority. An element that waits already is moved if its priority
    /// changes, and keeps its place otherwise.
    @inlinable
    package mutating func push(_ element: Element, _ priority: Priority) {
        let level = priority.rawValue
        if let place = places[element] {
            guard nodes[place]?.level != level else { return }
            unlink(place)
        }
        let last = levels[level].last
        let place = store(Node(element: element, level: level, previous: last))
        if let last { nodes[last]?.next = place } else { levels[level].first = place }
        levels[level].last = place
        places[element] = place
    }

    /// Removes the element of the highest level whose turn it is.
    @inlinable
    package mutating func pop() -> Element? {
        guard let place = nextPlace, let node = nodes[place] else { return nil }
        unlink(place)
        return node.element
    }

    /// Removes `element`. The result is `false` if it did not wait.
    @inlinable
    @discardableResult
    package mutating func remove(_ element: Element) -> Bool {
        guard let place = places[element] else { return false }
        unlink(place)
        return true
    }

    @inlinable var nextPlace: Int? {
        for level in levels.indices.reversed() {
            let place = order == .firstInFirstOut ? levels[level].first : levels[level].last
            if let place { return place }
        }
        return nil
    }

    @inlinable
    mutating func store(_ node: Node) -> Int {
        if let place = free.popLast() {
            nodes[place] = node
            return place
        }
        nodes.append(node)
        return nodes.count - 1
    }

    @inlinable
    mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if let previous = node.previous {
            nodes[previous]?.next = node.next
        } else {
            levels[node.level].first = node.next
        }
        if let next = node.next {
            nodes[next]?.previous = node.previous
        } else {
            levels[node.level].last = node.previous
        }
        nodes[place] = nil
        free.append(place)
        places[node.element] = nil
    }
}
