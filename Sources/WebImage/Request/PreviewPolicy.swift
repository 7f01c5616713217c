// SPDX-License-Identifier: MIT

/// The policy that decides whether a request delivers previews of a running download, and in which style.
public struct PreviewPolicy: Sendable, Hashable {
    /// The style of previews.
    package enum Style: Sendable, Hashable {
        /// Delivers no previews.
        case none
        /// Delivers the data received so far: the upper rows, or the whole image in coarse steps, depending on the
        /// file.
        case progressive
        /// Delivers the whole image with decreasing blur.
        ///
        /// This style requires a file that contains a coarse version of the whole image at its beginning, such as JPEG
        /// with several scans or interlaced PNG. Other files have no previews.
        case blurred
    }

    /// The style of the previews.
    package let style: Style
    /// The minimum time between two previews of a download, in seconds.
    package let minimumInterval: Double

    private init(_ style: Style, _ seconds: Double) {
        self.style = style
        minimumInterval = max(0, seconds)
    }

    /// A policy without previews. This is the default.
    public static let disabled = PreviewPolicy(.none, 0)
    /// A policy that shows the data received so far, at most every 0.2 seconds.
    public static let progressive = PreviewPolicy(.progressive, 0.2)
    /// A policy that shows the whole image with decreasing blur, at most every 0.4 seconds.
    public static let blurred = PreviewPolicy(.blurred, 0.4)

    /// Returns a policy that shows the data received so far, at most once per `interval`.
    public static func progressive(interval: Duration) -> PreviewPolicy {
        PreviewPolicy(.progressive, interval / .seconds(1))
    }
    /// Returns a policy that shows the whole image with decreasing blur, at most once per `interval`.
    public static func blurred(interval: Duration) -> PreviewPolicy { PreviewPolicy(.blurred, interval / .seconds(1)) }
}
