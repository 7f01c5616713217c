// SPDX-License-Identifier: MIT

import WebImageCore

extension ImageMetadata {
    /// Whether the pixels have a standard dynamic range and a color space with colors outside of Display P3.
    ///
    /// The steps between 8-bit samples of such a space are larger. After a conversion to 8-bit YCbCr, the rounding changes
    /// colors by more than 1 (ΔE2000), and chroma with half the resolution loses colors that no other channel contains.
    var exceedsDisplayP3: Bool {
        guard color == .source, !hasHDRSamples else { return false }
        let profile = iccProfile.map { [UInt8]($0) }
        let conversion = ColorConversion.from(codePoints) ?? ColorConversion.from(profile: profile)
        return conversion?.clips(to: .displayP3) ?? false
    }
}
