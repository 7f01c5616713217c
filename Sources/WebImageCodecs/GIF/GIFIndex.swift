// SPDX-License-Identifier: MIT

import WebImageCore

/// The structure of a GIF file without the pixels (GIF89a, sections 17 to 27). Parsing skips the contents of
/// sub-blocks.
struct GIFIndex: Sendable {
    /// The size of the canvas, which is the logical screen enlarged to include the first frame. Later frames are
    /// cropped to it, as in Chromium, Pillow, and libnsgif.
    private(set) var canvasSize: PixelSize
    /// The number of times to play the animation. It's 1 if the file doesn't specify it, and 0 repeats indefinitely.
    private(set) var loopCount = 1
    private(set) var frames: [GIFFrame] = []
    /// Whether the file ends inside a block. A missing trailer alone doesn't count.
    private(set) var isTruncated = false

    private var control = GIFControl()
    private var globalPaletteOffset = 0
    private var globalPaletteCount = 0

    /// Parses the blocks up to `frameLimit` frames. Throws an ``ImageError/DecodingFailure`` if the file has no frames.
    init(_ bytes: UnsafeBufferPointer<UInt8>, frameLimit: Int) throws(ImageError) {
        var reader = ByteReader(bytes)
        guard let signature = reader.read(6), signature.starts(with: "GIF".utf8) else {
            throw .decoding(.corrupted(format: .gif, reason: "it doesn't begin with GIF"))
        }
        guard let width = reader.uint16(), let height = reader.uint16(), let packed = reader.byte(),
            reader.skip(2)
        else { throw .decoding(.truncated(format: .gif, receivedBytes: bytes.count, expectedBytes: nil)) }
        canvasSize = PixelSize(width: width, height: height)
        if packed & 0x80 != 0 {
            globalPaletteOffset = reader.offset
            globalPaletteCount = 2 << Int(packed & 7)
            guard reader.skip(globalPaletteCount * 3) else {
                throw .decoding(.truncated(format: .gif, receivedBytes: bytes.count, expectedBytes: nil))
            }
        }
        isTruncated = !readBlocks(&reader, frameLimit: frameLimit)
        guard let first = frames.first else {
            throw .decoding(
                isTruncated || reader.isAtEnd
                    ? .truncated(format: .gif, receivedBytes: bytes.count, expectedBytes: nil)
                    : .corrupted(format: .gif, reason: "it contains no frames"))
        }
        canvasSize.width = max(canvasSize.width, first.rect.x + first.rect.width)
        canvasSize.height = max(canvasSize.height, first.rect.y + first.rect.height)
        guard !canvasSize.isEmpty else { throw .decoding(.corrupted(format: .gif, reason: "the canvas is empty")) }
    }

    /// Removes the last frame if its data is incomplete and it isn't the only frame.
    mutating func dropIncompleteFrame() {
        if frames.count > 1, frames.last?.isComplete == false { frames.removeLast() }
    }

    /// Parses the blocks up to the trailer or the frame limit. Returns `false` if the file ends inside a block.
    private mutating func readBlocks(_ reader: inout ByteReader, frameLimit: Int) -> Bool {
        while frames.count < frameLimit, let introducer = reader.byte() {
            switch introducer {
            case GIFBlock.extensionIntroducer:
                guard readExtension(&reader) else { return false }
            case GIFBlock.imageSeparator:
                guard readFrame(&reader) else { return false }
            case GIFBlock.trailer:
                return true
            default:
                // Browsers and applications based on giflib skip stray bytes between blocks, which are usually zeros.
                continue
            }
        }
        return true
    }

    /// Reads an extension. A sub-block without bytes ends it, also if it's the first one.
    private mutating func readExtension(_ reader: inout ByteReader) -> Bool {
        guard let label = reader.byte() else { return false }
        switch label {
        case GIFBlock.graphicControl:
            guard let size = reader.byte(), let body = reader.read(Int(size)) else { return false }
            if size == 0 { return true }
            if body.count >= 4 { control = GIFControl(body) }
        case GIFBlock.application:
            guard let size = reader.byte(), let name = reader.read(Int(size)) else { return false }
            if size == 0 { return true }
            if name.elementsEqual("NETSCAPE2.0".utf8) || name.elementsEqual("ANIMEXTS1.0".utf8) {
                return readLoop(&reader)
            }
        default:
            break
        }
        return reader.skipSubBlocks()
    }

    /// Reads the looping extension. Sub-block 1 contains the number of repetitions. Sub-block 2 (buffering) is ignored.
    private mutating func readLoop(_ reader: inout ByteReader) -> Bool {
        while let size = reader.byte() {
            if size == 0 { return true }
            guard let body = reader.read(Int(size)) else { return false }
            if body.count >= 3, body[body.startIndex] & 7 == 1 {
                loopCount = GIFLoopCount.plays(
                    stored: Int(body[body.startIndex + 1]) | Int(body[body.startIndex + 2]) << 8)
            }
        }
        return false
    }

    private mutating func readFrame(_ reader: inout ByteReader) -> Bool {
        guard let x = reader.uint16(), let y = reader.uint16(), let width = reader.uint16(),
            let height = reader.uint16(), let packed = reader.byte()
        else { return false }
        var frame = GIFFrame(
            rect: PixelRect(x: x, y: y, width: width, height: height), isInterlaced: packed & 0x40 != 0,
            disposal: control.disposal, transparentIndex: control.transparentIndex,
            delayMilliseconds: control.delayMilliseconds, paletteOffset: globalPaletteOffset,
            paletteCount: globalPaletteCount, dataOffset: 0, isComplete: false)
        control = GIFControl()
        if packed & 0x80 != 0 {
            frame.paletteOffset = reader.offset
            frame.paletteCount = 2 << Int(packed & 7)
            guard reader.skip(frame.paletteCount * 3) else { return false }
        }
        frame.dataOffset = reader.offset
        guard reader.skip(1) else { return false }
        frame.isComplete = reader.skipSubBlocks()
        frames.append(frame)
        return frame.isComplete
    }
}
