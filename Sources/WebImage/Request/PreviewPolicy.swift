// SPDX-License-Identifier: MIT

/// Whether partial pictures of a running download are shown, and how.
public struct PreviewPolicy: Sendable, Hashable {
    /// What previews look like.
    public enum Style: Sendable, Hashable {
        /// There are none.
        case none
        /// What has come so far: the upper rows, or the whole picture in coarse steps, as the file has it.
        case progressive
        /// The whole picture, blurred less and less. Only of files that show all of it from the beginning: JPEG in
        /// several scans and interlaced PNG; others give no previews.
        case blurred
    }

    /// What previews look like.
    public let style: Style
    /// Least seconds between two previews of a download.
    public let minimumInterval: Double

    private init(_ style: Style, _ seconds: Double) {
        self.style = style
        minimumInterval = seconds.isNaN ? 0 : max(0, seconds)
    }

    /// No previews. The default.
    public static let none = PreviewPolicy(.none, 0)
    /// What has come so far, at most every 0.2 seconds.
    public static let progressive = PreviewPolicy(.progressive, 0.2)
    /// The whole picture, blurred less and less, at most every 0.4 seconds.
    public static let blurred = PreviewPolicy(.blurred, 0.4)

    /// What has come so far, at most every `seconds`.
    public static func progressive(every seconds: Double) -> PreviewPolicy { PreviewPolicy(.progressive, seconds) }
    /// The whole picture, blurred less and less, at most every `seconds`.
    public static func blurred(every seconds: Double) -> PreviewPolicy { PreviewPolicy(.blurred, seconds) }
}
