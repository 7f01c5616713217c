// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A thread-safe, process-wide pool of memory blocks for response bodies.
///
/// Without it, the system's allocator would return pages to the kernel and request new ones for each image.
final class ResponseBufferPool: Sendable {
    static let shared = ResponseBufferPool()

    /// Safe: a block owns memory to which no other code refers, and it's transferred as a whole.
    private struct Block: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        let capacity: Int
    }

    private struct State {
        /// The blocks, oldest first.
        var blocks: [Block] = []
        var bytes = 0
    }

    /// The maximum total size of the pooled blocks, in bytes.
    static let mostBytes = 4 << 20
    static let mostBlocks = 64
    /// The sizes of pooled blocks, in bytes. Smaller blocks are cheap to allocate, and larger ones are rare.
    static let sizes = (8 << 10)...(512 << 10)

    private let state = Lock(State())

    deinit {
        state.withLock { state in
            for block in state.blocks { block.base.deallocate() }
            state.blocks = []
        }
    }

    var pooledBytes: Int { state.withLock { $0.bytes } }

    /// Returns uninitialized memory of `capacity` bytes or up to a quarter more.
    func makeBlock(_ capacity: Int) -> (base: UnsafeMutableRawPointer, capacity: Int) {
        guard Self.sizes.contains(capacity) else { return (.allocate(byteCount: capacity, alignment: 16), capacity) }
        let size = Self.blockSize(capacity)
        if let block = dequeuePooled(size) { return (block.base, size) }
        return (.allocate(byteCount: size, alignment: 16), size)
    }

    /// There are four sizes per power of two, so that a returned block fits many bodies.
    private static func blockSize(_ capacity: Int) -> Int {
        let step = 1 << (Int.bitWidth - 3 - (capacity - 1).leadingZeroBitCount)
        return (capacity + step - 1) / step * step
    }

    /// Removes the block that was returned last, because it's most likely in the processor's cache.
    private func dequeuePooled(_ size: Int) -> Block? {
        state.withLock { state in
            guard let index = state.blocks.lastIndex(where: { $0.capacity == size }) else { return nil }
            state.bytes -= size
            return state.blocks.remove(at: index)
        }
    }

    func recycle(_ base: UnsafeMutableRawPointer, capacity: Int) {
        guard Self.sizes.contains(capacity) else { return base.deallocate() }
        let block = Block(base: base, capacity: capacity)
        let surplus = state.withLock { state in
            state.blocks.append(block)
            state.bytes += capacity
            var count = 0
            while state.bytes > Self.mostBytes || state.blocks.count - count > Self.mostBlocks {
                state.bytes -= state.blocks[count].capacity
                count += 1
            }
            guard count > 0 else { return [Block]() }
            defer { state.blocks.removeFirst(count) }
            return Array(state.blocks.prefix(count))
        }
        // The allocator may return pages to the kernel, so the blocks are released after unlocking.
        for block in surplus { block.base.deallocate() }
    }
}
