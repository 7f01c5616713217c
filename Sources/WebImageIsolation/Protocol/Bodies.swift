// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The limits and the kind of the work of a request.
struct WorkRules: WireValue {
    var limits: ImageLimits
    var scale: Double
    /// The number of threads for the work. The filter of a helper allows threads.
    var threadCount: Int
    var isEncoding: Bool

    /// Creates rules with the time that remains for the operation.
    init(_ context: ImageProcessingContext) {
        limits = context.limits
        scale = context.scale
        threadCount = min(context.threadCount, Self.maxThreads)
        isEncoding = context.isEncoding
        // Several requests can belong to one operation, and they share its timeout.
        let remaining = context.remainingTime
        if isEncoding { limits.maxEncodingTime = remaining } else { limits.maxDecodingTime = remaining }
    }

    init(from reader: inout WireReader) throws(WireViolation) {
        limits = try reader.value()
        scale = try reader.double()
        threadCount = try reader.int(1...Self.maxThreads)
        isEncoding = try reader.flag()
    }

    /// The maximum number of threads, whose stacks fit into the address space of a helper.
    private static let maxThreads = 16

    func write(to writer: inout WireWriter) {
        writer.put(limits)
        writer.put(scale)
        writer.put(threadCount)
        writer.put(isEncoding)
    }

    func context(isCancelled: @escaping @Sendable () -> Bool) -> ImageProcessingContext {
        let context = ImageProcessingContext(
            limits: limits, scale: scale, threadCount: threadCount, isCancelled: isCancelled)
        return isEncoding ? context.forEncoding() : context
    }
}

/// A request to decode a file, of which the input memory contains `dataCount` bytes.
struct DecodeBody {
    var rules: WorkRules
    var coder: String
    var dataCount: Int
    var info: ImageInfo?
    var options: ImageDecodingOptions
    /// The number under which the helper keeps the animation, or 0.
    var session: UInt64
    /// The frame to return instead of the poster frame.
    var frame: Int?
}

// The conformances are extensions, so that the compiler creates the memberwise initializers. The arguments of these
// initializers are evaluated in the order of the properties, which is the order on the wire.
extension DecodeBody: WireValue {
    init(from reader: inout WireReader) throws(WireViolation) {
        self.init(
            rules: try reader.value(), coder: try reader.text(), dataCount: try reader.int(0...Int.max),
            info: try reader.optional(), options: try reader.value(), session: try reader.number(),
            frame: try reader.optional { (reader) throws(WireViolation) in try reader.int(0...Int.max) })
    }

    func write(to writer: inout WireWriter) {
        writer.put(rules)
        writer.put(coder)
        writer.put(dataCount)
        writer.put(info)
        writer.put(options)
        writer.put(session)
        writer.put(frame) { $0.put($1) }
    }
}

/// A request that concerns a session: a frame of an animation, or a step of a progressive decoder.
struct SessionBody {
    var rules: WorkRules
    var session: UInt64
    /// The index of the frame, or the size of the appended data.
    var number = 0
    var isLast = false
    /// The number under which the helper keeps the animation of a preview, or 0.
    var previewSession: UInt64 = 0
}

extension SessionBody: WireValue {
    init(from reader: inout WireReader) throws(WireViolation) {
        self.init(
            rules: try reader.value(), session: try reader.number(), number: try reader.int(0...Int.max),
            isLast: try reader.flag(), previewSession: try reader.number())
    }

    func write(to writer: inout WireWriter) {
        writer.put(rules)
        writer.put(session)
        writer.put(number)
        writer.put(isLast)
        writer.put(previewSession)
    }
}

/// A request to create a progressive decoder.
struct OpenBody {
    var decode: DecodeBody
    /// Whether previews have all frames that were received until then.
    var grows: Bool
}

extension OpenBody: WireValue {
    init(from reader: inout WireReader) throws(WireViolation) {
        self.init(decode: try reader.value(), grows: try reader.flag())
    }

    func write(to writer: inout WireWriter) {
        writer.put(decode)
        writer.put(grows)
    }
}

