// SPDX-License-Identifier: MIT

import Glibc

/// A state machine that predicts where a scrolling list comes to rest. It's pure: it receives the scroll position and the
/// time of each frame.
///
/// After a gesture, the speed decreases exponentially (GtkScrolledWindow and other toolkits do this), so the remaining
/// distance is the speed divided by the rate of the decrease. Both follow from the positions of the last frames.
package struct ScrollForecast: Sendable, Hashable {
    private struct Sample: Sendable, Hashable {
        let time: Double
        let position: Double
    }

    /// A scroll position at rest, and the rate at which the speed decreases until then.
    private struct Rest: Sendable, Hashable {
        let position: Double
        let rate: Double
    }

    /// The state of a list that scrolls so fast that images can't be seen.
    package struct Flight: Sendable, Hashable {
        /// The predicted scroll position at rest, or `nil` if the list doesn't slow down steadily.
        package var landing: Double?
        /// The rate, per second, at which the speed decreases, or `nil` if it isn't known.
        package var rate: Double?

        package init(landing: Double? = nil, rate: Double? = nil) {
            self.landing = landing
            self.rate = rate
        }
    }

    /// The time, in seconds, in which a list moves by its visible length. A list that moves faster is in flight if its
    /// landing is known, because the images at the landing are prefetched then.
    package static let shortestDwell = 0.25
    /// The shortest time, in seconds, in which an image can appear: one or two frames and a fast load.
    private static let briefestDwell = 0.04
    /// The age, in seconds, up to which samples count.
    private static let span = 0.15
    /// The interval, in seconds, after which a frame begins another movement. It's longer than that of a slow frame. A
    /// rest of the list ends a movement earlier, because two frames have the same position then.
    private static let longestFrame = 0.6
    /// The number of samples that describe a movement. Fewer samples can be a jump, such as that of a key.
    private static let fewestSamples = 4
    /// The part of the remaining distance by which two predictions may differ.
    private static let tolerance = 1.0 / 32

    private var samples: [Sample] = []
    /// The previous prediction, which must be confirmed.
    private var previous: Sample?
    /// The confirmed scroll position at rest and the rate at which the speed decreases.
    private var landing: Rest?

    package init() {}

    /// Whether the list moved in the last frame.
    package var isMoving: Bool { samples.count > 1 }

    /// The average speed of the last frames, in points per second. The sign is the direction.
    package var speed: Double {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
        return (last.position - first.position) / (last.time - first.time)
    }

    /// Records the scroll position in the frame at `time`, in seconds.
    package mutating func record(_ position: Double, at time: Double, visibleLength: Double) {
        guard position.isFinite, time.isFinite else { return }
        if let last = samples.last {
            if time <= last.time {
                // This is another report of the same frame.
                if samples.count > 1 { samples[samples.count - 1] = Sample(time: last.time, position: position) }
                return
            }
            if position == last.position || time - last.time > Self.longestFrame { reset() }
        }
        samples.append(Sample(time: time, position: position))
        while samples.count > Self.fewestSamples + 1, time - samples[0].time > Self.span { samples.removeFirst() }
        predict(visibleLength)
    }

    /// Returns the flight, or `nil` if the list rests, moves slowly, or only jumped.
    ///
    /// - Parameters:
    ///   - visibleLength: The visible length of the list.
    ///   - loadingTime: The time, in seconds, that an image needs to load. If the landing is unknown, a list is in flight
    ///     only if its images aren't visible for this time.
    package func flight(visibleLength: Double, loadingTime: Double = shortestDwell) -> Flight? {
        guard samples.count >= Self.fewestSamples, visibleLength > 0 else { return nil }
        let dwell = landing == nil ? min(max(loadingTime, Self.briefestDwell), Self.shortestDwell) : Self.shortestDwell
        guard abs(speed) * dwell > visibleLength else { return nil }
        return Flight(landing: landing?.position, rate: landing?.rate)
    }

    private mutating func reset() {
        samples = []
        previous = nil
        landing = nil
    }

    private mutating func predict(_ visibleLength: Double) {
        guard let next = prediction, let last = samples.last else {
            (previous, landing) = (nil, nil)
            return
        }
        // Noise in the first predictions would start useless downloads, so two of them must agree.
        let tolerance = max(visibleLength / 2, abs(next.position - last.position) * Self.tolerance)
        if let previous { landing = abs(next.position - previous.position) <= tolerance ? next : nil }
        previous = Sample(time: last.time, position: next.position)
    }

    /// The average of an exponential over an interval, divided by its value at the center. The argument is half the
    /// interval multiplied by the rate.
    private static func ratioToCenter(_ half: Double) -> Double { half > 1e-6 ? sinh(half) / half : 1 }

    private var prediction: Rest? {
        guard samples.count >= Self.fewestSamples, let first = samples.first, let last = samples.last else {
            return nil
        }
        let middle = samples[samples.count / 2]
        let before = (middle.position - first.position) / (middle.time - first.time)
        let now = (last.position - middle.position) / (last.time - middle.time)
        guard before * now > 0, abs(now) < abs(before) else { return nil }
        var rate = 0.0
        var center = now
        for _ in 0..<3 {
            // The average of an exponential over an interval differs from its value at the center of the interval.
            let early = before / Self.ratioToCenter(rate * (middle.time - first.time) / 2)
            center = now / Self.ratioToCenter(rate * (last.time - middle.time) / 2)
            rate = log(early / center) / ((last.time - first.time) / 2)
        }
        guard rate > 0 else { return nil }
        let rest = last.position + center * exp(-rate * (last.time - middle.time) / 2) / rate
        return rest.isFinite ? Rest(position: rest, rate: rate) : nil
    }
}
