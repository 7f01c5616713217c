// SPDX-License-Identifier: MIT

/// First in, first out, in constant time.
package struct FIFO<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// Creates an empty queue.
    @inlinable
    package init() {}

    /// Whether nothing waits.
    @inlinable
    package var isEmpty: Bool { head == elements.count }

    /// Appends `element`.
    @inlinable
    package mutating func push(_ element: Element) { elements.append(element) }

    /// Removes the oldest element.
    @inlinable
    package mutating func pop() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head > 32, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }
}
