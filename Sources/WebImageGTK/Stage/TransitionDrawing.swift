// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCore

    /// One frame of a transition, to be drawn by an app's own effect (``Transition/register(_:draw:)``).
    @MainActor
    public struct TransitionFrame {
        /// The GtkSnapshot to draw into. Its origin is the upper left corner of the place.
        public let snapshot: OpaquePointer
        /// Width of the place in points.
        public let width: Double
        /// Height of the place in points.
        public let height: Double
        /// The part of the effect that lies behind, 0 to 1, the curve already applied.
        public let progress: Double
        /// Draws what was shown before, if anything, in the place.
        public let drawOld: () -> Void
        /// Draws what is coming in the place.
        public let drawNew: () -> Void
    }

    /// A transition on its way.
    struct RunningTransition {
        let transition: Transition
        /// When it began, in nanoseconds; nil before the first frame in which it can be seen.
        var start: Int?

        /// Nil where the new picture is simply to be there.
        init?(_ transition: Transition, animates: Bool) {
            guard animates, transition.effect != .none, transition.duration > 0 else { return nil }
            self.transition = transition
        }

        private func part(at now: Int) -> Double {
            guard let start else { return 0 }
            return Double(max(0, now - start)) / 1e9 / transition.duration
        }

        func isOver(at now: Int) -> Bool { part(at: now) >= 1 }

        func progress(at now: Int) -> Double { transition.curve.progress(at: part(at: now)) }
    }

    @MainActor private var effects: [String: @MainActor (TransitionFrame) -> Void] = [:]

    extension Transition {
        /// Sets what views draw for the effect ``Transition/Effect/named(_:)`` of this name. A name that nobody registered
        /// cross-fades.
        @MainActor
        public static func register(_ name: String, draw: @escaping @MainActor (TransitionFrame) -> Void) {
            effects[name] = draw
        }

        @MainActor
        func draw(_ frame: TransitionFrame) {
            switch effect {
            case .none: frame.drawNew()
            case .crossFade: frame.crossFade()
            case .slide(let edge): frame.slide(from: edge)
            case .flip(let edge): frame.flip(to: edge)
            case .zoom: frame.zoom()
            case .named(let name):
                if let draw = effects[name] { draw(frame) } else { frame.crossFade() }
            }
        }
    }

    extension TransitionFrame {
        private var place: StageRect { StageRect(x: 0, y: 0, width: width, height: height) }

        /// Fades from the old to the new.
        public func crossFade() {
            Snapshot(pointer: snapshot).crossFade(progress, from: drawOld, to: drawNew)
        }

        func slide(from edge: Transition.Edge) {
            let snapshot = Snapshot(pointer: snapshot)
            let rest = 1 - progress
            let (x, y): (Double, Double) =
                switch edge {
                case .left: (-width * rest, 0)
                case .right: (width * rest, 0)
                case .top: (0, -height * rest)
                case .bottom: (0, height * rest)
                }
            snapshot.clipped(to: place) {
                drawOld()
                snapshot.moved(x: x, y: y, drawNew)
            }
        }

        /// Turns around the axis that is parallel to the edge: a side that turns away is as wide as its cosine. Renderers
        /// without a third dimension draw it too.
        func flip(to edge: Transition.Edge) {
            let snapshot = Snapshot(pointer: snapshot)
            let part = abs(1 - 2 * progress)
            let isAcross = edge == .left || edge == .right
            snapshot.scaled(
                x: isAcross ? part : 1, y: isAcross ? 1 : part, in: (width, height), progress < 0.5 ? drawOld : drawNew)
        }

        func zoom() {
            let snapshot = Snapshot(pointer: snapshot)
            let scale = 0.6 + 0.4 * progress
            snapshot.faded(to: 1 - progress, drawOld)
            snapshot.faded(to: progress) { snapshot.scaled(x: scale, y: scale, in: (width, height), drawNew) }
        }
    }
#endif
