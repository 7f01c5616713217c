// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// Immutable, premultiplied pixels with the top row first. They're sRGB unless the decoding options preserve the
/// colors of the source.
///
/// The memory is reused for other images after the last reference is released.
public final class PixelBuffer: Sendable {
    /// The size in pixels. Both sides are at least one.
    public let size: PixelSize
    /// The layout of one pixel.
    public let format: PixelFormat
    /// The distance between the starts of two rows in bytes, which is a multiple of 32.
    public let bytesPerRow: Int
    /// A Boolean value that indicates whether every pixel is known to be opaque.
    public let isOpaque: Bool
    private let memory: PixelMemory
    private let attached = Lock<(any AnyObject & Sendable)?>(nil)

    init(memory: PixelMemory, size: PixelSize, format: PixelFormat, bytesPerRow: Int, isOpaque: Bool) {
        self.memory = memory
        self.size = size
        self.format = format
        self.bytesPerRow = bytesPerRow
        self.isOpaque = isOpaque
    }

    /// The width, in pixels.
    public var width: Int { size.width }
    /// The height, in pixels.
    public var height: Int { size.height }
    /// The size of all rows including padding, in bytes.
    package var byteCount: Int { bytesPerRow * size.height }

    /// Calls `body` with the bytes of all rows. The pointer is valid only during the call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory.block.address, count: byteCount))
    }

    /// Returns an object that a toolkit created from these pixels, such as a texture.
    ///
    /// The object is created once and lives as long as the buffer, so all views of an image share it. The buffer
    /// stores one object, whose type is that of the first call. For other types, each call creates a new object with
    /// `make`.
    ///
    /// - Parameter make: A function that receives all rows and the owner of their memory. An object that stores the
    ///   address must retain this owner and not the buffer, because a reference to the buffer would create a retain
    ///   cycle.
    package func attachment<Value: AnyObject & Sendable>(
        make: (_ rows: UnsafeRawBufferPointer, _ owner: any AnyObject & Sendable) -> Value
    ) -> Value {
        if let value = attached.withLock({ $0 }) as? Value { return value }
        let made = make(UnsafeRawBufferPointer(start: memory.block.address, count: byteCount), memory)
        let kept = attached.withLock { attached in
            if attached == nil { attached = made }
            return attached
        }
        return kept as? Value ?? made
    }

    /// Returns the rows without padding, with `width × bytesPerPixel` bytes each.
    public func packedBytes() -> [UInt8] { packedBytes(ofRows: 0..<height) }

    /// Returns the samples of some rows, one row after another and without padding.
    ///
    /// - Parameter rows: The rows from the top. Rows outside the image are left out.
    package func packedBytes(ofRows rows: Range<Int>) -> [UInt8] {
        let rows = rows.clamped(to: 0..<height)
        let rowBytes = width * format.bytesPerPixel
        return [UInt8](unsafeUninitializedCapacity: rowBytes * rows.count) { target, count in
            guard let start = target.baseAddress else { return }
            for (place, row) in rows.enumerated() {
                UnsafeMutableRawPointer(start + place * rowBytes)
                    .copyMemory(from: memory.block.address + row * bytesPerRow, byteCount: rowBytes)
            }
            count = rowBytes * rows.count
        }
    }

    /// Returns the stored (premultiplied) pixel at `x`, `y` of an RGBA8 buffer, or `nil` if the position is outside
    /// the image or the buffer has another format.
    package func pixel(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8)? {
        guard format == .rgba8, x >= 0, y >= 0, x < width, y < height else { return nil }
        return withUnsafeBytes { bytes in
            let offset = y * bytesPerRow + x * 4
            return (bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3])
        }
    }
}

/// The owner of one block of the pool.
final class PixelMemory: @unchecked Sendable {
    // Safe: only the single PixelCanvas that holds this object writes to the block. After a PixelBuffer takes over the
    // object, the block is only read.
    let block: PixelBlock
    private let pool: PixelPool

    init?(byteCount: Int, pool: PixelPool) {
        guard let block = pool.makeBlock(byteCount) else { return nil }
        self.block = block
        self.pool = pool
    }

    deinit { pool.recycle(block) }
}
