// SPDX-License-Identifier: MIT

import Foundation

/// Collects a body. Bytes are copied once, into memory that grows by doubling; parts and the whole are handed out
/// as `Data` that share this memory.
struct BodyBuffer {
    /// Memory that is freed with the last `Data` that looks at it.
    ///
    /// `@unchecked Sendable`: `base` and `capacity` never change, and bytes that were handed out are never written
    /// again: writing goes on behind them only.
    private final class Storage: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        let capacity: Int

        init(capacity: Int) {
            (base, self.capacity) = BodyMemory.shared.take(capacity)
        }

        deinit { BodyMemory.shared.giveBack(base, capacity: capacity) }
    }

    /// Most bytes that are reserved on a server's word alone.
    static let mostReserved = 16 << 20

    private var storage: Storage
    /// Bytes so far.
    private(set) var count = 0

    /// Reserves `expected` bytes, but not more than ``mostReserved``; unknown lengths begin with 16 KiB.
    init(expected: Int?) {
        storage = Storage(capacity: max(min(expected ?? 16 << 10, Self.mostReserved), 1))
    }

    /// Appends.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        if count + bytes.count > storage.capacity { grow(to: count + bytes.count) }
        (storage.base + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// The last `length` bytes, of which there are as many.
    func last(_ length: Int) -> Data {
        length > 0 && length <= count ? slice(count - length, length) : Data()
    }

    /// Everything so far. Copied where it would keep much more memory than it needs.
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
