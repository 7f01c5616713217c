// SPDX-License-Identifier: MIT

import WebImageCore

/// First in, first out (or last in, first out) within five levels of priority; the highest level leaves first. Every
/// operation is O(1): the elements of a level form a doubly linked list in one array of nodes.
struct LevelQueue<Element: Hashable> {
    private struct Node {
        var element: Element
        var level: Int
        var previous: Int?
        var next: Int?
    }

    private struct Ends {
        var first: Int?
        var last: Int?
    }

    private let order: QueueOrder
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: [Element: Int] = [:]
    private var levels = [Ends](repeating: Ends(), count: RequestPriority.allCases.count)

    init(order: QueueOrder = .fifo) { self.order = order }

    /// How many elements wait.
    var count: Int { places.count }
    /// True where nobody waits.
    var isEmpty: Bool { places.isEmpty }

    /// Whether `element` waits.
    func contains(_ element: Element) -> Bool { places[element] != nil }

    /// The priority of the element that leaves next.
    var topPriority: RequestPriority? {
        for priority in RequestPriority.allCases.reversed() where levels[priority.rawValue].first != nil {
            return priority
        }
        return nil
    }

    /// Puts `element` behind the others of its priority. An element that waits already is moved where its priority
    /// changes, and keeps its place where it does not.
    mutating func push(_ element: Element, _ priority: RequestPriority) {
        if let place = places[element] {
            guard nodes[place]?.level != priority.rawValue else { return }
            unlink(place)
        }
        let level = priority.rawValue
        let last = levels[level].last
        let place = store(Node(element: element, level: level, previous: last, next: nil))
        if let last { nodes[last]?.next = place } else { levels[level].first = place }
        levels[level].last = place
        places[element] = place
    }

    /// Takes the element of the highest level whose turn it is.
    mutating func pop() -> Element? {
        guard let priority = topPriority else { return nil }
        let ends = levels[priority.rawValue]
        guard let place = order == .fifo ? ends.first : ends.last, let node = nodes[place] else { return nil }
        unlink(place)
        return node.element
    }

    /// Takes `element` out. False where it did not wait.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard let place = places[element] else { return false }
        unlink(place)
        return true
    }

    private mutating func store(_ node: Node) -> Int {
        if let place = free.popLast() {
            nodes[place] = node
            return place
        }
        nodes.append(node)
        return nodes.count - 1
    }

    private mutating func unlink(_ place: Int) {
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
