// SPDX-License-Identifier: MIT

import Glibc

/// Writable pixel memory with a single owner.
///
/// The method ``finish(isOpaque:)`` converts the canvas to a ``PixelBuffer`` without copying it. After that, no code
/// can write to the memory.
public struct PixelCanvas: ~Copyable {
    /// The size, in pixels.
    public let size: PixelSize
    /// The layout of one pixel.
    public let format: PixelFormat
    /// The distance between the starts of two rows, in bytes.
    public let bytesPerRow: Int
    private let memory: PixelMemory

    /// Creates a canvas with memory from the pool.
    ///
    /// - Parameters:
    ///   - size: The size in pixels. Both sides must be at least one.
    ///   - format: The layout of one pixel. The default is RGBA8.
    ///   - cleared: Whether to clear the memory to transparent black. The default is `true`. Pooled memory contains the
    ///     pixels of other images, so pass `false` only if you write every byte of every row.
    /// - Throws: ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    public init(size: PixelSize, format: PixelFormat = .rgba8, cleared: Bool = true) throws(ImageError) {
        guard !size.isEmpty, let stride = format.bytesPerRow(width: size.width) else {
            throw .decoding(.outOfMemory(byteCount: .max))
        }
        let (bytes, overflow) = stride.multipliedReportingOverflow(by: size.height)
        guard !overflow, let memory = PixelMemory(byteCount: bytes, pool: .shared) else {
            throw .decoding(.outOfMemory(byteCount: overflow ? .max : bytes))
        }
        self.size = size
        self.format = format
        self.bytesPerRow = stride
        self.memory = memory
        if cleared { clear() }
    }

    /// The address of the first row. The address is valid only during the lifetime of the canvas, so don't store it.
    package var baseAddress: UnsafeMutableRawPointer { memory.block.address }

    /// The size of all rows, in bytes.
    package var byteCount: Int { bytesPerRow * size.height }

    /// Reports that the first rows of the final image don't change any longer, so that another process can copy them.
    package borrowing func reportFinished(rows: Int) {
        memory.block.arena?.report(finishedBytes: rows * bytesPerRow)
    }

    /// Sets every pixel to transparent black.
    package func clear() {
        // In debug builds, `initializeMemory(as:repeating:count:)` calls a function for each byte.
        memset(memory.block.address, 0, byteCount)
    }

    /// Calls `body` with the bytes of all rows.
    public borrowing func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(start: memory.block.address, count: byteCount))
    }

    /// Ends writing and returns the pixels.
    ///
    /// - Parameter isOpaque: Whether every pixel is opaque.
    public consuming func finish(isOpaque: Bool) -> PixelBuffer {
        PixelBuffer(memory: memory, size: size, format: format, bytesPerRow: bytesPerRow, isOpaque: isOpaque)
    }

    /// Returns a buffer with a copy of the current pixels. The canvas remains writable.
    ///
    /// - Throws: ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    package borrowing func snapshot(isOpaque: Bool) throws(ImageError) -> PixelBuffer {
        let copy = try PixelCanvas(size: size, format: format, cleared: false)
        copy.baseAddress.copyMemory(from: baseAddress, byteCount: byteCount)
        return copy.finish(isOpaque: isOpaque)
    }
}