/// The layout of pixels in shared memory.
struct PixelBody: WireValue {
    var size: PixelSize
    var format: PixelFormat
    var bytesPerRow: Int
    var isOpaque: Bool
    /// The position of the first row.
    var offset: Int

    init(_ pixels: PixelBuffer, offset: Int) {
        size = pixels.size
        format = pixels.format
        bytesPerRow = pixels.bytesPerRow
        isOpaque = pixels.isOpaque
        self.offset = offset
    }

    init(from reader: inout WireReader) throws(WireViolation) {
        size = try reader.value()
        format = try reader.value()
        bytesPerRow = try reader.int()
        isOpaque = try reader.flag()
        offset = try reader.int(0...Int.max)
        // Both processes compute the layout in the same way, and the copy relies on it.
        guard let stride = format.bytesPerRow(width: size.width), stride == bytesPerRow else {
            throw WireViolation("the rows have \(bytesPerRow) bytes")
        }
        let (bytes, overflow) = stride.multipliedReportingOverflow(by: size.height)
        guard !overflow, !bytes.addingReportingOverflow(offset).overflow else {
            throw WireViolation("the pixels are too large")
        }
    }

    func write(to writer: inout WireWriter) {
        writer.put(size)
        writer.put(format)
        writer.put(bytesPerRow)
        writer.put(isOpaque)
        writer.put(offset)
    }

    /// The size of the pixels, which was checked for overflow.
    var byteCount: Int { bytesPerRow * size.height }

    /// Returns a copy of the pixels. Throws a violation if the memory doesn't contain them.
    func copy(from memory: UnsafeRawBufferPointer) throws(WireViolation) -> Result<PixelBuffer, ImageError> {
        guard offset % 8 == 0, offset <= memory.count, byteCount <= memory.count - offset,
            let address = memory.baseAddress
        else { throw WireViolation("the pixels are outside the memory") }
        do throws(ImageError) {
            let canvas = try PixelCanvas(size: size, format: format, cleared: false)
            canvas.baseAddress.copyMemory(from: address + offset, byteCount: byteCount)
            return .success(canvas.finish(isOpaque: isOpaque))
        } catch {
            return .failure(error)
        }
    }
}

/// The values of a preview besides its image.
struct PreviewBody: WireValue {
    var completedRows: Int
    var completedPasses: Int
    var passCount: Int?
    var fraction: Double
    var isComplete: Bool
    var detail: Double?

    init(_ preview: ImagePreview) {
        completedRows = preview.completedRows
        completedPasses = preview.completedPasses
        passCount = preview.passCount
        fraction = preview.fractionCompleted
        isComplete = preview.isComplete
        detail = preview.detail
    }

    init(from reader: inout WireReader) throws(WireViolation) {
        completedRows = try reader.int(0...Int(Int32.max))
        completedPasses = try reader.int(0...Int(Int32.max))
        passCount = try reader.optional { (reader) throws(WireViolation) in try reader.int(0...Int(Int32.max)) }
        fraction = try Self.fraction(&reader)
        isComplete = try reader.flag()
        detail = try reader.optional(Self.fraction)
    }

    private static func fraction(_ reader: inout WireReader) throws(WireViolation) -> Double {
        let value = try reader.double()
        guard (0...1).contains(value) else { throw WireViolation("\(value) isn't a fraction") }
        return value
    }

    func write(to writer: inout WireWriter) {
        writer.put(completedRows)
        writer.put(completedPasses)
        writer.put(passCount) { $0.put($1) }
        writer.put(min(max(fraction, 0), 1))
        writer.put(isComplete)
        writer.put(detail) { $0.put(min(max($1, 0), 1)) }
    }
}

/// A gain map, whose samples follow the pixels of its image in shared memory.
struct GainMapBody: WireValue {
    var pixels: PixelBody
    var metadata: GainMapMetadata

    init(_ gainMap: GainMap, offset: Int) {
        pixels = PixelBody(gainMap.pixels, offset: offset)
        metadata = gainMap.metadata
    }

