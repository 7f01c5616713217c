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
///
/// While the list moves too fast for images to be seen, the positions ahead are those at which it will come to rest, and
/// then those before them. With a ``FlightPlan``, they're the positions that can be loaded in time, in the order in which
/// the list reaches them.
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
        /// Whether there's nothing to start and nothing to drop.
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
    /// The positions at which the list will come to rest, or `nil` if it doesn't move fast.
    private var landing: Range<Int>?
    private var reach = 1.0
    /// The plan of the flight to the landing, or `nil` if it isn't known.
    private var plan: FlightPlan?
    /// The maximum number of positions in a flight, as a multiple of `limit`.
    private static let flightLimit = 8
    /// The number of visible lengths before the landing whose positions are prefetched. The list needs about a tenth of a
    /// second for the first of them.
    private static let approachPages = 5
    /// The positions that were started and haven't been dropped.
    package private(set) var started: Set<Int> = []

    /// Creates a window for a list of `count` positions. Negative values, infinity, and NaN count as 0.
    package init(count: Int = 0, pages: Double = 1, limit: Int = 64) {
        self.count = max(0, count)
        self.pages = pages.isFinite ? max(0, pages) : 0
        self.limit = max(0, limit)
    }

    /// Updates the visible range. Positions outside of the list are ignored.
    ///
    /// - Parameters:
    ///   - range: The visible positions.
    ///   - landing: The positions that will be visible when the list comes to rest. An empty range means that they're
    ///     unknown, so nothing is prefetched. `nil` means that the list doesn't move fast.
    ///   - reach: A factor for the number of positions to prefetch, which is higher while the list scrolls.
    ///   - plan: The plan of the flight to the landing, or `nil` if it isn't known.
    ///   - isLoaded: A closure that returns whether the prefetch of a started position has ended. It's used only with a
    ///     plan.
    package mutating func show(
        _ range: Range<Int>, landing: Range<Int>? = nil, reach: Double = 1, plan: FlightPlan? = nil,
        isLoaded: (Int) -> Bool = { _ in false }
    ) -> Change {
        let range = range.clamped(to: 0..<count)
        let landing = landing?.clamped(to: 0..<count)
        let reach = reach.isFinite ? min(max(reach, 1), 8) : 1
        let plan = landing?.isEmpty == false && plan?.isValid == true ? plan : nil
        guard range != visible || landing != self.landing || reach != self.reach || plan != nil else { return Change() }
        (self.landing, self.reach, self.plan) = (landing, reach, plan)
        // Compare both ends, because a range that grows at one end moves in that direction.
        let moved = (range.lowerBound - last.lowerBound).signum() + (range.upperBound - last.upperBound).signum()
        if !last.isEmpty, !range.isEmpty, moved != 0 { direction = moved > 0 ? .forward : .backward }
        visible = range
        if !range.isEmpty { last = range }
        guard let landing, let plan else { return settle(ahead) }
        let path = path(to: landing, plan, isLoaded)
        let waiting = path.filter { !isLoaded($0) }
        // Requests that were started may arrive in time although a new one wouldn't, so only passed positions are dropped.
        let kept = started.filter {
            direction == .forward
                ? $0 >= last.upperBound && $0 < landing.upperBound
                : $0 < last.lowerBound && $0 >= landing.lowerBound
        }
        return settle(path, among: Set(waiting.prefix(plan.queueLength)), keeping: kept)
    }

    /// Whether the prefetch of a position was started.
    package func isStarted(_ position: Int) -> Bool { started.contains(position) }

    /// Drops all positions and starts over with a list of `count` positions. Call ``show(_:)`` afterward.
    package mutating func reset(count: Int) -> Change {
        var change = Change()
        change.drop = started.sorted()
        started = []
        self.count = max(0, count)
        visible = 0..<0
        last = 0..<0
        direction = .forward
        (landing, reach, plan) = (nil, 1, nil)
        return change
    }

    /// The positions ahead of the visible range, in the order in which the list will need them.
    package var ahead: [Int] {
        if let landing { return approach(to: landing) }
        guard !visible.isEmpty else { return [] }
        let wanted = min(limit, Int(saturating: (Double(visible.count) * pages * reach).rounded(.up)))
        switch direction {
        case .forward:
            let end = visible.upperBound
            return Array(end..<min(count, end + min(wanted, count - end)))
        case .backward:
            let start = visible.lowerBound
            return Array((start - min(wanted, start)..<start).reversed())
        }
    }

    /// Returns the positions at which the list comes to rest, with the middle ones first, and then the positions that it
    /// passes before, with the last ones first. Visible positions aren't part of the result.
    private func approach(to landing: Range<Int>) -> [Int] {
        guard !landing.isEmpty, pages > 0 else { return [] }
        let middle = (landing.lowerBound + landing.upperBound - 1) / 2
        var positions = landing.sorted { (abs($0 - middle), $0) < (abs($1 - middle), $1) }
        let length = landing.count * Self.approachPages
        switch direction {
        case .forward:
            let first = max(0, landing.lowerBound - length, visible.upperBound)
            if first < landing.lowerBound { positions += (first..<landing.lowerBound).reversed() }
        case .backward:
            let end = min(count, landing.upperBound + length, visible.isEmpty ? count : visible.lowerBound)
            if end > landing.upperBound { positions += landing.upperBound..<end }
        }
        return Array(positions.lazy.filter { !visible.contains($0) }.prefix(limit))
    }

    /// Returns the positions that can be loaded before the list reaches them, in the order in which it reaches them, and
    /// at least those of the landing. Visible positions aren't part of the result.
    private func path(to landing: Range<Int>, _ plan: FlightPlan, _ isLoaded: (Int) -> Bool) -> [Int] {
        guard pages > 0, limit > 0 else { return [] }
        let grace = last.count / 2
        let most = max(landing.count, limit <= Int.max / Self.flightLimit ? limit * Self.flightLimit : limit)
        switch direction {
        case .forward:
            let end = landing.upperBound
            let reach = plan.reach(remaining: end - last.upperBound, limit: most, grace: grace) {
                isLoaded(end - 1 - $0)
            }
            let first = max(0, end - max(reach, landing.count))
            return (first..<end).filter { !visible.contains($0) }
        case .backward:
            let start = landing.lowerBound
            let reach = plan.reach(remaining: last.lowerBound - start, limit: most, grace: grace) {
                isLoaded(start + $0)
            }
            let end = min(count, start + max(reach, landing.count))
            return (start..<end).reversed().filter { !visible.contains($0) }
        }
    }

    /// Makes `ahead` and `kept` the wanted positions, and starts those of `ahead` that are also in `group`.
    private mutating func settle(_ ahead: [Int], among group: Set<Int>? = nil, keeping kept: Set<Int> = []) -> Change {
        let wanted = kept.union(ahead)
        var change = Change()
        change.start = ahead.filter { !started.contains($0) && group?.contains($0) != false }
        change.drop = started.filter { !wanted.contains($0) && !visible.contains($0) }.sorted()
        started.subtract(change.drop)
        started.formUnion(change.start)
        return change
    }
}
