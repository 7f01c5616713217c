// SPDX-License-Identifier: MIT

/// A queue with a few priority levels that removes elements from the highest level first.
///
/// Within a level, the order is first in, first out or last in, first out. Every operation takes constant time because
/// the elements of a level form a doubly linked list in one array of nodes. The members are inlinable so that callers
/// specialize the queue.
public struct PriorityQueue<Element: Hashable, Priority: PriorityLevel> {
    /// The order of elements with the same priority.
    public enum Order: Sendable {
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
    @usableFromInline var positions: [Element: Int] = [:]
    @usableFromInline var levels: [Ends]

    /// Creates an empty queue.
    @inlinable
    public init(order: Order = .firstInFirstOut) {
        self.order = order
        levels = [Ends](repeating: Ends(), count: Priority.allCases.count)
    }

    /// The number of elements.
    @inlinable
    public var count: Int { positions.count }

    /// A Boolean value that indicates whether the queue is empty.
    @inlinable
    public var isEmpty: Bool { positions.isEmpty }

    /// Returns a Boolean value that indicates whether the queue contains an element.
    @inlinable
    public func contains(_ element: Element) -> Bool { positions[element] != nil }

    /// The priority of the next element, or `nil` if the queue is empty.
    @inlinable
    public var topPriority: Priority? {
        for level in levels.indices.reversed() where levels[level].first != nil { return Priority(rawValue: level) }
        return nil
    }

    /// The next element, or `nil` if the queue is empty.
    @inlinable
    public var first: Element? { nextPosition.flatMap { nodes[$0]?.element } }

    /// Adds an element after the other elements of its priority.
    ///
    /// If the queue already contains the element, it moves only if its priority changes.
    @inlinable
    public mutating func push(_ element: Element, _ priority: Priority) {
        let level = priority.rawValue
        if let place = positions[element] {
            guard nodes[place]?.level != level else { return }
            unlink(place)
        }
        let last = levels[level].last
        let place = store(Node(element: element, level: level, previous: last))
        if let last { nodes[last]?.next = place } else { levels[level].first = place }
        levels[level].last = place
        positions[element] = place
    }

    /// Removes and returns the next element of the highest level, or returns `nil` if the queue is empty.
    @inlinable
    public mutating func pop() -> Element? {
        guard let place = nextPosition, let node = nodes[place] else { return nil }
        unlink(place)
        return node.element
    }

    /// Removes an element. Returns `false` if the queue doesn't contain it.
    @inlinable
    @discardableResult
    public mutating func remove(_ element: Element) -> Bool {
        guard let place = positions[element] else { return false }
        unlink(place)
        return true
    }

    @inlinable var nextPosition: Int? {
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
        positions[node.element] = nil
    }
}
