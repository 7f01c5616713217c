// SPDX-License-Identifier: MIT

import Foundation

extension ImageFormat {
    /// Creates the format of `data` based only on its content, or returns `nil` if the format is unknown or the data is
    /// empty.
    ///
    /// The detection is strict: text that begins with the letters of a signature is still text. For the beginning of a
    /// file, the result is the best guess. For example, an animated PNG is recognized only if the data includes its
    /// `acTL` chunk.
    public init?(sniffing data: Data) {
        guard let format = data.withUnsafeBytes({ Self.sniff($0) }) else { return nil }
        self = format
    }

    /// Returns the format of `bytes`, like ``init(sniffing:)``.
    package static func sniff(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        guard !bytes.isEmpty else { return nil }
        let view = HeaderBytes(bytes, isComplete: true)
        do throws(HeaderParsingError) {
            let format = try FormatSniffer.format(view)
            return format == .png && PNGProbe.isAnimated(view) ? .apng : format
        } catch {
            return nil
        }
    }
}
