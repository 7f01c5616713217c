// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// A complete frame of an animated WebP file (RFC 9649, section 2.7.1.1). The offsets are within bounds.
struct WebPFrame: Sendable, Equatable {
    /// The position of the frame, which lies within the canvas.
    var rect: PixelRect
    var disposal: FrameDisposal
    /// Whether the frame is blended over the canvas. Otherwise, its pixels replace the canvas, including transparent
    /// pixels.
    var isBlended: Bool
    var hasAlpha: Bool
    /// The stored duration, in milliseconds.
    var milliseconds: Int
    /// The range of the bitstream in the file, including the chunk with its alpha.
    var bitstream: Range<Int>
    /// Whether libwebp draws the frame on an empty canvas.
    var isKeyFrame = false
}

/// A scanner for the chunks of an animated WebP file that's being received (RFC 9649, section 2.7). Like the parser of
/// libwebp, it rejects files with invalid chunks.
struct WebPScanner: AnimationScanner {
    static let format = ImageFormat.webp

    private var frames: [WebPFrame] = []
    private var declaredSize = PixelSize(width: 0, height: 0)
    private(set) var loopCount = 1
    private var hasAlpha = false
    private var hasAnimation = false
    private var hasProfile = false
    private var profile: Range<Int>?
    /// The offset of the next chunk.
    private var position = 0
    /// The offset of the end of the file according to its header.
    private var end = Int.max

    var canvasSize: PixelSize? { frames.isEmpty ? nil : declaredSize }
    var frameCount: Int { frames.count }
    var isAtEnd: Bool { position >= end }
    var cost: Int { frames.count * MemoryLayout<WebPFrame>.stride }
    /// The value is `false`, because truncated data is an error.
    var isPartial: Bool { false }

    mutating func scan(_ data: ReceivedData) throws(ImageError) {
        if position == 0 {
            guard let head = data.bytes(0..<30) else { return }
            try readHeader(head)
        }
        while !isAtEnd, try readChunk(data) {}
    }

    mutating func finish(_ data: ReceivedData) throws(ImageError) {
        try scan(data)
        guard !isAtEnd || frames.isEmpty else { return }
        throw .decoding(.truncated(format: .webp, receivedBytes: data.count, expectedBytes: nil))
    }

    /// Reads the file header and the extended header, which an animation always has.
    private mutating func readHeader(_ head: Data) throws(ImageError) {
        let bytes = Array(head)
        guard bytes.starts(with: "RIFF".utf8), bytes[8..<16].elementsEqual("WEBPVP8X".utf8),
            Self.number(bytes, 16, 4) >= 10, bytes[20] & 0x02 != 0
        else { throw Self.invalid("it doesn't begin with the header of an animation") }
        hasAlpha = bytes[20] & 0x10 != 0
        hasProfile = bytes[20] & 0x20 != 0
        declaredSize = PixelSize(width: Self.number(bytes, 24, 3) + 1, height: Self.number(bytes, 27, 3) + 1)
        let size = Self.number(bytes, 4, 4)
        end = 8 + size + size & 1
        let header = Self.number(bytes, 16, 4)
        position = 20 + header + header & 1
    }

    /// Reads the next chunk. Returns `false` if it isn't complete.
    private mutating func readChunk(_ data: ReceivedData) throws(ImageError) -> Bool {
        guard let head = data.bytes(position..<position + 8).map(Array.init) else { return false }
        let size = Self.number(head, 4, 4)
        let body = position + 8..<position + 8 + size
        let next = body.upperBound + size & 1
        guard next <= end else { throw Self.invalid("a chunk extends past the end of the file") }
        guard next <= data.count else { return false }
        switch String(decoding: head.prefix(4), as: UTF8.self) {
        case "ICCP": if hasProfile, profile == nil { profile = body }
        case "ANIM": try readAnimation(data, body)
        case "ANMF": try readFrame(data, body)
        default: break
        }
        position = next
        return true
    }

    private mutating func readAnimation(_ data: ReceivedData, _ body: Range<Int>) throws(ImageError) {
        guard body.count >= 6, let bytes = data.bytes(body.prefix(6)).map(Array.init) else {
            throw Self.invalid("the animation header is too short")
        }
        // libwebp uses the first chunk.
        if !hasAnimation { loopCount = Self.number(bytes, 4, 2) }
        hasAnimation = true
    }

