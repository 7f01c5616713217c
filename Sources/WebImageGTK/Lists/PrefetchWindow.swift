// SPDX-License-Identifier: MIT

import WebImageCore

/// Decides which positions of a list are fetched ahead while it is scrolled. A pure state machine that knows neither
/// widgets nor pictures: it is told what is visible and says what to start and what to drop. For lists, grids and flow
/// boxes alike; positions go from 0.
///
/// Ahead is where the list moves to; before it has moved, it is down. Visible positions are never started, since what
/// shows them loads by itself. A position that was started and becomes visible is not dropped: its view has joined the
/// work. It is dropped when it is neither visible nor ahead any more.
public struct PrefetchWindow: Sendable, Hashable {
    /// Where a list moves to.
    public enum Direction: Sendable, Hashable {
        /// To higher positions.
        case forward
        /// To lower positions.
        case backward
    }

    /// What is to be done after a move.
    public struct Change: Sendable, Hashable {
        /// Positions to start, the one that is wanted soonest first.
        public var start: [Int] = []
        /// Positions to drop, lowest first.
        public var drop: [Int] = []

        /// Nothing.
        public init() {}
        /// Whether nothing is to be done.
        public var isEmpty: Bool { start.isEmpty && drop.isEmpty }
    }

    /// Positions fetched ahead, in visible ranges: 1 is as many as are visible. Default 1.
    public let pages: Double
    /// Positions fetched ahead at most. Default 64.
    public let limit: Int
    /// Positions there are.
    public private(set) var count: Int
    /// Positions that are visible; empty before the first ``show(_:)``.
    public private(set) var visible: Range<Int> = 0..<0
    /// Where the list moved to last.
    public private(set) var direction = Direction.forward
    /// What was visible last: while a list is laid out anew, nothing may be for a moment.
    private var last: Range<Int> = 0..<0
    /// Positions that were started and not dropped.
    public private(set) var started: Set<Int> = []

    /// A window over a list of `count` positions. Numbers below 0, and what is no number, count as 0.
    public init(count: Int = 0, pages: Double = 1, limit: Int = 64) {
        self.count = max(0, count)
        self.pages = pages.isFinite ? max(0, pages) : 0
        self.limit = max(0, limit)
    }

    /// Tells what is visible now. What lies outside the list does not count.
    public mutating func show(_ range: Range<Int>) -> Change {
        let range = range.clamped(to: 0..<count)
        guard range != visible else { return Change() }
        // Both ends, because a range that grows at one end moves there.
        let moved = (range.lowerBound - last.lowerBound).signum() + (range.upperBound - last.upperBound).signum()
        if !last.isEmpty, !range.isEmpty, moved != 0 { direction = moved > 0 ? .forward : .backward }
        visible = range
        if !range.isEmpty { last = range }
        return settle()
    }

    /// Tells that the list is another one now. Everything is dropped; what is visible has to be told anew.
    public mutating func reset(count: Int) -> Change {
        var change = Change()
        change.drop = started.sorted()
        started = []
        self.count = max(0, count)
        visible = 0..<0
        last = 0..<0
        direction = .forward
        return change
    }

    /// Positions that are wanted ahead of what is visible, the one that is wanted soonest first.
    public var ahead: [Int] {
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
