// SPDX-License-Identifier: MIT

/// A first-in, first-out queue with amortized constant-time operations.
public struct FIFOQueue<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// Creates an empty queue.
    @inlinable
    public init() {}

    /// A Boolean value that indicates whether the queue is empty.
    @inlinable
    public var isEmpty: Bool { head == elements.count }

    /// Appends an element.
    @inlinable
    public mutating func push(_ element: Element) { elements.append(element) }

    /// Removes and returns the oldest element, or returns `nil` if the queue is empty.
    @inlinable
    public mutating func pop() -> Element? {
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
