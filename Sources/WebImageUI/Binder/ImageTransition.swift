// SPDX-License-Identifier: MIT

/// A description of the transition from one image to the next. Views render it.
///
/// Images that were in memory appear immediately without a transition, unless ``appliesToMemoryHits`` is `true`.
public struct ImageTransition: Sendable, Hashable {
    /// The visual effect.
    public enum Effect: Sendable, Hashable {
        /// The new image appears immediately.
        case none
        /// The old image fades out while the new image fades in.
        case crossFade
        /// The new image slides in from an edge.
        case slide(Edge)
        /// The slot flips so that the given edge turns toward the viewer.
        case flip(Edge)
        /// The new image grows from the center to its final size.
        case zoom
        /// An effect that a view defines for this name.
        case custom(String)
    }

    /// An edge of the slot.
    public enum Edge: Sendable, Hashable, CaseIterable {
        /// The left edge.
        case left
        /// The right edge.
        case right
        /// The top edge.
        case top
        /// The bottom edge.
        case bottom
    }

    /// The timing curve of the effect.
    public enum Curve: Sendable, Hashable, CaseIterable {
        /// The speed is constant.
        case linear
        /// The effect is slow at the beginning.
        case easeIn
        /// The effect slows down at the end.
        case easeOut
        /// The effect is slow at the beginning and at the end.
        case easeInOut

        /// Returns the completed fraction of the effect at `time`, which is a fraction of the duration. Both are from 0
        /// to 1. The easing curves are cubic.
        package func progress(at time: Double) -> Double {
            let time = min(1, max(0, time.isNaN ? 1 : time))
            let rest = 1 - time
            switch self {
            case .linear: return time
            case .easeIn: return time * time * time
            case .easeOut: return 1 - rest * rest * rest
            case .easeInOut: return time < 0.5 ? 4 * time * time * time : 1 - 4 * rest * rest * rest
            }
        }
    }

    /// The visual effect.
    public var effect: Effect
    /// The duration of the transition.
    ///
    /// A negative duration becomes zero. The default is 0.5 seconds, as in SDWebImage.
    public var duration: Duration { didSet { duration = max(.zero, duration) } }
    /// The timing curve of the effect. The default is ``Curve/easeInOut``.
    public var curve: Curve
    /// A Boolean value that indicates whether the transition also applies to images that were in memory. The default is
    /// `false`.
    public var appliesToMemoryHits = false

    /// Creates a transition.
    ///
    /// - Parameters:
    ///   - effect: The visual effect.
    ///   - duration: The duration of the transition. The default is 0.5 seconds.
    public init(_ effect: Effect, duration: Duration = .milliseconds(500)) {
        self.init(effect, duration: duration, curve: .easeInOut)
    }

    /// Creates a transition with a timing curve.
    package init(_ effect: Effect, duration: Duration, curve: Curve) {
        self.effect = effect
        self.duration = max(.zero, duration)
        self.curve = curve
    }

    /// A transition in which the new image appears immediately.
    public static let none = ImageTransition(.none, duration: .zero)

    /// Returns a transition that fades from the old to the new image in `duration`.
    public static func crossFade(duration: Duration = .milliseconds(500)) -> ImageTransition {
        ImageTransition(.crossFade, duration: duration)
    }

    /// Returns a transition that slides the new image in from `edge` in `duration`.
    public static func slide(from edge: Edge, duration: Duration = .milliseconds(500)) -> ImageTransition {
        ImageTransition(.slide(edge), duration: duration)
    }

    /// Returns a transition that flips the slot in `duration`.
    public static func flip(from edge: Edge, duration: Duration = .milliseconds(500)) -> ImageTransition {
        ImageTransition(.flip(edge), duration: duration)
    }

    /// Returns a transition that enlarges the new image to its final size in `duration`.
    public static func zoom(duration: Duration = .milliseconds(500)) -> ImageTransition {
        ImageTransition(.zoom, duration: duration)
    }

    /// Returns a transition with an effect that a view defines for `name` and that takes `duration`.
    public static func custom(_ name: String, duration: Duration = .milliseconds(500)) -> ImageTransition {
        ImageTransition(.custom(name), duration: duration)
    }

    /// Returns a copy of the transition that also applies to images that were in memory.
    public func forced() -> ImageTransition {
        var transition = self
        transition.appliesToMemoryHits = true
        return transition
    }
}
