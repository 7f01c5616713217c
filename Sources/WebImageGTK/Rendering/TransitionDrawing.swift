// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCore
    import WebImageUI

    extension ImageTransition {
        /// The parameters for drawing one frame of a custom transition effect. See
        /// ``ImageTransition/register(_:draw:)``.
        @MainActor
        public struct Frame {
            /// The GtkSnapshot to draw into. Its origin is the upper-left corner of the view.
            public let snapshot: OpaquePointer
            /// The width of the view, in points.
            public let width: Double
            /// The height of the view, in points.
            public let height: Double
            /// The progress of the effect, from 0 to 1, with the timing curve applied.
            public let progress: Double
            private let old: () -> Void
            private let new: () -> Void

            init(
                snapshot: OpaquePointer, width: Double, height: Double, progress: Double,
                drawOld: @escaping () -> Void, drawNew: @escaping () -> Void
            ) {
                self.snapshot = snapshot
                self.width = width
                self.height = height
                self.progress = progress
                old = drawOld
                new = drawNew
            }

            /// Draws the previous content, if any.
            public func drawOld() { old() }

            /// Draws the new content.
            public func drawNew() { new() }
        }
    }

    /// A transition that's in progress.
    struct RunningTransition {
        let transition: ImageTransition
        /// The time of the first frame in which the transition was drawn, in nanoseconds, or `nil` before that frame.
        var start: Int?

        /// Returns `nil` if the new image appears immediately.
        init?(_ transition: ImageTransition, animates: Bool) {
            guard animates, transition.effect != .none, transition.duration > .zero else { return nil }
            self.transition = transition
        }

        private func elapsedFraction(at now: Int) -> Double {
            guard let start else { return 0 }
            return Duration.nanoseconds(max(0, now - start)) / transition.duration
        }

        func isFinished(at now: Int) -> Bool { elapsedFraction(at: now) >= 1 }

        func progress(at now: Int) -> Double { transition.curve.progress(at: elapsedFraction(at: now)) }
    }

    @MainActor private var effects: [String: @MainActor (ImageTransition.Frame) -> Void] = [:]

    extension ImageTransition {
        /// Sets the closure that draws the custom transition with this name.
        ///
        /// If no closure is registered for a name, the effect is a cross-fade.
        @MainActor
        public static func register(_ name: String, draw: @escaping @MainActor (ImageTransition.Frame) -> Void) {
            effects[name] = draw
        }

        @MainActor
        func draw(_ frame: ImageTransition.Frame) {
            switch effect {
            case .none: frame.drawNew()
            case .crossFade: frame.crossFade()
            case .slide(let edge): frame.slide(from: edge)
            case .flip(let edge): frame.flip(to: edge)
            case .zoom: frame.zoom()
            case .custom(let name):
                if let draw = effects[name] { draw(frame) } else { frame.crossFade() }
            }
        }
    }

    extension ImageTransition.Frame {
        private var bounds: LayoutRect { LayoutRect(x: 0, y: 0, width: width, height: height) }

        /// Fades from the previous content to the new content.
        package func crossFade() {
            RenderSnapshot(pointer: snapshot).crossFade(progress, from: { drawOld() }, to: { drawNew() })
        }

        func slide(from edge: ImageTransition.Edge) {
            let snapshot = RenderSnapshot(pointer: snapshot)
            let rest = 1 - progress
            let (x, y): (Double, Double) =
                switch edge {
                case .left: (-width * rest, 0)
                case .right: (width * rest, 0)
                case .top: (0, -height * rest)
                case .bottom: (0, height * rest)
                }
            snapshot.clipped(to: bounds) {
                drawOld()
                snapshot.moved(x: x, y: y) { drawNew() }
            }
        }

        /// Rotates the content around the axis that's parallel to the edge. The effect changes only the width or the
        /// height, linearly with the progress, so it works with renderers that don't support 3D transforms.
        func flip(to edge: ImageTransition.Edge) {
            let snapshot = RenderSnapshot(pointer: snapshot)
            let part = abs(1 - 2 * progress)
            let isAcross = edge == .left || edge == .right
            snapshot.scaled(
                x: isAcross ? part : 1, y: isAcross ? 1 : part, in: (width, height)
            ) {
                if progress < 0.5 { drawOld() } else { drawNew() }
            }
        }

        func zoom() {
            let snapshot = RenderSnapshot(pointer: snapshot)
            let scale = 0.6 + 0.4 * progress
            snapshot.faded(to: 1 - progress) { drawOld() }
            snapshot.faded(to: progress) {
                snapshot.scaled(x: scale, y: scale, in: (width, height)) { drawNew() }
            }
        }
    }
#endif
