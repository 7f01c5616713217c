// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

/// Where a frame's parts are in the file, and how it meets the canvas (PNG third edition, section 11.3.5.2). Offsets are
/// those of checked bytes.
struct APNGFrame: Sendable, Equatable {
    /// Lies within the canvas.
    var place: PixelRect
    var disposal: FrameDisposal
    /// Whether transparent pixels let the canvas through; otherwise they replace it.
    var isBlended: Bool
    /// As stored, rounded to milliseconds.
    var delayMilliseconds: Int
    /// The compressed pixels, in order.
    var parts: [Range<Int>] = []
}

/// The structure of an animated PNG: everything but pixels.
struct APNGIndex: Sendable {
    private(set) var canvasSize = PixelSize(width: 0, height: 0)
    /// As stored, 0 is for ever.
    private(set) var loopCount = 0
    /// The frames that are whole, in order.
    private(set) var frames: [APNGFrame] = []
    /// The body of IHDR.
    private(set) var header = 0..<0
    /// Chunks before the pixels that say what they mean, length and check value included.
    private(set) var shared: [Range<Int>] = []
    /// True where the file ends before its last frame does.
    private(set) var isTruncated = false

    private var declaredFrames = 0
    private var nextSequence = 0
    private var seenData = false
    private var open: APNGFrame?
    private var previousName: UInt32 = 0

    /// A rule of the animation is broken: the still picture is what is left.
    private struct Broken: Error {}

    private enum Step { case goOn, enough, end }

    /// Walks the chunks.
    ///
    /// - Parameter frameLimit: stops after so many frames.
    /// - Returns: nil where the file is no animation, or one that breaks the rules: then its still picture is shown.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, frameLimit: Int) -> APNGIndex? {
        var index = APNGIndex()
        do throws(Broken) {
            try index.walk(bytes, frameLimit: frameLimit)
            return index.declaredFrames > 0 ? index : nil
        } catch {
            return nil
        }
    }

    private mutating func walk(_ bytes: UnsafeBufferPointer<UInt8>, frameLimit: Int) throws(Broken) {
        var reader = ByteReader(bytes)
        guard let signature = reader.take(8), signature.elementsEqual(PNGChunks.signature) else { throw Broken() }
        while let length = reader.bigUInt32(), let name = reader.bigUInt32() {
            let body = reader.offset..<reader.offset + Int(length)
            guard length <= 0x7FFF_FFFF else { throw Broken() }
            guard reader.skip(Int(length)), reader.skip(4) else { break }
            switch try take(PNGChunk(bytes: bytes, name: name, body: body), frameLimit: frameLimit) {
            case .goOn: previousName = name
            case .enough: return
            case .end:
                try close()
                guard frames.count == declaredFrames || declaredFrames == 0 else { throw Broken() }
                return
            }
        }
        // Without IEND: the last frame may lack data, unless the file ends where one would stand.
        if reader.isAtEnd, declaredFrames == frames.count + 1, open?.parts.isEmpty == false, endsAtChunk(bytes) {
            try close()
        }
        isTruncated = frames.count < declaredFrames
    }

    private mutating func take(_ chunk: PNGChunk, frameLimit: Int) throws(Broken) -> Step {
        switch chunk.name {
        case PNGChunks.header:
            guard header.isEmpty, chunk.body.count == 13 else { throw Broken() }
            header = chunk.body
            canvasSize = PixelSize(width: chunk.number(at: 0), height: chunk.number(at: 4))
        case PNGChunks.animation:
            try takeAnimation(chunk)
        case PNGChunks.control:
            guard declaredFrames > 0 else { break }
            try close()
            if frames.count >= frameLimit { return .enough }
            try takeControl(chunk)
        case PNGChunks.data:
            try takeData(chunk)
        case PNGChunks.frameData:
            try takeFrameData(chunk)
        case PNGChunks.palette, PNGChunks.transparency:
            if !seenData { shared.append(chunk.whole) }
        case PNGChunks.end:
            return .end
        default:
            break
        }
        return .goOn
    }

    private mutating func takeAnimation(_ chunk: PNGChunk) throws(Broken) {
        // After the pixels it means nothing; a second one has no meaning either.
        guard !seenData else { return }
        guard declaredFrames == 0, chunk.body.count == 8, chunk.isIntact else { throw Broken() }
        declaredFrames = chunk.number(at: 0)
        loopCount = chunk.number(at: 4)
        guard (1...0x7FFF_FFFF).contains(declaredFrames), loopCount <= 0x7FFF_FFFF else { throw Broken() }
    }

    private mutating func takeControl(_ chunk: PNGChunk) throws(Broken) {
        guard chunk.body.count == 26, chunk.isIntact, chunk.number(at: 0) == nextSequence else { throw Broken() }
        nextSequence += 1
        let place = PixelRect(
            x: chunk.number(at: 12), y: chunk.number(at: 16), width: chunk.number(at: 4),
            height: chunk.number(at: 8))
        let bottom = chunk.bytes[chunk.body.lowerBound + 24]
        guard let disposal = FrameDisposal(rawValue: bottom), case let blend = chunk.bytes[chunk.body.lowerBound + 25],
            blend <= 1, !place.size.isEmpty, place.clamped(to: canvasSize) == place
        else { throw Broken() }
        guard seenData || frames.isEmpty && place.size == canvasSize else { throw Broken() }
        let numerator = chunk.short(at: 20)
        let denominator = chunk.short(at: 22) == 0 ? 100 : chunk.short(at: 22)
        open = APNGFrame(
            place: place, disposal: disposal, isBlended: blend == 1,
            delayMilliseconds: (numerator * 1_000 + denominator / 2) / denominator)
    }

    private mutating func takeData(_ chunk: PNGChunk) throws(Broken) {
        guard !seenData || previousName == PNGChunks.data else {
            // A frame whose data goes on behind other chunks; without one it is libpng's to judge.
            if declaredFrames > 0 { throw Broken() }
            return
        }
        seenData = true
        if !chunk.body.isEmpty { open?.parts.append(chunk.body) }
    }

    private mutating func takeFrameData(_ chunk: PNGChunk) throws(Broken) {
        guard declaredFrames > 0 else { return }
        guard seenData, open != nil, chunk.body.count >= 4, chunk.isIntact, chunk.number(at: 0) == nextSequence else {
            throw Broken()
        }
        nextSequence += 1
        if chunk.body.count > 4 { open?.parts.append(chunk.body.lowerBound + 4..<chunk.body.upperBound) }
    }

    /// The frame before a control chunk or the end must have had data.
    private mutating func close() throws(Broken) {
        guard let frame = open else { return }
        guard !frame.parts.isEmpty, frames.count < declaredFrames else { throw Broken() }
        frames.append(frame)
        open = nil
    }

    private func endsAtChunk(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        open?.parts.last.map { $0.upperBound + 4 == bytes.count } ?? false
    }
}

extension APNGIndex {
    /// How each frame meets the canvas.
    ///
    /// - Parameter hasAlpha: whether pixels can be transparent at all.
    func steps(hasAlpha: Bool) -> [FrameStep] {
        frames.map {
            FrameStep(place: $0.place, disposal: $0.disposal, replaces: !hasAlpha || !$0.isBlended)
        }
    }

    /// When each frame is shown.
    var timeline: AnimationTimeline {
        AnimationTimeline(
            loopCount: loopCount,
            durations: frames.map { AnimationTimeline.normalizedDelay(milliseconds: $0.delayMilliseconds) })
    }
}
