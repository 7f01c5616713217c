// SPDX-License-Identifier: MIT

extension UnsafeRawPointer {
    var samples8: UnsafePointer<UInt8> { assumingMemoryBound(to: UInt8.self) }
    var samples16: UnsafePointer<UInt16> { assumingMemoryBound(to: UInt16.self) }
}

extension UnsafeMutableRawPointer {
    var samples8: UnsafeMutablePointer<UInt8> { assumingMemoryBound(to: UInt8.self) }
    var samples16: UnsafeMutablePointer<UInt16> { assumingMemoryBound(to: UInt16.self) }
}

/// A counter that checks for cancellation and for the deadline after a number of pixels.
struct CancellationChecker {
    private let context: ImageProcessingContext
    private var work = 0

    init(_ context: ImageProcessingContext) { self.context = context }

    /// Counts processed pixels. There's about a millisecond of work between two checks.
    mutating func count(pixels: Int) throws(ImageError) {
        work += pixels
        guard work >= 500_000 else { return }
        work = 0
        try context.checkCancellation()
    }
}

extension PixelBuffer {
    /// Returns an image of the same size and format whose rows `body` writes. The padding is cleared.
    func mapRows(
        isOpaque: Bool, context: ImageProcessingContext,
        _ body: (_ row: Int, _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) -> Void
    ) throws(ImageError) -> PixelBuffer {
        try context.limits.check(result: size, format: format)
        try context.checkCancellation()
        let canvas = try PixelCanvas(size: size, format: format, cleared: false)
        var checkpoints = CancellationChecker(context)
        for row in 0..<height {
            try checkpoints.count(pixels: width)
            withRow(row) { body(row, $0, canvas.baseAddress + row * canvas.bytesPerRow) }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: isOpaque)
    }

    func withRow(_ row: Int, _ body: (UnsafeRawPointer) -> Void) {
        withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { body(base + row * bytesPerRow) }
        }
    }
}

extension PixelColor {
    /// Returns a row of `count` premultiplied pixels of this color.
    func row(count: Int, format: PixelFormat) -> [UInt8] {
        let layout = format.layout
        let pixel = premultiplied(maximum: layout.maximum).flatMap { layout.bytes(of: $0) }
        return [UInt8](unsafeUninitializedCapacity: count * pixel.count) { target, used in
            for index in 0..<count {
                for (byte, value) in pixel.enumerated() { target[index * pixel.count + byte] = value }
            }
            used = count * pixel.count
        }
    }
}
