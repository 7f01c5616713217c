// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A scanner for the blocks of a GIF file that's being received (GIF89a, sections 17 to 27). It finds the same frames
/// as ``GIFIndex``.
struct GIFScanner: AnimationScanner {
    /// A complete frame with offsets into the file, and the offset of the byte after its last sub-block.
    private struct Frame {
        var frame: GIFFrame
        var end: Int
    }

    private enum Step {
        case header
        /// The position is at the beginning of a block.
        case block
        /// The position is at the length of a sub-block.
        case subBlocks
        /// The position is at the length of a sub-block of the looping extension.
        case loop
        case end
    }

    static let format = ImageFormat.gif

    private(set) var canvasSize: PixelSize?
    private(set) var loopCount = 1
    private(set) var isPartial = false
    private var screen = PixelSize(width: 0, height: 0)
    private var frames: [Frame] = []
    private var hasTransparency = false
    private var position = 0
    private var step = Step.header
    private var control = GIFControl()
    private var globalPaletteOffset = 0
    private var globalPaletteCount = 0
    /// The frame whose sub-blocks are being skipped.
    private var open: GIFFrame?

    var frameCount: Int { frames.count }
    var isAtEnd: Bool { step == .end }
    var cost: Int { frames.count * MemoryLayout<Frame>.stride }

    mutating func scan(_ data: ReceivedData) throws(ImageError) {
        while try advance(data) {}
    }

    /// A missing trailer and an incomplete last frame aren't errors.
    mutating func finish(_ data: ReceivedData) throws(ImageError) {
        try scan(data)
        // A missing trailer alone doesn't count.
        isPartial = !isAtEnd && (step != .block || position < data.count)
        // Like the decoder for complete files, accept a single frame whose sub-blocks have no terminator.
        if frames.isEmpty, open != nil {
            position = min(position, data.count)
            close()
        }
        guard frames.isEmpty else { return }
        throw .decoding(
            isAtEnd
                ? .corrupted(format: .gif, reason: "it contains no frames")
                : .truncated(format: .gif, receivedBytes: data.count, expectedBytes: nil))
    }

    /// Performs one step. Returns `false` if more data is necessary or the end was reached.
    private mutating func advance(_ data: ReceivedData) throws(ImageError) -> Bool {
        switch step {
        case .header: return try readHeader(data)
        case .block: return try readBlock(data)
        case .subBlocks: return skipSubBlock(data)
        case .loop: return readLoop(data)
        case .end: return false
        }
    }

    private mutating func readHeader(_ data: ReceivedData) throws(ImageError) -> Bool {
        guard let head = data.bytes(0..<13).map(Array.init) else { return false }
        guard head.starts(with: "GIF".utf8) else {
            throw .decoding(.corrupted(format: .gif, reason: "it doesn't begin with GIF"))
        }
        screen = PixelSize(width: Self.short(head, 6), height: Self.short(head, 8))
        let paletteCount = head[10] & 0x80 != 0 ? 2 << Int(head[10] & 7) : 0
        guard data.count >= 13 + paletteCount * 3 else { return false }
        if paletteCount > 0 {
            globalPaletteOffset = 13
            globalPaletteCount = paletteCount
        }
        position = 13 + paletteCount * 3
        step = .block
        return true
    }

    private mutating func readBlock(_ data: ReceivedData) throws(ImageError) -> Bool {
        guard let introducer = data.byte(at: position) else { return false }
        switch introducer {
        case GIFBlock.extensionIntroducer: return readExtension(data)
        case GIFBlock.imageSeparator: return try readFrame(data)
        case GIFBlock.trailer: step = .end
        // Browsers and applications based on giflib skip stray bytes between blocks, which are usually zeros.
        default: position += 1
        }
        return true
    }

    private mutating func readExtension(_ data: ReceivedData) -> Bool {
        guard let label = data.byte(at: position + 1) else { return false }
        guard label == GIFBlock.graphicControl || label == GIFBlock.application else {
            position += 2
            step = .subBlocks
            return true
        }
        guard let size = data.byte(at: position + 2),
            let body = data.bytes(position + 3..<position + 3 + Int(size)).map(Array.init)
        else { return false }
        position += 3 + Int(size)
        // A sub-block without bytes ends an extension.
        step = size == 0 ? .block : .subBlocks
        if label == GIFBlock.graphicControl {
            if body.count >= 4 { control = GIFControl(body) }
        } else if body.elementsEqual("NETSCAPE2.0".utf8) || body.elementsEqual("ANIMEXTS1.0".utf8) {
            step = .loop
        }
        return true
    }

