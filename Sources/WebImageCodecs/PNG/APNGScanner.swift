// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A scanner for the chunks of an animated PNG file that's being received. It finds the same frames as ``APNGIndex``.
///
/// A frame is complete when the next control chunk or the end of the file was received.
struct APNGScanner: AnimationScanner {
    static let format = ImageFormat.apng

    private var index = APNGIndex()
    /// The offset of the next chunk.
    private var position = 0
    private(set) var isAtEnd = false

    var canvasSize: PixelSize? { frameCount > 0 ? index.canvasSize : nil }
    var frameCount: Int { index.frames.count }
    var loopCount: Int { index.loopCount }
    var cost: Int { index.frames.count * MemoryLayout<APNGFrame>.stride }
    var isPartial: Bool { index.isTruncated || index.hasWrongCheck }

    mutating func scan(_ data: ReceivedData) throws(ImageError) {
        if position == 0 {
            guard let signature = data.bytes(0..<8) else { return }
            guard signature.elementsEqual(PNGChunks.signature) else { throw Self.invalid }
            position = 8
        }
        while !isAtEnd, try readChunk(data) {}
    }

    mutating func finish(_ data: ReceivedData) throws(ImageError) {
        try scan(data)
        guard !isAtEnd else { return }
        let next = try head(data)
        index.finish(count: data.count, position: position, next: next?.name)
        guard frameCount == 0 else { return }
        throw .decoding(.truncated(format: .apng, receivedBytes: data.count, expectedBytes: nil))
    }

    /// Returns the size of the body and the name of the next chunk, or `nil` if they weren't received.
    private func head(_ data: ReceivedData) throws(ImageError) -> (length: Int, name: UInt32)? {
        guard let head = data.bytes(position..<position + 8) else { return nil }
        return try head.withBytes { (bytes) throws(ImageError) -> (length: Int, name: UInt32) in
            var reader = ByteReader(bytes)
            return (length: Int(reader.bigUInt32() ?? 0), name: reader.bigUInt32() ?? 0)
        }
    }

    /// Reads the next chunk. Returns `false` if it isn't complete.
    private mutating func readChunk(_ data: ReceivedData) throws(ImageError) -> Bool {
        guard let (length, name) = try head(data) else { return false }
        guard length <= 0x7FFF_FFFF else { throw Self.invalid }
        guard let chunk = data.bytes(position..<position + 12 + length) else { return false }
        let result = try chunk.withBytes { [position] (bytes) throws(ImageError) in
            index.append(PNGChunk(bytes: bytes, name: name, body: 8..<8 + length, base: position))
        }
        switch result {
        case .more: break
        case .end: isAtEnd = true
        case .invalid: throw Self.invalid
        }
        position += 12 + length
        return true
    }

    /// The error for an animation that violates the rules, for which only the still image is decoded.
    private static var invalid: ImageError {
        .decoding(.corrupted(format: .apng, reason: "the animation violates the rules of the format"))
    }

    // MARK: - Frames

    func properties(in data: ReceivedData, context: ImageProcessingContext) throws(ImageError) -> AnimationProperties {
        // libpng reads everything before the pixels.
        guard let end = index.firstPixels, let header = data.bytes(0..<end) else { throw Self.invalid }
        return try header.withBytes { (bytes) throws(ImageError) in
            let reader = try PNGReader(bytes, keepsPartial: false, context: context)
            let profile = reader.iccProfile()
            return AnimationProperties(
                hasAlpha: reader.hasAlpha, bitDepth: reader.depth, iccProfile: profile,
                codePoints: reader.color.codePoints, color: reader.conversion(profile: profile))
        }
    }

    func operation(at place: Int, _ properties: AnimationProperties) -> FrameOperation {
        index.frames[place].operation(hasAlpha: properties.hasAlpha)
    }

    func delay(at place: Int) -> Int { index.frames[place].delayMilliseconds }

    func hasAlpha(_ poster: PixelBuffer, _ properties: AnimationProperties) -> Bool {
        properties.hasAlpha || !poster.isOpaque
    }

    func frame(at place: Int) -> APNGFrame { index.frames[place] }

    func still(at place: Int, in data: ReceivedData) throws(ImageError) -> [UInt8] {
        try index.still(of: index.frames[place]) { range, file in
            if let bytes = data.bytes(range) { file += bytes }
        }
    }
}

/// The frames of a file that's being received.
struct ReceivedAPNGFile: APNGFrameSource {
    let file: ReceivedAnimation<APNGScanner>

    func frame(at place: Int) -> APNGFrame? { try? file.read { scanner, _ in scanner.frame(at: place) } }

    func still(at place: Int) throws(ImageError) -> [UInt8] {
        // Copy the list of chunks instead of the frame while the lock is held.
        let (scanner, data) = try file.read { ($0, $1) }
        return try scanner.still(at: place, in: data)
    }
}
