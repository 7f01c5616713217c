// SPDX-License-Identifier: MIT

import WebImageCore

/// The positions of a frame's parts in the file, and the way the frame changes the canvas. The offsets are within
/// bounds.
struct GIFFrame: Sendable, Equatable {
    /// The stored position and size, which may extend beyond the canvas.
    var rect: PixelRect
    var isInterlaced: Bool
    var disposal: FrameDisposal
    /// The index of pixels that leave the canvas unchanged.
    var transparentIndex: UInt8?
    /// The stored delay, in milliseconds.
    var delayMilliseconds: Int
    /// The offset of the palette and its number of entries. If there's no palette, the number is 0.
    var paletteOffset: Int
    var paletteCount: Int
    /// The offset of the minimum code size, which the sub-blocks follow.
    var dataOffset: Int
    /// Whether all sub-blocks are complete.
    var isComplete: Bool
}

/// The first bytes of blocks and extensions.
enum GIFBlock {
    static let extensionIntroducer: UInt8 = 0x21
    static let imageSeparator: UInt8 = 0x2C
    static let trailer: UInt8 = 0x3B
    static let graphicControl: UInt8 = 0xF9
    static let application: UInt8 = 0xFF
}

/// The contents of a graphic control extension, which applies only to the next frame (GIF89a, section 23).
struct GIFControl {
    var disposal = FrameDisposal.keep
    var transparentIndex: UInt8?
    var delayMilliseconds = 0

    /// Creates the values that apply to a frame without an extension.
    init() {}

    /// Creates the values of the block `body`, which has at least four bytes.
    init(_ body: some RandomAccessCollection<UInt8>) {
        let bytes = Array(body.prefix(4))
        disposal = FrameDisposal(packed: bytes[0])
        transparentIndex = bytes[0] & 1 != 0 ? bytes[3] : nil
        delayMilliseconds = (Int(bytes[1]) | Int(bytes[2]) << 8) * 10
    }
}

extension FrameDisposal {
    /// Creates a disposal from the packed field of a graphic control extension (GIF89a, section 23). Values 4 to 7
    /// aren't defined. Like browsers, treat 4 as 3, and keep the canvas for the others.
    init(packed: UInt8) {
        switch (packed >> 2) & 7 {
        case 2: self = .background
        case 3, 4: self = .previous
        default: self = .keep
        }
    }
}
