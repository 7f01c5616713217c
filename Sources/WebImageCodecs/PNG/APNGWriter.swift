// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import WebImageCore

/// An encoder for animated PNG files with alpha and 8 bits per sample.
///
/// Each frame contains only the region that differs from the previous frame. The region either replaces the canvas or
/// is blended over it with unchanged pixels left transparent, whichever is smaller. The encoder holds two frames in
/// memory.
struct APNGWriter {
    private let frames: EncodableFrames
    private let effort: Int?
    private let metadata: EmbeddedMetadata
    private let context: ImageProcessingContext
    private var writer = PNGChunkWriter()
    private var sequence: UInt32 = 0

    static func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        let frames = try EncodableFrames(image, as: encoding, maxDimension: Int(Int32.max), context: context)
        var writer = APNGWriter(
            frames: frames, effort: try encoding.checkedEffort(),
            metadata: EmbeddedMetadata(checked: image, as: encoding), context: context)
        try writer.write()
        return Data(writer.writer.bytes)
    }

    private init(frames: EncodableFrames, effort: Int?, metadata: EmbeddedMetadata, context: ImageProcessingContext) {
        self.frames = frames
        self.effort = effort
        self.metadata = metadata
        self.context = context
    }

    private mutating func write() throws(ImageError) {
        writer.chunk(PNGChunks.header) { [size = frames.size] body in
            body.appendBig(UInt32(size.width))
            body.appendBig(UInt32(size.height))
            body += [8, 6, 0, 0, 0]
        }
        writer.chunk(PNGChunks.animation) { [frames] body in
            body.appendBig(UInt32(frames.count))
            body.appendBig(UInt32(clamping: min(frames.loopCount, 0x7FFF_FFFF)))
        }
        var before: PixelBuffer?
        for place in 0..<frames.count {
            let pixels = try frames.pixels(at: place)
            try append(pixels, before: before, milliseconds: frames.durations[place])
            before = pixels
        }
        writer.chunk(PNGChunks.end)
    }

    private mutating func append(_ pixels: PixelBuffer, before: PixelBuffer?, milliseconds: Int) throws(ImageError) {
        guard let before else {
            let whole = PixelRect(x: 0, y: 0, width: frames.size.width, height: frames.size.height)
            let parts = try compressed(pixels.straight(whole), whole.size, with: metadata)
            writer.append(parts.metadata)
            control(whole, isBlended: false, milliseconds)
            return writer.chunk(PNGChunks.data) { $0 += parts.data }
        }
        // A frame without changes must still be written to preserve its duration.
        let rect = pixels.changes(from: before) ?? PixelRect(x: 0, y: 0, width: 1, height: 1)
        var data = try compressed(pixels.straight(rect), rect.size).data
        var isBlended = false
        if let over = pixels.straightChanges(from: before, rect) {
            let blended = try compressed(over, rect.size).data
            if blended.count < data.count {
                data = blended
                isBlended = true
            }
        }
        control(rect, isBlended: isBlended, milliseconds)
        writer.chunk(PNGChunks.frameData) { [sequence] body in
            body.appendBig(sequence)
            body += data
        }
        sequence += 1
    }

    /// Writes a control chunk. The disposal keeps every frame on the canvas, because replaced pixels can also become
    /// transparent.
    private mutating func control(_ rect: PixelRect, isBlended: Bool, _ milliseconds: Int) {
        let delay = Self.delay(milliseconds)
        writer.chunk(PNGChunks.control) { [sequence] body in
            body.appendBig(sequence)
            for value in [rect.width, rect.height, rect.x, rect.y] { body.appendBig(UInt32(value)) }
            body.appendBig(delay.numerator)
            body.appendBig(delay.denominator)
            body += [FrameDisposal.keep.rawValue, isBlended ? 1 : 0]
        }
        sequence += 1
    }

    /// Returns a duration in seconds as a fraction of 16-bit numbers.
    static func delay(_ milliseconds: Int) -> (numerator: UInt16, denominator: UInt16) {
        for (denominator, divisor) in [(1_000, 1), (100, 10), (10, 100)] as [(UInt16, Int)] {
            let value = (milliseconds + divisor / 2) / divisor
            if value <= 65_535 { return (UInt16(max(0, value)), denominator) }
        }
        return (UInt16(min(65_535, milliseconds / 1_000)), 1)
    }

    /// Compresses rows without padding and with straight alpha. Returns the compressed data and the chunks of the
    /// metadata.
    private func compressed(
        _ rows: [UInt8], _ size: PixelSize, with metadata: EmbeddedMetadata = EmbeddedMetadata()
    ) throws(ImageError) -> (data: [UInt8], metadata: [UInt8]) {
        guard let handle = wi_png_encoder_open() else { throw .decoding(.outOfMemory(byteCount: rows.count)) }
        defer { wi_png_encoder_close(handle) }
        var layout = wi_png_layout(
            width: UInt32(size.width), height: UInt32(size.height), kind: WI_PNG_RGBA, bits: 8,
            effort: Int32(effort ?? -1))
        try check(wi_png_encoder_start(handle, &layout, nil), handle)
        try check(PNGWriter.embed(metadata, handle), handle)
        let outcome = rows.withUnsafeBufferPointer { rows -> Result<Void, ImageError> in
            do throws(ImageError) {
                for row in stride(from: 0, to: size.height, by: rowsPerCheckpoint) {
                    try context.checkCancellation()
                    let count = min(rowsPerCheckpoint, size.height - row)
                    let start = rows.baseAddress.map { $0 + row * size.width * 4 }
                    try check(wi_png_encoder_rows(handle, start, size.width * 4, UInt32(count)), handle)
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(wi_png_encoder_finish(handle, &bytes, &count), handle)
        return Self.parts(of: UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Returns the contents of the IDAT chunks of a file from this encoder, and its metadata chunks.
    private static func parts(of file: UnsafeBufferPointer<UInt8>) -> (data: [UInt8], metadata: [UInt8]) {
        var reader = ByteReader(file, at: 8)
        var (data, metadata): ([UInt8], [UInt8]) = ([], [])
        while let length = reader.bigUInt32(), let name = reader.bigUInt32(), let body = reader.read(Int(length)) {
            guard reader.skip(4) else { break }
            switch name {
            case PNGChunks.header, PNGChunks.end: continue
            case PNGChunks.data: data += body
            default: metadata += file[body.startIndex - 8..<body.endIndex + 4]
            }
        }
        return (data, metadata)
    }

    private func check(_ status: wi_png_status, _ handle: OpaquePointer) throws(ImageError) {
        guard status != WI_PNG_OK else { return }
        let words = String(cString: wi_png_encoder_message(handle))
        throw .processing(.encodingFailed(format: .apng, reason: words))
    }
}
