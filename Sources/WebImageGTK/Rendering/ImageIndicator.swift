// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageCore
    import WebImageUI

    extension ImageIndicator {
        /// The parameters for drawing one frame of a custom indicator.
        @MainActor
        public struct Frame {
            /// The GtkSnapshot to draw into. Its origin is the upper-left corner of the view.
            public let snapshot: OpaquePointer
            /// The width of the view, in points.
            public let width: Double
            /// The height of the view, in points.
            public let height: Double
            /// The fraction of the download that's complete, from 0 to 1, or `nil` if it's unknown.
            public let fraction: Double?
            /// The time since the load started. It's always zero if the desktop settings disable animations.
            public let elapsed: Duration
            /// The ``ImageIndicator/color`` of the indicator. If that's `nil`, it's the text color of the view, which is
            /// light on a dark background.
            public internal(set) var foregroundColor: PixelColor
            /// The ``ImageIndicator/maxDiameter`` of the indicator, in points.
            public internal(set) var maxDiameter = ImageIndicator.defaultDiameter
            /// A Boolean value that indicates whether the interface runs from right to left, as in Arabic and Hebrew. A
            /// linear indicator then fills from the right.
            public internal(set) var isRightToLeft = false
            /// A Boolean value that indicates whether the theme has a high contrast. An indicator then uses only opaque
            /// colors.
            public internal(set) var hasHighContrast = false
        }
    }

    /// An indicator that a view shows on top of its content while it loads.
    public struct ImageIndicator: Sendable {
        enum Style: Sendable { case none, spinner, ring, bar, custom }

        let style: Style
        private let drawing: (@MainActor (ImageIndicator.Frame) -> Void)?
        private let alwaysMoves: Bool
        /// The time from the start of the load until the indicator appears. The default is 0.1 seconds, so fast loads
        /// show no indicator.
        public var delay = Duration.milliseconds(100)
        /// The color of the indicator. The default is `nil`, which means the text color of the view.
        public var color: PixelColor?
        /// The maximum diameter of a spinner or a ring, in points. It never exceeds 60 percent of the shorter side of the
        /// view. The default is 48.
        public var maxDiameter = ImageIndicator.defaultDiameter

        static let defaultDiameter = 48.0

        private init(
            _ style: Style, alwaysMoves: Bool = false, _ drawing: (@MainActor (ImageIndicator.Frame) -> Void)? = nil
        ) {
            self.style = style
            self.alwaysMoves = alwaysMoves
            self.drawing = drawing
        }

        /// No indicator. This is the default.
        public static let none = ImageIndicator(.none)
        /// Rotating spokes, regardless of the progress.
        public static let spinner = ImageIndicator(.spinner, alwaysMoves: true) { $0.drawSpinner() }
        /// A ring that fills with the progress, or rotates while the progress is unknown.
        public static let ring = ImageIndicator(.ring) { $0.drawRing() }
        /// A bar at the bottom edge that fills with the progress, or moves while the progress is unknown.
        public static let bar = ImageIndicator(.bar) { $0.drawBar() }

        /// Returns a custom indicator.
        ///
        /// - Parameters:
        ///   - isAnimated: A Boolean value that indicates whether the indicator is redrawn in every frame. If it's
        ///     `false`, the indicator is redrawn when the progress changes, and in every frame while the progress is
        ///     unknown. The default is `false`.
        ///   - draw: A closure that draws one frame.
        public static func custom(
            isAnimated: Bool = false, draw: @escaping @MainActor (ImageIndicator.Frame) -> Void
        ) -> ImageIndicator {
            ImageIndicator(.custom, alwaysMoves: isAnimated, draw)
        }

        /// Returns a copy of the indicator that appears after loading for `delay`.
        public func delayed(by delay: Duration) -> ImageIndicator {
            var indicator = self
            indicator.delay = delay
            return indicator
        }

        var isVisible: Bool { drawing != nil }

        var delayNanoseconds: Int { min(max(.zero, delay), .seconds(3_600)).saturatingNanoseconds }

        /// The interval between two frames of a moving indicator, in nanoseconds. Custom indicators move in every frame.
        /// The others move 12 times per second, which is the number of spokes that a spinner passes, because redrawing
        /// costs more processor time than loading on slow networks.
        var stepNanoseconds: Int { style == .custom ? 1 : 83_333_333 }

        /// The interval between two frames that show a new progress, in nanoseconds.
        var progressNanoseconds: Int { style == .custom ? 1 : 2 * stepNanoseconds }

        func moves(_ fraction: Double?) -> Bool { alwaysMoves || fraction == nil }

        @MainActor
        func draw(_ frame: ImageIndicator.Frame) {
            var frame = frame
            frame.foregroundColor = color ?? frame.foregroundColor
            frame.maxDiameter = maxDiameter.isFinite ? max(0, maxDiameter) : Self.defaultDiameter
            drawing?(frame)
        }
    }
#endif
