// SPDX-License-Identifier: MIT

/// How one picture gives way to the next. A description only: views draw it.
///
/// Pictures that were in memory appear at once, without a transition, unless it is ``always(_:)``.
public struct Transition: Sendable, Hashable {
    /// What is seen.
    public enum Effect: Sendable, Hashable {
        /// The new picture is there at once.
        case none
        /// The old one fades out while the new one fades in.
        case crossFade
        /// The new one comes in from an edge.
        case slide(Edge)
        /// The slot turns over, the named edge towards the viewer.
        case flip(Edge)
        /// The new one grows to its place from the middle.
        case zoom
        /// What a view knows under this name.
        case named(String)
    }

    /// A side of the slot.
    public enum Edge: Sendable, Hashable, CaseIterable {
        /// The left side.
        case left
        /// The right side.
        case right
        /// The upper side.
        case top
        /// The lower side.
        case bottom
    }

    /// How the effect goes over time.
    public enum Curve: Sendable, Hashable, CaseIterable {
        /// Evenly.
        case linear
        /// Slowly at the end.
        case easeOut
        /// Slowly at the beginning and at the end.
        case easeInOut

        /// The part of the effect, 0 to 1, after the part `time` of its duration, 0 to 1; cubic.
        public func progress(at time: Double) -> Double {
            let time = min(1, max(0, time.isNaN ? 1 : time))
            let rest = 1 - time
            switch self {
            case .linear: return time
            case .easeOut: return 1 - rest * rest * rest
            case .easeInOut: return time < 0.5 ? 4 * time * time * time : 1 - 4 * rest * rest * rest
            }
        }
    }

    /// What is seen.
    public var effect: Effect
    /// The duration of the transition, in seconds.
    ///
    /// A value that is negative or not finite becomes 0. The default is 0.5 seconds, as in SDWebImage.
    public var duration: Double { didSet { duration = Self.usable(duration) } }
    /// How the effect goes over time. Default ``Curve/easeInOut``.
    public var curve: Curve
    /// Whether pictures that were in memory get it too. Default false.
    public var isForced = false

    /// A transition; `duration` in seconds.
    public init(_ effect: Effect, duration: Double = 0.5, curve: Curve = .easeInOut) {
        self.effect = effect
        self.duration = Self.usable(duration)
        self.curve = curve
    }

    /// A transition without an end would hold back what waits for it.
    private static func usable(_ seconds: Double) -> Double { seconds.isFinite ? max(0, seconds) : 0 }

    /// The new picture is there at once.
    public static let none = Transition(.none, duration: 0)

    /// Fades from the old to the new picture within `duration` seconds.
    public static func crossFade(duration: Double = 0.5) -> Transition { Transition(.crossFade, duration: duration) }

    /// The new picture comes in from `edge` within `duration` seconds.
    public static func slide(from edge: Edge, duration: Double = 0.5) -> Transition {
        Transition(.slide(edge), duration: duration)
    }

    /// The slot turns over within `duration` seconds.
    public static func flip(from edge: Edge, duration: Double = 0.5) -> Transition {
        Transition(.flip(edge), duration: duration)
    }

    /// The new picture grows to its place within `duration` seconds.
    public static func zoom(duration: Double = 0.5) -> Transition { Transition(.zoom, duration: duration) }

    /// What a view knows as `name`, within `duration` seconds.
    public static func named(_ name: String, duration: Double = 0.5) -> Transition {
        Transition(.named(name), duration: duration)
    }

    /// `transition` also for pictures that were in memory.
    public static func always(_ transition: Transition) -> Transition {
        var forced = transition
        forced.isForced = true
        return forced
    }
}
