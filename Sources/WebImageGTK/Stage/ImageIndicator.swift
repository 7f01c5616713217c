// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageCore

    /// One frame of an indicator, to be drawn by an app's own.
    @MainActor
    public struct IndicatorFrame {
        /// The GtkSnapshot to draw into. Its origin is the upper left corner of the view's place.
        public let snapshot: OpaquePointer
        /// Width of the place in points.
        public let width: Double
        /// Height of the place in points.
        public let height: Double
        /// The part of the download that is there, 0 to 1; nil where it is not known.
        public let fraction: Double?
        /// Seconds since the load began; 0 throughout where the desktop wants no motion.
        public let seconds: Double
        /// What a text in the view would be drawn with: light on a dark background.
        public let foreground: PixelColor
    }

    /// What a view shows on top while it loads.
    public struct ImageIndicator: Sendable {
        enum Style: Sendable { case none, spinner, ring, bar, custom }

        let style: Style
        private let drawing: (@MainActor (IndicatorFrame) -> Void)?
        private let alwaysMoves: Bool
        /// Seconds of loading after which it appears, so that quick loads show none. Default 0.1.
        public var delay = 0.1

        private init(_ style: Style, alwaysMoves: Bool = false, _ drawing: (@MainActor (IndicatorFrame) -> Void)? = nil)
        {
            self.style = style
            self.alwaysMoves = alwaysMoves
            self.drawing = drawing
        }

        /// Nothing. The default.
        public static let none = ImageIndicator(.none)
        /// Turning spokes, whatever is known of the progress.
        public static let spinner = ImageIndicator(.spinner, alwaysMoves: true) { $0.drawSpinner() }
        /// A ring that fills, and turns while the progress is not known.
        public static let ring = ImageIndicator(.ring) { $0.drawRing() }
        /// A bar at the lower edge that fills, and moves while the progress is not known.
        public static let bar = ImageIndicator(.bar) { $0.drawBar() }

        /// An app's own.
        ///
        /// - Parameters:
        ///   - moves: whether it is drawn anew in every frame; else only when the progress changes, and while that is not
        ///     known. Default false.
        ///   - draw: draws one frame.
        public static func custom(
            moves: Bool = false, draw: @escaping @MainActor (IndicatorFrame) -> Void
        ) -> ImageIndicator {
            ImageIndicator(.custom, alwaysMoves: moves, draw)
        }

        /// The same one, appearing after `seconds` of loading.
        public func delayed(by seconds: Double) -> ImageIndicator {
            var indicator = self
            indicator.delay = seconds
            return indicator
        }

        var isShown: Bool { drawing != nil }

        var delayNanoseconds: Int { delay.isFinite ? Int(min(max(0, delay), 3_600) * 1e9) : 0 }

        func moves(_ fraction: Double?) -> Bool { alwaysMoves || fraction == nil }

        @MainActor
        func draw(_ frame: IndicatorFrame) { drawing?(frame) }
    }
#endif