    private mutating func readLoop(_ data: ReceivedData) -> Bool {
        guard let size = data.byte(at: position) else { return false }
        if size > 0 {
            guard let body = data.bytes(position + 1..<position + 1 + Int(size)).map(Array.init) else { return false }
            if body.count >= 3, body[0] & 7 == 1 { loopCount = GIFLoopCount.plays(stored: Self.short(body, 1)) }
        } else {
            step = .block
        }
        position += 1 + Int(size)
        return true
    }

    private mutating func readFrame(_ data: ReceivedData) throws(ImageError) -> Bool {
        guard let head = data.bytes(position + 1..<position + 10).map(Array.init) else { return false }
        var frame = GIFFrame(
            rect: PixelRect(
                x: Self.short(head, 0), y: Self.short(head, 2), width: Self.short(head, 4),
                height: Self.short(head, 6)),
            isInterlaced: head[8] & 0x40 != 0, disposal: control.disposal,
            transparentIndex: control.transparentIndex, delayMilliseconds: control.delayMilliseconds,
            paletteOffset: globalPaletteOffset, paletteCount: globalPaletteCount, dataOffset: position + 10,
            isComplete: false)
        if head[8] & 0x80 != 0 {
            frame.paletteOffset = position + 10
            frame.paletteCount = 2 << Int(head[8] & 7)
            frame.dataOffset += frame.paletteCount * 3
        }
        guard data.count > frame.dataOffset else { return false }
        control = GIFControl()
        position = frame.dataOffset + 1
        open = frame
        step = .subBlocks
        return true
    }

    private mutating func skipSubBlock(_ data: ReceivedData) -> Bool {
        guard let size = data.byte(at: position) else { return false }
        position += 1 + Int(size)
        if size == 0 {
            step = .block
            close()
        }
        return true
    }

    /// Adds the open frame, whose sub-blocks are complete.
    private mutating func close() {
        guard var frame = open else { return }
        open = nil
        frame.isComplete = true
        if frames.isEmpty {
            canvasSize = PixelSize(
                width: max(screen.width, frame.rect.x + frame.rect.width),
                height: max(screen.height, frame.rect.y + frame.rect.height))
        }
        hasTransparency = hasTransparency || frame.transparentIndex != nil
        frames.append(Frame(frame: frame, end: position))
    }

    private static func short(_ bytes: [UInt8], _ offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
    }

    // MARK: - Frames

    func properties(in data: ReceivedData, context: ImageProcessingContext) -> AnimationProperties {
        AnimationProperties()
    }

    func operation(at place: Int, _ properties: AnimationProperties) -> FrameOperation {
        let frame = frames[place].frame
        return FrameOperation(
            rect: frame.rect, disposal: frame.disposal, replaces: frame.transparentIndex == nil)
    }

    func delay(at place: Int) -> Int { frames[place].frame.delayMilliseconds }

    func hasAlpha(_ poster: PixelBuffer, _ properties: AnimationProperties) -> Bool {
        !poster.isOpaque || hasTransparency
    }

    func frame(at place: Int) -> GIFFrame { frames[place].frame }

    /// Returns a complete frame, and its palette and its pixels as data with the offsets of the frame. Throws
    /// ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)``.
    func encodedFrame(at place: Int, in data: ReceivedData) throws(ImageError) -> (frame: GIFFrame, data: Data) {
        var frame = frames[place].frame
        guard
            let palette = data.bytes(frame.paletteOffset..<frame.paletteOffset + frame.paletteCount * 3),
            let pixels = data.bytes(frame.dataOffset..<frames[place].end)
        else { throw .decoding(.truncated(format: .gif, receivedBytes: data.count, expectedBytes: nil)) }
        frame.paletteOffset = 0
        frame.dataOffset = palette.count
        return (frame, palette + pixels)
    }
}

/// A compositor that draws the frames of a GIF file that's being received onto its canvas.
struct ReceivedGIFCompositor: FrameCompositor, ~Copyable {
    private let file: ReceivedAnimation<GIFScanner>
    private var canvas: GIFCanvas

    /// Creates a compositor with a transparent canvas. Throws an ``ImageError/LimitFailure``, or
    /// ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    init(
        _ file: ReceivedAnimation<GIFScanner>, size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) {
        self.file = file
        canvas = try GIFCanvas(size: size, context: context)
    }

    mutating func clear() { canvas.clear() }

    mutating func draw(_ place: Int, context: ImageProcessingContext) throws(ImageError) -> Bool {
        let (frame, data) = try file.read { (scanner, data) throws(ImageError) in
            try scanner.encodedFrame(at: place, in: data)
        }
        return try canvas.draw(frame, of: data, context: context).isSolid
    }

    mutating func dispose(_ place: Int) {
        if let frame = try? file.read({ scanner, _ in scanner.frame(at: place) }) { canvas.dispose(frame) }
    }

    borrowing func snapshot() throws(ImageError) -> PixelBuffer { try canvas.snapshot() }
}
