// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// Finished pixels: immutable, premultiplied, sRGB, rows from the top. Its memory comes from ``PixelPool`` and
/// goes back there when the last reference leaves.
public final class PixelBuffer: Sendable {
    /// Width and height in pixels; both at least one.
    public let size: PixelSize
    /// Layout of one pixel.
    public let format: PixelFormat
    /// Bytes between the beginnings of two rows; a multiple of ``PixelFormat/rowAlignment``.
    public let bytesPerRow: Int
    /// True when every alpha is known to be at its maximum.
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

    /// Pixels from left to right.
    public var width: Int { size.width }
    /// Pixels from top to bottom.
    public var height: Int { size.height }
    /// Bytes of all rows, padding included.
    public var byteCount: Int { bytesPerRow * size.height }

    /// Runs `body` with the bytes of all rows. The pointer is valid during the call only.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory.block.address, count: byteCount))
    }

    /// What a toolkit made of these pixels: made once, and kept as long as they are, so that all who show the picture share
    /// it. There is one, of whichever kind came first; `make` is called again for every other kind.
    ///
    /// - Parameter make: gets all rows, and the owner of their memory: who keeps the address keeps the owner, and not this
    ///   object, which would then never go.
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

    /// The rows without padding, `width × bytesPerPixel` bytes each.
    public func packedBytes() -> [UInt8] {
        let rowBytes = width * format.bytesPerPixel
        return [UInt8](unsafeUninitializedCapacity: rowBytes * height) { target, count in
            guard let start = target.baseAddress else { return }
            for row in 0..<height {
                UnsafeMutableRawPointer(start + row * rowBytes)
                    .copyMemory(from: memory.block.address + row * bytesPerRow, byteCount: rowBytes)
            }
            count = rowBytes * height
        }
    }

    /// The pixel at `x`, `y` of an RGBA8 buffer as stored (premultiplied); nil outside the picture.
    public func pixel(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8)? {
        guard format == .rgba8, x >= 0, y >= 0, x < width, y < height else { return nil }
        return withUnsafeBytes { bytes in
            let offset = y * bytesPerRow + x * 4
            return (bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3])
        }
    }
}

/// Owns one block of the pool.
final class PixelMemory: @unchecked Sendable {
    // Sendable: a block is written only through the one PixelCanvas that holds this object; once a PixelBuffer
    // holds it, it is only read.
    let block: PixelBlock
    private let pool: PixelPool

    init?(byteCount: Int, pool: PixelPool) {
        guard let block = pool.take(byteCount) else { return nil }
        self.block = block
        self.pool = pool
    }

    deinit { pool.give(block) }
}
