// SPDX-License-Identifier: MIT

import WebImageCore

/// Where a frame's parts are in the file, and how it meets the canvas. Offsets are those of checked bytes.
struct GIFFrame: Sendable, Equatable {
    /// Place and size as stored; may reach outside the canvas.
    var place: PixelRect
    var isInterlaced: Bool
    var disposal: FrameDisposal
    /// Index that leaves the canvas as it is.
    var transparentIndex: UInt8?
    /// As stored.
    var delayMilliseconds: Int
    /// Offset and number of entries of the palette; zero entries where there is none at all.
    var paletteOffset: Int
    var paletteCount: Int
    /// Offset of the minimum code size; the sub-blocks follow.
    var dataOffset: Int
    /// False where the file ends inside the sub-blocks.
    var isComplete: Bool
}

extension FrameDisposal {
    /// From the packed field of a graphic control extension (GIF89a, section 23). Values 4 to 7 are not defined; as
    /// browsers, 4 means what 3 does and the others leave the canvas.
    init(packed: UInt8) {
        switch (packed >> 2) & 7 {
        case 2: self = .background
        case 3, 4: self = .previous
        default: self = .keep
        }
    }
}
