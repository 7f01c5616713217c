// SPDX-License-Identifier: MIT

import Foundation

extension ImageFormat {
    /// The format of `data` by its bytes alone; nil where they belong to nothing known, or where there are none.
    ///
    /// Strict: text that begins with the letters of a signature is text. Of the beginning of a file it is the best
    /// guess: an animated PNG is one once its `acTL` chunk is there.
    public static func sniff(_ data: Data) -> ImageFormat? {
        data.withUnsafeBytes { sniff($0) }
    }

    /// The format of `bytes`, as ``sniff(_:)-(Data)`` tells it.
    public static func sniff(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        guard !bytes.isEmpty else { return nil }
        let view = HeaderBytes(bytes, isComplete: true)
        do throws(ProbeStop) {
            let format = try FormatSniffer.format(view)
            return format == .png && PNGProbe.isAnimated(view) ? .apng : format
        } catch {
            return nil
        }
    }
}
