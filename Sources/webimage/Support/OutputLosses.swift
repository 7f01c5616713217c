// SPDX-License-Identifier: MIT

import WebImage
import WebImageCore

/// A namespace for finding what files don't contain, although no option omits it.
enum OutputLosses {
    /// Returns a text for each loss: frames, and the lossless encoding that `--lossless` requests. `frameCount` is the
    /// number of frames that were selected for one file.
    static func notes(
        frameCount: Int, from source: ImageFormat?, in format: ImageFormat, isLossless: Bool
    ) -> [String] {
        var notes: [String] = []
        if frameCount > 1, !animatedFormats.contains(format) {
            notes.append("only the first of \(frameCount) frames is written in \(format.rawValue)")
        }
        // A file in JPEG XL can contain a JPEG file that is restored exactly.
        if isLossless, format == .jpeg, source != .jxl {
            notes.append("jpeg can’t be lossless, so the quality is 100")
        }
        if isLossless, format == .gif { notes.append("gif can’t be lossless if a frame has more than 256 colors") }
        return notes
    }

    /// The formats whose encoders write all frames of an animation.
    private static let animatedFormats: Set<ImageFormat> = [.gif, .webp, .apng, .avif, .jxl]
}
