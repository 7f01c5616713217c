// SPDX-License-Identifier: MIT

import Glibc

/// A state machine that moves a grid of images and records when they appear. It's pure: it receives the time and the
/// visible images of each frame, and returns the next scroll position.
package struct ScrollMeasurementStateMachine: Sendable {
    /// The movement of the grid.
    package enum Movement: Sendable, Hashable {
        /// Scrolls by one page whenever all visible images have appeared, until the end of the list.
        case pages
        /// Waits for the visible images, then moves to `row` and back. The speed decreases exponentially, as after a
        /// gesture on a touchpad.
        case fling(row: Int)

        /// Creates a movement from `pages`, or from `fling:` and the number of a row. Returns `nil` for other texts.
        package init?(_ text: String) {
            if text == "pages" {
                self = .pages
            } else if text.hasPrefix("fling:"), let row = Int(text.dropFirst(6)), (1...1_000_000).contains(row) {
                self = .fling(row: row)
            } else {
                return nil
            }
        }
    }

    /// The geometry of the grid, in points.
    package struct Layout: Sendable, Hashable {
        package var columns: Int
        package var rowHeight: Double
        /// The height of the visible area.
        package var viewport: Double
        /// The scroll position.
        package var value: Double

        package init(columns: Int, rowHeight: Double, viewport: Double, value: Double) {
            self.columns = columns
            self.rowHeight = rowHeight
            self.viewport = viewport
            self.value = value
        }

        /// The positions that are at least partly visible, of a list of `count` images.
        package func visible(of count: Int) -> Range<Int> {
            guard rowHeight > 0, columns > 0 else { return 0..<0 }
            // Ignore rows of which less than a point is visible.
            let first = Int(((value + 1) / rowHeight).rounded(.down))
            let end = Int(((value + viewport - 1) / rowHeight).rounded(.up))
            let lower = min(max(0, first * columns), count)
            return lower..<max(lower, min(count, end * columns))
        }
    }

    /// The times, in seconds since the start, at which images had appeared.
    package struct Times: Sendable, Hashable {
        /// The time of the first visible image.
        package var first: Double?
        /// The time at which all images of the first page were visible.
        package var visible: Double?
        /// The time at which the last image of the list was visible.
        package var all: Double?

        package init(first: Double? = nil, visible: Double? = nil, all: Double? = nil) {
            self.first = first
            self.visible = visible
            self.all = all
        }
    }

    package enum Action: Sendable, Hashable {
        case stay
        case scroll(to: Double)
        case finish
    }

    private enum Phase: Hashable {
        case opening
        case resting(until: Double, thenBack: Bool?)
        case moving(start: Double, from: Double, to: Double, isBack: Bool)
        case paging
    }

    /// The duration of a movement and the time constant of its exponential decrease, in seconds.
    package static let duration = 4.0, timeConstant = 0.5
    /// The rests before the movement, at its end, and after the return, in seconds.
    package static let rests = (before: 0.5, between: 2.0, after: 1.0)

    package private(set) var times = Times()
    /// The time during which visible cells had no image, summed over the cells, in seconds.
    package private(set) var blankWhileMoving = 0.0, blankWhileResting = 0.0
    package private(set) var frames = 0
    /// The longest interval between two frames during the movement, in seconds.
    package private(set) var longestFrame = 0.0
    package var failures: Int { failed.count }

    private let movement: Movement
    private let count: Int
    private var phase = Phase.opening
    private var last: Double?
    private var failed: Set<Int> = []

    package init(_ movement: Movement, count: Int) {
        self.movement = movement
        self.count = count
    }

    /// Records that the image at `position` can't be shown. It counts as shown.
    package mutating func recordFailure(of position: Int) { failed.insert(position) }

    /// Processes a frame at `seconds` since the start. `shown` contains at least the visible positions with an image.
    package mutating func frame(at seconds: Double, layout: Layout, shown: Set<Int>) -> Action {
        frames += 1
        let visible = layout.visible(of: count)
        let missing = visible.count { !shown.contains($0) }
        if times.first == nil, missing < visible.count { times.first = seconds }
        defer { last = seconds }
        switch phase {
        case .opening:
            guard missing == 0, !visible.isEmpty else { return .stay }
            times.visible = seconds
            switch movement {
            case .pages:
                phase = .paging
                return turn(seconds, layout, visible)
            case .fling:
                phase = .resting(until: seconds + Self.rests.before, thenBack: false)
                return .stay
            }
        case .paging: return missing == 0 ? turn(seconds, layout, visible) : .stay
        case .resting(let end, let next):
            // The rest before the movement isn't measured.
            if next != false { count(blank: missing, at: seconds, isMoving: false) }
            guard seconds >= end else { return .stay }
            guard let next else { return .finish }
            return move(seconds, layout, isBack: next)
        case .moving(let start, let from, let to, let isBack):
            count(blank: missing, at: seconds, isMoving: true)
            let elapsed = seconds - start
            guard elapsed < Self.duration else {
                let rest = isBack ? Self.rests.after : Self.rests.between
                phase = .resting(until: seconds + rest, thenBack: isBack ? nil : true)
                return .scroll(to: to)
            }
            return .scroll(to: from + (to - from) * Self.part(elapsed))
        }
    }

    /// The part of the distance that is covered after `elapsed` seconds.
    package static func part(_ elapsed: Double) -> Double {
        (1 - exp(-elapsed / timeConstant)) / (1 - exp(-duration / timeConstant))
    }

    private mutating func count(blank: Int, at seconds: Double, isMoving: Bool) {
        guard let last else { return }
        let interval = seconds - last
        longestFrame = max(longestFrame, interval)
        if isMoving {
            blankWhileMoving += Double(blank) * interval
        } else {
            blankWhileResting += Double(blank) * interval
        }
    }

    private mutating func turn(_ seconds: Double, _ layout: Layout, _ visible: Range<Int>) -> Action {
        guard visible.upperBound < count else {
            times.all = seconds
            return .finish
        }
        let rows = max(1, (layout.viewport / layout.rowHeight).rounded(.down))
        return .scroll(to: layout.value + rows * layout.rowHeight)
    }

    private mutating func move(_ seconds: Double, _ layout: Layout, isBack: Bool) -> Action {
        guard case .fling(let row) = movement else { return .finish }
        phase = .moving(
            start: seconds, from: layout.value, to: isBack ? 0 : Double(row) * layout.rowHeight, isBack: isBack)
        return .stay
    }
}
