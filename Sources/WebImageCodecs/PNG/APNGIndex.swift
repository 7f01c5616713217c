// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

/// The positions of a frame's parts in the file, and the way the frame changes the canvas (PNG third edition, section
/// 11.3.5.2). The offsets are within bounds.
struct APNGFrame: Sendable, Equatable {
    /// The position and size of the frame, which lies within the canvas.
    var rect: PixelRect
    var disposal: FrameDisposal
    /// Whether the frame is blended over the canvas. Otherwise, its pixels replace the canvas, including transparent
    /// pixels.
    var isBlended: Bool
    /// The stored delay, rounded to milliseconds.
    var delayMilliseconds: Int
    /// The ranges of the compressed pixels, in order.
    var parts: [Range<Int>] = []
}

extension APNGFrame {
    func operation(hasAlpha: Bool) -> FrameOperation {
        FrameOperation(rect: rect, disposal: disposal, replaces: !hasAlpha || !isBlended)
    }
}

/// The structure of an animated PNG file without the pixels. All ranges are offsets in the file.
struct APNGIndex: Sendable {
    private(set) var canvasSize = PixelSize(width: 0, height: 0)
    /// The number of times to play the animation, where 0 repeats indefinitely.
    private(set) var loopCount = 0
    /// The complete frames, in order.
    private(set) var frames: [APNGFrame] = []
    /// The range of the IHDR chunk's body.
    private(set) var header = 0..<0
    /// The ranges of the chunks before the pixels that are needed to interpret them, including their lengths and
    /// checksums.
    private(set) var shared: [Range<Int>] = []
    /// Whether the file ends before the end of its last frame.
    private(set) var isTruncated = false
    /// Whether the checksum of a chunk is wrong, or missing because the file ends inside the chunk. Without an
    /// animation, the chunks with pixels aren't verified.
    private(set) var hasWrongCheck = false

    /// The offset of the body of the first chunk with pixels.
    private(set) var firstPixels: Int?

    /// The number of frames in `acTL`, or 0 if the file isn't an animation. Encoders write wrong numbers, so it only decides
    /// whether the last frame of a file without an end chunk is complete.
    private var declaredFrames = 0
    private var nextSequence = 0
    private var seenData = false
    private var open: APNGFrame?
    private var previousName: UInt32 = 0

    /// An error for an animation that violates the rules, so only the still image is decoded.
    private struct InvalidAnimation: Error {}

    private enum Step { case goOn, enough, end }

