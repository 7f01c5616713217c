// SPDX-License-Identifier: MIT

/// Pixel memory that is still being written. It has one owner; ``finish(isOpaque:)`` turns it into a
/// ``PixelBuffer`` without a copy, after which nobody can write to it.
public struct PixelCanvas: ~Copyable {
    /// Width and height in pixels.
    public let size: PixelSize
    /// Layout of one pixel.
    public let format: PixelFormat
    /// Bytes between the beginnings of two rows.
    public let bytesPerRow: Int
    private let memory: PixelMemory

    /// Takes memory from the pool.
    ///
    /// - Parameters:
    ///   - size: both sides at least one.
    ///   - format: layout of one pixel; default RGBA8.
    ///   - zeroed: whether the memory is cleared to transparent black. Default true; pooled memory holds other
    ///     people's pictures, so pass false only where every byte of every row is going to be written.
    /// - Throws: ``DecodeError/outOfMemory(bytes:)``.
    public init(size: PixelSize, format: PixelFormat = .rgba8, zeroed: Bool = true) throws(ImageError) {
        guard !size.isEmpty, let stride = format.bytesPerRow(width: size.width) else {
            throw .decode(.outOfMemory(bytes: .max))
        }
        let (bytes, overflow) = stride.multipliedReportingOverflow(by: size.height)
        guard !overflow, let memory = PixelMemory(byteCount: bytes, pool: .shared) else {
            throw .decode(.outOfMemory(bytes: overflow ? .max : bytes))
        }
        self.size = size
        self.format = format
        self.bytesPerRow = stride
        self.memory = memory
        if zeroed { clear() }
    }

    /// Address of the first row. Valid as long as the canvas lives; do not keep it.
    public var baseAddress: UnsafeMutableRawPointer { memory.block.address }

    /// Bytes of all rows.
    public var byteCount: Int { bytesPerRow * size.height }

    /// Sets every pixel to transparent black.
    public func clear() {
        memory.block.address.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    /// Runs `body` with the bytes of all rows.
    public borrowing func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(start: memory.block.address, count: byteCount))
    }

    /// Ends writing. `isOpaque` says that every alpha is at its maximum.
    public consuming func finish(isOpaque: Bool) -> PixelBuffer {
        PixelBuffer(memory: memory, size: size, format: format, bytesPerRow: bytesPerRow, isOpaque: isOpaque)
    }

    /// A buffer with a copy of the present pixels; the canvas stays writable.
    ///
    /// - Throws: ``DecodeError/outOfMemory(bytes:)``.
    public borrowing func snapshot(isOpaque: Bool) throws(ImageError) -> PixelBuffer {
        let copy = try PixelCanvas(size: size, format: format, zeroed: false)
        copy.baseAddress.copyMemory(from: baseAddress, byteCount: byteCount)
        return copy.finish(isOpaque: isOpaque)
    }
}
