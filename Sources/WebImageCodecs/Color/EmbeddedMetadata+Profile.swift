// SPDX-License-Identifier: MIT

import CColor
import WebImageCore

extension EmbeddedMetadata {
    /// Creates the blocks that a coder writes with `image`, without a profile from which Little CMS can't build a
    /// transform. Encoders can abort the process because of such a profile, and decoders can't use it. The profile may
    /// have floating-point tables only if `allowsFloatTables` is `true`, because the encoder of JPEG XL reads them
    /// without limits.
    init(
        checked image: DecodedImage, as encoding: ImageEncoding, isGray: Bool = false, allowsFloatTables: Bool = true
    ) {
        self.init(for: image, as: encoding, isGray: isGray)
        if image.metadata.color == .displayP3 {
            codePoints = .displayP3
            // Gray samples mean the same in sRGB.
            iccProfile = isGray ? nil : CompactProfile.displayP3
            return
        }
        guard let iccProfile else { return }
        let isUsable = ICCProfile(iccProfile)?.hasTransform ?? false
        if !isUsable || !allowsFloatTables && wi_icc_has_float_tables(iccProfile, iccProfile.count) != 0 {
            self.iccProfile = nil
        }
    }
    /// Whether the code points describe the pixels completely.
    var hasCodePoints: Bool { StandardColorSpace(codePoints) != nil }
}