    private mutating func readFrame(_ data: ReceivedData, _ body: Range<Int>) throws(ImageError) {
        guard hasAnimation, body.count >= 24, let head = data.bytes(body.prefix(16)).map(Array.init) else {
            throw Self.invalid("a frame is too short or precedes the animation header")
        }
        let bitstream = try Self.bitstream(data, body.dropFirst(16))
        var info = wi_webp_info()
        let status = try (data.bytes(bitstream) ?? Data()).withBytes { (bytes) throws(ImageError) in
            wi_webp_header(bytes.baseAddress, bytes.count, &info)
        }
        guard status == WI_WEBP_OK else { throw WebPBitmapDecoder.failure(status, received: data.count) }
        var frame = WebPFrame(
            rect: PixelRect(
                x: Self.number(head, 0, 3) * 2, y: Self.number(head, 3, 3) * 2,
                width: Self.number(head, 6, 3) + 1, height: Self.number(head, 9, 3) + 1),
            disposal: head[15] & 1 != 0 ? .background : .keep, isBlended: head[15] & 2 == 0,
            hasAlpha: info.has_alpha != 0, milliseconds: Self.number(head, 12, 3), bitstream: bitstream)
        guard frame.rect.clamped(to: declaredSize) == frame.rect,
            frame.rect.size == PixelSize(width: Int(info.width), height: Int(info.height))
        else { throw Self.invalid("a frame has the wrong size or extends past the edge of the canvas") }
        frame.isKeyFrame = isKeyFrame(frame)
        frames.append(frame)
    }

    /// Returns whether libwebp draws a frame on an empty canvas (anim_decode.c, `IsKeyFrame`).
    private func isKeyFrame(_ frame: WebPFrame) -> Bool {
        let canvas = PixelRect(x: 0, y: 0, width: declaredSize.width, height: declaredSize.height)
        guard let last = frames.last else { return true }
        if !frame.hasAlpha || !frame.isBlended, frame.rect.contains(canvas) { return true }
        return last.disposal == .background && (last.rect.contains(canvas) || last.isKeyFrame)
    }

    /// Returns the range of the bitstream and its alpha within the body of a frame.
    private static func bitstream(_ data: ReceivedData, _ body: Range<Int>) throws(ImageError) -> Range<Int> {
        var position = body.lowerBound
        var alpha: Int?
        while position + 8 <= body.upperBound, let head = data.bytes(position..<position + 8).map(Array.init) {
            let size = number(head, 4, 4)
            let next = position + 8 + size + size & 1
            guard next <= body.upperBound else { break }
            switch String(decoding: head.prefix(4), as: UTF8.self) {
            case "ALPH" where alpha == nil: alpha = position
            case "VP8 ": return (alpha ?? position)..<next
            case "VP8L" where alpha == nil: return position..<next
            default: throw invalid("a frame has an unexpected chunk")
            }
            position = next
        }
        throw invalid("a frame has no bitstream")
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
    }

    private static func invalid(_ reason: String) -> ImageError {
        .decoding(.corrupted(format: .webp, reason: reason))
    }

    // MARK: - Frames

    func properties(in data: ReceivedData, context: ImageProcessingContext) -> AnimationProperties {
        var properties = AnimationProperties(hasAlpha: hasAlpha)
        if let profile, profile.count <= WebPContainer.maxProfileBytes, let bytes = data.bytes(profile) {
            properties.iccProfile = Array(bytes)
            properties.color = .from(profile: properties.iccProfile)
        }
        return properties
    }

    func operation(at place: Int, _ properties: AnimationProperties) -> FrameOperation {
        let frame = frames[place]
        return FrameOperation(
            rect: frame.rect, disposal: frame.disposal, replaces: !frame.hasAlpha || !frame.isBlended)
    }

    func delay(at place: Int) -> Int { frames[place].milliseconds }

    func hasAlpha(_ poster: PixelBuffer, _ properties: AnimationProperties) -> Bool { properties.hasAlpha }

    func frame(at place: Int) -> WebPFrame { frames[place] }
}
