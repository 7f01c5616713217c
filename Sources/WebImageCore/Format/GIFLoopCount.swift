// SPDX-License-Identifier: MIT

/// The conversion between the loop count of an animation and the number in the looping extension of a GIF file.
///
/// ``ImageAnimation/loopCount`` counts plays, as do WebP (RFC 9649, section 2.7.1.1), animated PNG (third edition, section
/// 11.3.5.1), and JPEG XL. The extension, whose application is `NETSCAPE2.0` or `ANIMEXTS1.0`, counts the repetitions after
/// the first play, as in Chromium, Firefox, and libvips. A file without the extension plays once.
package enum GIFLoopCount {
    /// The maximum number in the extension, which has 16 bits.
    private static let maxStored = 65_535

    /// Returns the number of plays for the number in the extension. In both, 0 repeats indefinitely.
    package static func plays(stored: Int) -> Int { stored == 0 ? 0 : stored + 1 }

    /// Returns the number in the extension, or `nil` if the file must not have the extension.
    ///
    /// More than 65,536 plays become 65,536, which is the nearest number that a GIF file can store.
    package static func stored(plays: Int) -> Int? {
        switch plays {
        case ...0: 0
        case 1: nil
        default: min(plays - 1, maxStored)
        }
    }
}
