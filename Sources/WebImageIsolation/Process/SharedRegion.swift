// SPDX-License-Identifier: MIT

import CSandbox
import Glibc

/// Shared memory whose size can't change, so that no process can make accesses of the other one fail.
final class SharedRegion: @unchecked Sendable {
    // Safe: the address and the size never change. The owner of the region serializes all accesses.
    let address: UnsafeMutableRawPointer
    let size: Int
    private let descriptor: Int32

    /// The smallest region, in bytes. Memory that isn't used has no cost.
    static let smallest = 1 << 20

    /// Creates memory of at least `byteCount` bytes, or returns `nil` if that's impossible.
    convenience init?(byteCount: Int, isWritable: Bool) {
        guard byteCount >= 0, byteCount <= 1 << 40 else { return nil }
        // Round the size up, so that a slightly larger result fits into the same memory. Fresh shared pages are the
        // main cost of the isolation.
        let step = max(Self.smallest, (1 << (Int.bitWidth - 1 - max(1, byteCount).leadingZeroBitCount)) / 8)
        let size = max(Self.smallest, (byteCount + step - 1) / step * step)
        let descriptor = wi_sandbox_memory(size)
        guard descriptor >= 0 else { return nil }
        self.init(adopting: descriptor, size: size, isWritable: isWritable)
    }

    /// Maps memory of another process, or returns `nil` if its size isn't sealed. Closes the descriptor at the end.
    init?(adopting descriptor: Int32, size: Int, isWritable: Bool) {
        // If the other process could shrink the memory, accesses would end this process with SIGBUS.
        guard size > 0, wi_sandbox_is_sealed(descriptor, size),
            let address = wi_sandbox_map(descriptor, size, isWritable)
        else {
            close(descriptor)
            return nil
        }
        self.address = address
        self.size = size
        self.descriptor = descriptor
    }

    deinit {
        wi_sandbox_unmap(address, size)
        close(descriptor)
    }

    /// The number of bytes for results. The progress of a decoder follows them.
    var roomForResults: Int { size - Self.progressSize }

    /// The size of the progress, in bytes.
    static let progressSize = 64

    var progress: UnsafeMutableRawPointer { address + roomForResults }

    /// All bytes, which the other process may change at any time.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: address, count: size) }

    /// The descriptor, for sending it to another process.
    var sendable: Int32 { descriptor }

    /// Frees the memory. Its content becomes zero.
    func discard() { wi_sandbox_discard(descriptor, 0, size) }

    /// Returns a private copy of a part, or `nil` if the part is outside the region.
    func copy(offset: UInt64, count: UInt64) -> [UInt8]? {
        // Subtract, because the sum of the untrusted numbers could overflow.
        guard offset <= UInt64(size), count <= UInt64(size) - offset else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: address + Int(offset), count: Int(count)))
    }
}
