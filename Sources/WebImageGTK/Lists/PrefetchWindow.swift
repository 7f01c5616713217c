// SPDX-License-Identifier: MIT

import WebImageCore

/// A state machine that decides which positions of a list to prefetch while the list scrolls.
///
/// The state machine is pure and knows neither widgets nor images. It receives the visible range and returns the
/// positions to start and to drop. It works for lists, grids, and flow boxes. Positions start at 0.
///
/// Prefetching follows the scroll direction, which is forward until the list scrolls. A visible position is never
/// started because its view loads the image itself. If a started position becomes visible, it isn't dropped because its
/// view has joined the work. A position is dropped when it's neither visible nor ahead.
package struct PrefetchWindow: Sendable, Hashable {
    /// The direction in which a list scrolls.
    package enum Direction: Sendable, Hashable {
        /// Toward higher positions.
        case forward
        /// Toward lower positions.
        case backward
    }

    /// The work to do after a change of the visible range.
    package struct Change: Sendable, Hashable {
        /// The positions to start, in the order in which the list will need them.
        package var start: [Int] = []
        /// The positions to drop, in ascending order.
        package var drop: [Int] = []

        /// Creates an empty change.
        package init() {}
        /// A Boolean value that indicates whether there's nothing to start and nothing to drop.
        package var isEmpty: Bool { start.isEmpty && drop.isEmpty }
    }

    /// The maximum number of positions to prefetch, as a multiple of the number of visible positions.
    ///
    /// With the default of 1, as many positions are prefetched as are visible.
    package let pages: Double
    /// The maximum number of positions to prefetch. The default is 64.
    package let limit: Int
    /// The number of positions in the list.
    package private(set) var count: Int
    /// The range of visible positions. It's empty before the first call to ``show(_:)``.
    package private(set) var visible: Range<Int> = 0..<0
    /// The direction of the most recent scrolling.
    package private(set) var direction = Direction.forward
    /// The last visible range that wasn't empty. While a list updates its layout, no position may be visible for a
    /// moment.
    private var last: Range<Int> = 0..<0
    /// The positions that were started and haven't been dropped.
    package private(set) var started: Set<Int> = []

    /// Creates a window for a list of `count` positions. Negative values, infinity, and NaN count as 0.
    package init(count: Int = 0, pages: Double = 1, limit: Int = 64) {
        self.count = max(0, count)
        self.pages = pages.isFinite ? max(0, pages) : 0
        self.limit = max(0, limit)
    }

    /// Updates the visible range. Positions outside of the list are ignored.
    package mutating func show(_ range: Range<Int>) -> Change {
        let range = range.clamped(to: 0..<count)
        guard range != visible else { return Change() }
        // Compare both ends, because a range that grows at one end moves in that direction.
        let moved = (range.lowerBound - last.lowerBound).signum() + (range.upperBound - last.upperBound).signum()
        if !last.isEmpty, !range.isEmpty, moved != 0 { direction = moved > 0 ? .forward : .backward }
        visible = range
        if !range.isEmpty { last = range }
        return settle()
    }

    /// Drops all positions and starts over with a list of `count` positions. Call ``show(_:)`` afterward.
    package mutating func reset(count: Int) -> Change {
        var change = Change()
        change.drop = started.sorted()
        started = []
        self.count = max(0, count)
        visible = 0..<0
        last = 0..<0
        direction = .forward
        return change
    }

    /// The positions ahead of the visible range, in the order in which the list will need them.
    package var ahead: [Int] {
        guard !visible.isEmpty else { return [] }
        let wanted = min(limit, Int(saturating: (Double(visible.count) * pages).rounded(.up)))
        switch direction {
        case .forward:
            let end = visible.upperBound
            return Array(end..<min(count, end + min(wanted, count - end)))
        case .backward:
            let start = visible.lowerBound
            return Array((start - min(wanted, start)..<start).reversed())
        }
    }

    private mutating func settle() -> Change {
        let ahead = ahead
        let wanted = Set(ahead)
        var change = Change()
        change.start = ahead.filter { !started.contains($0) }
        change.drop = started.filter { !wanted.contains($0) && !visible.contains($0) }.sorted()
        started.subtract(change.drop)
        started.formUnion(change.start)
        return change
    }
}