    /// Parses the chunks up to `frameLimit` frames. The result is `nil` if the file isn't an animation or violates the
    /// rules. In both cases, the still image is decoded.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, frameLimit: Int) -> APNGIndex? {
        var index = APNGIndex()
        do throws(InvalidAnimation) {
            try index.walk(bytes, frameLimit: frameLimit)
            return index.declaredFrames > 0 ? index : nil
        } catch {
            return nil
        }
    }

    /// The result of processing a chunk of a file that's being received.
    enum ChunkResult { case more, end, invalid }

    /// Processes the next chunk of a file that's being received. The result is ``ChunkResult/invalid`` if the file
    /// isn't an animation or violates the rules.
    mutating func append(_ chunk: PNGChunk) -> ChunkResult {
        do throws(InvalidAnimation) {
            switch try process(chunk, frameLimit: .max) {
            case .goOn, .enough:
                previousName = chunk.name
                return .more
            case .end:
                try close()
                return frames.isEmpty ? .invalid : .end
            }
        } catch {
            return .invalid
        }
    }

    /// Processes the end of a file without a complete end chunk. `count` is the size of the file, `position` is the
    /// offset of the first byte that isn't part of a complete chunk, and `next` is the name of the incomplete chunk at
    /// the end of the file, or `nil` if it isn't known.
    mutating func finish(count: Int, position: Int, next: UInt32?) {
        if position < count { hasWrongCheck = true }
        // Only a complete frame is followed by the control chunk of another one or by the end. Without either, the frame is
        // complete if the file ends where the end chunk of the declared frames would begin.
        let isFollowed = next == PNGChunks.control || next == PNGChunks.end
        let isLast =
            position == count && open?.parts.last?.upperBound == count - 4 && declaredFrames == frames.count + 1
        if isFollowed || isLast, open?.parts.isEmpty == false { try? close() }
        let isMissing = next != PNGChunks.end && frames.count < declaredFrames
        isTruncated = open != nil || next == PNGChunks.control || isMissing
    }

    private mutating func walk(_ bytes: UnsafeBufferPointer<UInt8>, frameLimit: Int) throws(InvalidAnimation) {
        var reader = ByteReader(bytes)
        guard let signature = reader.read(8), signature.elementsEqual(PNGChunks.signature) else {
            throw InvalidAnimation()
        }
        var position = reader.offset
        var incomplete: UInt32?
        while let length = reader.bigUInt32(), let name = reader.bigUInt32() {
            let body = reader.offset..<reader.offset + Int(length)
            guard length <= 0x7FFF_FFFF else { throw InvalidAnimation() }
            guard reader.skip(Int(length)), reader.skip(4) else {
                incomplete = name
                break
            }
            position = reader.offset
            switch try process(PNGChunk(bytes: bytes, name: name, body: body), frameLimit: frameLimit) {
            case .goOn: previousName = name
            case .enough: return
            case .end:
                try close()
                guard !frames.isEmpty || declaredFrames == 0 else { throw InvalidAnimation() }
                return
            }
        }
        finish(count: bytes.count, position: position, next: incomplete)
    }

    private mutating func process(_ chunk: PNGChunk, frameLimit: Int) throws(InvalidAnimation) -> Step {
        if declaredFrames > 0 || chunk.name != PNGChunks.data, !chunk.isIntact { hasWrongCheck = true }
        switch chunk.name {
        case PNGChunks.header:
            guard header.isEmpty, chunk.body.count == 13 else { throw InvalidAnimation() }
            header = chunk.bodyInFile
            canvasSize = PixelSize(width: chunk.number(at: 0), height: chunk.number(at: 4))
        case PNGChunks.animation:
            try readAnimation(chunk)
        case PNGChunks.control:
            guard declaredFrames > 0 else { break }
            try close()
            if frames.count >= frameLimit { return .enough }
            try readControl(chunk)
        case PNGChunks.data:
            try readData(chunk)
        case PNGChunks.frameData:
            try readFrameData(chunk)
        case PNGChunks.palette, PNGChunks.transparency:
            if !seenData { shared.append(chunk.whole) }
        case PNGChunks.end:
            return .end
        default:
            break
        }
        return .goOn
    }

    private mutating func readAnimation(_ chunk: PNGChunk) throws(InvalidAnimation) {
        // After the pixels, the chunk has no meaning. A second chunk isn't allowed.
        guard !seenData else { return }
        guard declaredFrames == 0, chunk.body.count == 8 else { throw InvalidAnimation() }
        declaredFrames = chunk.number(at: 0)
        loopCount = chunk.number(at: 4)
        guard (1...0x7FFF_FFFF).contains(declaredFrames), loopCount <= 0x7FFF_FFFF else { throw InvalidAnimation() }
    }

    private mutating func readControl(_ chunk: PNGChunk) throws(InvalidAnimation) {
        guard chunk.body.count == 26, chunk.number(at: 0) == nextSequence else { throw InvalidAnimation() }
        nextSequence += 1
        let place = PixelRect(
            x: chunk.number(at: 12), y: chunk.number(at: 16), width: chunk.number(at: 4),
            height: chunk.number(at: 8))
        let bottom = chunk.bytes[chunk.body.lowerBound + 24]
        guard let disposal = FrameDisposal(rawValue: bottom), case let blend = chunk.bytes[chunk.body.lowerBound + 25],
            blend <= 1, !place.size.isEmpty, place.clamped(to: canvasSize) == place
        else { throw InvalidAnimation() }
        guard seenData || frames.isEmpty && place.size == canvasSize else { throw InvalidAnimation() }
        let numerator = chunk.short(at: 20)
        let denominator = chunk.short(at: 22) == 0 ? 100 : chunk.short(at: 22)
        open = APNGFrame(
            rect: place, disposal: disposal, isBlended: blend == 1,
            delayMilliseconds: (numerator * 1_000 + denominator / 2) / denominator)
    }

    private mutating func readData(_ chunk: PNGChunk) throws(InvalidAnimation) {
        guard !seenData || previousName == PNGChunks.data else {
            // The data of the frame continues after other chunks. Without an animation, libpng handles this error.
            if declaredFrames > 0 { throw InvalidAnimation() }
            return
        }
        if !seenData { firstPixels = chunk.bodyInFile.lowerBound }
        seenData = true
        if !chunk.body.isEmpty { open?.parts.append(chunk.bodyInFile) }
    }

    private mutating func readFrameData(_ chunk: PNGChunk) throws(InvalidAnimation) {
        guard declaredFrames > 0 else { return }
        guard seenData, open != nil, chunk.body.count >= 4, chunk.number(at: 0) == nextSequence else {
            throw InvalidAnimation()
        }
        nextSequence += 1
        if chunk.body.count > 4 { open?.parts.append(chunk.bodyInFile.dropFirst(4)) }
    }

    /// Adds the open frame, which must have data before a control chunk or the end of the file.
    private mutating func close() throws(InvalidAnimation) {
        guard let frame = open else { return }
        guard !frame.parts.isEmpty else { throw InvalidAnimation() }
        frames.append(frame)
        open = nil
    }
}

extension APNGIndex {
    /// Returns the way each frame changes the canvas.
    func steps(hasAlpha: Bool) -> [FrameOperation] {
        frames.map { $0.operation(hasAlpha: hasAlpha) }
    }

    var timeline: AnimationTimeline {
        AnimationTimeline(
            loopCount: loopCount,
            durations: frames.map { AnimationTimeline.normalizedDelay(milliseconds: $0.delayMilliseconds) })
    }
}
