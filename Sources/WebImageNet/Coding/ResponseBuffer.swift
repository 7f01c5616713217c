// SPDX-License-Identifier: MIT

import Foundation

/// A buffer that collects a response body.
///
/// The buffer copies the bytes once, into memory that doubles in size when it's full. It returns parts and the
/// complete body as `Data` values that share this memory.
struct ResponseBuffer {
    /// Memory that is released with the last `Data` value that refers to it.
    ///
    /// Safe: `base` and `capacity` never change, and returned bytes are never modified because the buffer writes only
    /// past them.
    private final class Storage: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        let capacity: Int

        init(capacity: Int) {
            (base, self.capacity) = ResponseBufferPool.shared.makeBlock(capacity)
        }

        deinit { ResponseBufferPool.shared.recycle(base, capacity: capacity) }
    }

    /// The maximum number of bytes to reserve based only on the length that the server declares.
    static let mostReserved = 16 << 20

    private var storage: Storage
    private(set) var count = 0

    /// Reserves `expected` bytes, up to ``mostReserved``, or 16 KiB if the length is unknown.
    init(expected: Int?) {
        storage = Storage(capacity: max(min(expected ?? 16 << 10, Self.mostReserved), 1))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        if count + bytes.count > storage.capacity { grow(to: count + bytes.count) }
        (storage.base + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Returns the last `length` bytes, or no bytes if the buffer contains fewer.
    func last(_ length: Int) -> Data {
        length > 0 && length <= count ? slice(count - length, length) : Data()
    }

    /// The bytes are copied if the buffer is less than three quarters full, to avoid retaining unused memory.
    var data: Data {
        guard count > 0 else { return Data() }
        if count < storage.capacity - storage.capacity / 4 { return Data(bytes: storage.base, count: count) }
        return slice(0, count)
    }

    private mutating func grow(to needed: Int) {
        let larger = Storage(capacity: max(needed, storage.capacity * 2))
        larger.base.copyMemory(from: storage.base, byteCount: count)
        storage = larger
    }

    private func slice(_ start: Int, _ length: Int) -> Data {
        let storage = storage
        return Data(
            bytesNoCopy: storage.base + start, count: length,
            deallocator: .custom { _, _ in withExtendedLifetime(storage) {} })
    }
}