    init(from reader: inout WireReader) throws(WireViolation) {
        pixels = try reader.value()
        metadata = try reader.value()
    }

    func write(to writer: inout WireWriter) {
        writer.put(pixels)
        writer.put(metadata)
    }
}

/// An image: the result of a decode, a frame, a preview, or the input of an encoder.
struct ImageBody: WireValue {
    var pixels: PixelBody
    var format: ImageFormat?
    var scale: Double
    var metadata: ImageMetadata
    var timeline: AnimationTimeline?
    /// Whether the animation has all frames of its file.
    var isComplete = true
    var preview: PreviewBody?
    var gainMapBody: GainMapBody?
    /// The gain map that was copied from shared memory, which isn't a part of the message.
    var gainMap: GainMap?

    /// The size of the pixels and the gain map of an image in shared memory, in bytes.
    static func byteCount(_ image: DecodedImage) -> Int {
        gainMapOffset(image) + padded(image.gainMap?.pixels.byteCount ?? 0)
    }

    /// The distance from the pixels of an image to its gain map in shared memory, in bytes.
    static func gainMapOffset(_ image: DecodedImage) -> Int { padded(image.pixels.byteCount) }

    private static func padded(_ count: Int) -> Int { (count + 63) / 64 * 64 }

    init(_ image: DecodedImage, offset: Int, preview: PreviewBody? = nil) {
        pixels = PixelBody(image.pixels, offset: offset)
        format = image.format
        scale = image.scale
        metadata = image.metadata
        timeline = image.animation?.timeline
        isComplete = image.animation?.isComplete ?? true
        self.preview = preview
        gainMapBody = image.gainMap.map { GainMapBody($0, offset: offset + Self.gainMapOffset(image)) }
    }

    init(from reader: inout WireReader) throws(WireViolation) {
        pixels = try reader.value()
        format = try reader.optional()
        scale = try reader.double()
        guard scale.isFinite, scale > 0 else { throw WireViolation("the scale is \(scale)") }
        metadata = try reader.value()
        timeline = try reader.optional()
        isComplete = try reader.flag()
        preview = try reader.optional()
        gainMapBody = try reader.optional()
    }

    func write(to writer: inout WireWriter) {
        writer.put(pixels)
        writer.put(format)
        writer.put(scale)
        writer.put(metadata)
        writer.put(timeline)
        writer.put(isComplete)
        writer.put(preview)
        writer.put(gainMapBody)
    }
}

/// A request to encode an image, or to convert a file.
struct EncodeBody {
    var rules: WorkRules
    var coder: String
    var encoding: ImageEncoding
    /// The image in the input memory, or `nil` to convert a file.
    var image: ImageBody?
    /// The format and the size of the file to convert.
    var format: ImageFormat?
    var dataCount = 0
}

extension EncodeBody: WireValue {
    init(from reader: inout WireReader) throws(WireViolation) {
        self.init(
            rules: try reader.value(), coder: try reader.text(), encoding: try reader.value(),
            image: try reader.optional(), format: try reader.optional(), dataCount: try reader.int(0...Int.max))
    }

    func write(to writer: inout WireWriter) {
        writer.put(rules)
        writer.put(coder)
        writer.put(encoding)
        writer.put(image)
        writer.put(format)
        writer.put(dataCount)
    }
}

/// A number: a size in bytes, or the index of a frame.
package struct NumberBody: WireValue {
    /// The number, which is at least zero.
    package var number: Int

    /// Creates a body.
    package init(_ number: Int) { self.number = number }
    package init(from reader: inout WireReader) throws(WireViolation) { number = try reader.int(0...Int.max) }
    package func write(to writer: inout WireWriter) { writer.put(number) }
}

extension WireValue {
    /// Reads a value that's a whole body.
    package init(body: [UInt8]) throws(WireViolation) {
        var reader = WireReader(body)
        self = try Self(from: &reader)
        try reader.finish()
    }

    /// The bytes of the value as a body.
    package var body: [UInt8] {
        var writer = WireWriter()
        writer.put(self)
        return writer.bytes
    }
}
