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
    static let mostBytes = 2 << 20
    /// The maximum number of pooled blocks.
    static let mostBlocks = 32
    /// The sizes of pooled blocks, in bytes. Smaller blocks are cheap to allocate, and larger ones are rare.
    static let sizes = (8 << 10)...(512 << 10)

    private let state = Lock(State())

    deinit {
        state.withLock { state in
            for block in state.blocks { block.base.deallocate() }
            state.blocks = []
        }
    }

    /// The total size of the pooled blocks, in bytes.
    var pooledBytes: Int { state.withLock { $0.bytes } }

    /// Returns uninitialized memory of `capacity` bytes or up to a quarter more.
    func makeBlock(_ capacity: Int) -> (base: UnsafeMutableRawPointer, capacity: Int) {
        if Self.sizes.contains(capacity), let block = dequeuePooled(capacity) { return (block.base, block.capacity) }
        return (.allocate(byteCount: capacity, alignment: 16), capacity)
    }

    private func dequeuePooled(_ capacity: Int) -> Block? {
        state.withLock { state in
            var best: Int?
            var least = capacity + capacity / 4 + 1
            for index in state.blocks.indices {
                let found = state.blocks[index].capacity
                guard found >= capacity, found < least else { continue }
                (best, least) = (index, found)
            }
            guard let best else { return nil }
            state.bytes -= least
            return state.blocks.remove(at: best)
        }
    }

    /// Returns memory from ``makeBlock(_:)`` to the pool.
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
        for block in surplus { block.base.deallocate() }
    }
}
